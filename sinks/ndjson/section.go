package ndjson

import (
	"log/slog"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/internal/filesink"
)

// Kind returns the sink of JSON objects. Dead letters go to folders, or else as letters says if it is not nil.
func Kind(letters *sinks.Letters) sinks.Kind {
	return sinks.Kind{Name: "ndjson", Doc: "JSON objects, one a line.", New: func() sinks.Options {
		return &Options{Files: filesink.FilesWith(letters)}
	}}
}

// Section implements [sinks.Options].
func (o *Options) Section() config.Section { return o.Files.Section(&o.Path, &o.ToStdout) }

// Asks implements [sinks.Options].
func (o *Options) Asks() sinks.Asks { return o.Files.Asks(o.Path) }

// IntoFolder implements [sinks.Trial].
func (o *Options) IntoFolder(dir string) sinks.Options {
	c := *o
	c.ToStdout, c.Path = false, c.Files.IntoFolder(dir)
	return &c
}

// InFolder implements [sinks.Movable].
func (o *Options) InFolder(path string) (sinks.Options, error) {
	c := *o
	c.Path = path
	return &c, c.CheckMovable()
}

// With implements [sinks.Options].
func (o *Options) With(e sinks.Env) sinks.Sink {
	c := configured{*o, e.Log}
	c.Files.With(e)
	if c.ToStdout {
		c.Stdout = e.Out
	}
	return c
}

// configured implements [sinks.Sink].
type configured struct {
	Options
	log *slog.Logger
}

// Open implements [sinks.Sink].
func (c configured) Open() (pipeline.Sink, error) {
	if err := c.Files.Open(); err != nil {
		return nil, err
	}
	return New(c.Options, c.log)
}
