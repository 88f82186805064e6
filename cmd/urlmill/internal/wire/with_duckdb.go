//go:build duckdb

package wire

import (
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/table"
	"github.com/urlmill/urlmill/sinks/table/duckdb"
)

func init() { add("duckdb", func(r *Registry) { r.Sinks = append(r.Sinks, duckdbSink) }) }

var duckdbSink = SinkKind{
	Name: "duckdb",
	Configure: func(c *settings.Config, s Setting) (Sink, bool) {
		p := c.Sink.DuckDB
		if p == nil {
			return Sink{}, false
		}
		return loading(filePlace(p.Path)+" "+p.Table, func() error { return nil }, duckdb.CheckRows, func() pipeline.Sink {
			return table.New(tableOptions(p.Loading, s), duckdb.New(p.Path))
		}), true
	},
}
