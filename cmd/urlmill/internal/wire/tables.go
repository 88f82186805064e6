package wire

import (
	"net/url"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/table"
	"github.com/urlmill/urlmill/sinks/table/clickhouse"
)

// tableOptions returns what the sinks of databases have in common.
func tableOptions(l settings.Loading, s Setting) table.Options {
	return table.Options{
		Table: l.Table, DeadLetters: l.DeadLetters, BatchBytes: l.BatchBytes, RetryFor: l.RetryFor, Memory: s.memory.Files, Log: s.Log,
	}
}

var clickhouseSink = SinkKind{
	Name: "clickhouse",
	Configure: func(c *settings.Config, s Setting) (Sink, bool) {
		p := c.Sink.ClickHouse
		if p == nil {
			return Sink{}, false
		}
		options := clickhouse.Options{URL: p.URL.Reveal()}
		return loading(tablePlace(options.URL, p.Table), options.Validate, clickhouse.CheckRows, func() pipeline.Sink {
			return table.New(tableOptions(p.Loading, s), clickhouse.New(options))
		}), true
	},
}

// tablePlace returns the place of a table, without the user and password in its address: a place is stored and shown.
func tablePlace(address, table string) string {
	u, err := url.Parse(address)
	if err != nil {
		return table
	}
	return u.Scheme + "://" + u.Host + u.Path + " " + table
}

// loading returns the sink of a database, in a table at place. What is wrong with the rows is said of the table.
func loading(place string, validate func() error, rows func(*arrow.Schema) error, open func() pipeline.Sink) Sink {
	return Sink{
		Place: place, Positions: true,
		Validate:  validate,
		CheckRows: func(s *arrow.Schema) error { return pipeline.Under("table", rows(s)) },
		Open:      func() (pipeline.Sink, error) { return open(), nil },
	}
}
