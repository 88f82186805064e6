package sources

import (
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// What options may have beside [Options]; package wire asks for it.

// Sampler is a source of which a trial can read without a trace. It is optional: others are read as they are.
type Sampler interface {
	// OpenSample returns a source that takes part in nothing and keeps no positions. Of what would begin at its end it reads
	// the last records, as many as last says.
	OpenSample(e Env, f codec.Factory, last int64) (pipeline.Source, error)
}

// Grouped is a source whose positions a group keeps as well, beside the sink. It is optional.
type Grouped interface {
	// InGroup returns options like these with a text behind the name of the group, so that nothing is committed for it yet.
	InGroup(suffix string) Options
}

// Records is a source that makes its own records, which not every codec reads. It is optional.
type Records interface {
	// CheckCodec returns why the codec of a name does not read them, "" if it does.
	CheckCodec(name string) string
}
