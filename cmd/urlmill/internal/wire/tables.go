package wire

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/table"
	"github.com/urlmill/urlmill/sinks/table/postgres"
)

// tableOptions returns what the sinks of databases have in common.
func tableOptions(l config.Loading, s Setting) table.Options {
	return table.Options{
		Table: l.Table, DeadLetters: l.DeadLetters, BatchBytes: l.BatchBytes, RetryFor: l.RetryFor, Memory: s.memory.Files, Log: s.Log,
	}
}

var postgresSink = SinkKind{
	Name: "postgres",
	Configure: func(c *config.Config, s Setting) (Sink, bool) {
		p := c.Sink.Postgres
		if p == nil {
			return Sink{}, false
		}
		options := postgres.Options{URL: p.URL.Reveal(), DialTimeout: p.DialTimeout}
		return Sink{
			Validate: func() error {
				if err := options.Check(); err != nil {
					return fmt.Errorf("URL: %w", err)
				}
				return nil
			},
			CheckRows: func(rows *arrow.Schema) error {
				if err := postgres.CheckRows(rows); err != nil {
					return fmt.Errorf("Table: %w", err)
				}
				return nil
			},
			Open: func() (pipeline.Sink, error) {
				return table.New(tableOptions(p.Loading, s), postgres.New(options)), nil
			},
		}, true
	},
}
