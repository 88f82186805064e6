package wire

import (
	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
)

// Direct returns a kind of sink that a command makes itself.
func Direct(name string, section config.Section, open func() (pipeline.Sink, error)) sinks.Kind {
	return sinks.Kind{Name: name, New: func() sinks.Options { return direct{section, open} }}
}

// direct implements [sinks.Options] and [sinks.Sink].
type direct struct {
	section config.Section
	open    func() (pipeline.Sink, error)
}

func (d direct) Section() config.Section       { return d.section }
func (d direct) Asks() sinks.Asks              { return sinks.Asks{} }
func (d direct) With(sinks.Env) sinks.Sink     { return d }
func (d direct) Validate() error               { return nil }
func (d direct) CheckRows(*arrow.Schema) error { return nil }
func (d direct) Open() (pipeline.Sink, error)  { return d.open() }
