package warc

import (
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/sources/codec"
)

const why = "is for files and objects; read them with source.file"

// Kind is the codec of WARC files.
var Kind = codec.Kind{
	Name: "warc", Doc: "Records of WARC files, WET among them; their headers, and those of HTTP.", Only: "file", Why: why,
	New: func() codec.Options { return &Options{} },
}

// WATKind is the codec of the links in WAT files.
var WATKind = codec.Kind{
	Name: "wat", Doc: "Links of the pages in WAT files, resolved against their page.", Only: "file", Why: why,
	New: func() codec.Options { return &watOptions{} },
}

// CDXKind is the codec of indexes.
var CDXKind = codec.Kind{
	Name: "cdx", Doc: "Lines of an index of archives: CDX or CDXJ.",
	New: func() codec.Options { return &cdxOptions{} },
}

// Section implements [codec.Options].
func (o *Options) Section() config.Section {
	return config.Section{Fields: []config.Field{{
		Name: "types", Doc: "Types of records that are rows, or all. Not set: response, revisit, resource and conversion, which is text.",
		Value: config.Texts(&o.Types, "[response, revisit]"),
	}}}
}

// Factory implements [codec.Options].
func (o *Options) Factory() (codec.Factory, error) { return New(*o) }

type watOptions struct{}

// Section implements [codec.Options].
func (*watOptions) Section() config.Section { return config.Section{} }

// Factory implements [codec.Options].
func (*watOptions) Factory() (codec.Factory, error) { return NewWAT(), nil }

type cdxOptions struct{}

// Section implements [codec.Options].
func (*cdxOptions) Section() config.Section { return config.Section{} }

// Factory implements [codec.Options].
func (*cdxOptions) Factory() (codec.Factory, error) { return NewCDX(), nil }
