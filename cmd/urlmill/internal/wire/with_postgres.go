//go:build !core

package wire

import (
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/table"
	"github.com/urlmill/urlmill/sinks/table/postgres"
)

func init() { add("postgres", func(r *Registry) { r.Sinks = append(r.Sinks, postgresSink) }) }

var postgresSink = SinkKind{
	Name: "postgres",
	Configure: func(c *settings.Config, s Setting) (Sink, bool) {
		p := c.Sink.Postgres
		if p == nil {
			return Sink{}, false
		}
		options := postgres.Options{URL: p.URL.Reveal(), DialTimeout: p.DialTimeout}
		return loading(tablePlace(options.URL, p.Table), options.Validate, postgres.CheckRows, func() pipeline.Sink {
			return table.New(tableOptions(p.Loading, s), postgres.New(options))
		}), true
	},
}
