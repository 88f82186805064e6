package codec

import "github.com/urlmill/urlmill/config"

// Kind is a kind of codec.
type Kind struct {
	Name string // of its section below "source.codec"
	Doc  string // a sentence that says what a record is
	// Only is the kind of source whose records it reads, "" for any, and Why the reason in a sentence that begins with its name.
	Only, Why string
	// New returns its options with their defaults.
	New func() Options
}

// Options are those of a codec. They are bound to the section of a configuration, and nothing changes them after it is read.
type Options interface {
	// Section returns the section that the options are bound to.
	Section() config.Section
	// Factory returns the codec. The error has every problem, joined, each a [*pipeline.FieldError]. It reads the files that say
	// what columns there are, and no others; see [Opener].
	Factory() (Factory, error)
}
