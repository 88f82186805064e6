package wire

import (
	"fmt"
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
		return loading(tablePlace(options.URL, p.Table), options.Check, clickhouse.CheckRows, func() pipeline.Sink {
			return table.New(tableOptions(p.Loading, s), clickhouse.New(options))
		}), true
	},
}

// tablePlace is the place of a table, without names and passwords of who writes there.
func tablePlace(address, table string) string {
	u, err := url.Parse(address)
	if err != nil {
		return table
	}
	return u.Scheme + "://" + u.Host + u.Path + " " + table
}

// loading returns the sink of a database, in a table at place. What is wrong with its address is said of URL, and with the rows of Table.
func loading(place string, check func() error, rows func(*arrow.Schema) error, open func() pipeline.Sink) Sink {
	about := func(field string, err error) error {
		if err != nil {
			err = fmt.Errorf("%s: %w", field, err)
		}
		return err
	}
	return Sink{
		Place: place, Positions: true,
		Validate:  func() error { return about("URL", check()) },
		CheckRows: func(s *arrow.Schema) error { return about("Table", rows(s)) },
		Open:      func() (pipeline.Sink, error) { return open(), nil },
	}
}
