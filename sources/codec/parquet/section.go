package parquet

import (
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// Kind is the codec of Parquet files.
var Kind = codec.Kind{
	Name: "parquet", Doc: "Rows of Parquet files; only the columns that are named are read.",
	Only: "file", Why: "is for files; read them with source.file",
	New: func() codec.Options { return &Options{} },
}

// Section implements [codec.Options].
func (o *Options) Section() config.Section {
	return config.Section{OneOf: []string{"url", "format"}, Fields: []config.Field{
		{Name: "format", Doc: "A log whose columns are known: CloudFront's standard logs, version 2. Its columns become those of access_log.", Value: config.Names(&o.Format, CloudFront)},
		{Name: "url", Doc: "Column with the URL; one within groups has a dot between the names.", Value: config.Text(&o.URL, "url")},
		{Name: "base", Doc: "Column with what a relative URL is resolved against.", Value: config.Text(&o.Base, "page")},
		{Name: "carry", Doc: "Other columns of the input, which become columns beside those of the URL, in the types given.", Value: codec.CarriedColumns(&o.Carry, pipeline.FieldTypes())},
	}}
}

// Factory implements [codec.Options].
func (o *Options) Factory() (codec.Factory, error) {
	f, err := New(*o)
	if err != nil {
		return nil, err // f is a nil of another type
	}
	return f, nil
}
