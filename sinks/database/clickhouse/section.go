package clickhouse

import (
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/database"
)

// Kind is the sink of tables of ClickHouse.
var Kind = sinks.Kind{
	Name: "clickhouse",
	Doc:  "A table of ClickHouse, each load one block; see docs/warehouse.md.",
	New:  func() sinks.Options { return &Options{Options: database.Default()} },
}

// oneTable says why there are no dead letters.
const oneTable = "ClickHouse cannot load two tables at once"

// Section implements [sinks.Options].
func (o *Options) Section() config.Section {
	return o.Options.Section("web.clicks", database.DeadLettersKey,
		config.Field{Name: "url", Doc: "Address of the server's HTTP interface, such as https://user:password@host:8443/database, with settings as a query. Best from a variable or a file.", Value: config.SecretText(&o.URL), Example: "url: ${CLICKHOUSE_URL}"})
}

// Asks implements [sinks.Options].
func (o *Options) Asks() sinks.Asks {
	a := o.Options.Asks(database.Place(o.URL.Reveal(), o.Table))
	a.DeadLetters = sinks.DeadLetters{Never: oneTable}
	return a
}

// With implements [sinks.Options].
func (o *Options) With(e sinks.Env) sinks.Sink {
	c := *o
	return c.Options.With(e, database.Database{
		Validate: c.Validate, CheckRows: CheckRows, Driver: func() (database.Driver, error) { return New(c), nil },
	})
}
