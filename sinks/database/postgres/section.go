package postgres

import (
	"fmt"
	"net/url"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/database"
)

// Kind is the sink of tables of PostgreSQL.
var Kind = sinks.Kind{
	Name: "postgres",
	Doc:  "A table of PostgreSQL, by COPY in one transaction with the positions; see docs/warehouse.md.",
	New:  func() sinks.Options { return &Options{Options: database.Default(), DialTimeout: defaultDialTimeout} },
}

// Section implements [sinks.Options].
func (o *Options) Section() config.Section {
	return o.Options.Section("public.clicks", "",
		config.Field{Name: "url", Doc: "Connection string, such as postgres://user:password@host:5432/database?sslmode=verify-full. Best from a variable or a file.", Value: config.SecretText(&o.URL), Example: "url: ${DATABASE_URL}"},
		config.Field{Name: "dial_timeout", Doc: "How long connecting may take.", Value: config.Duration(&o.DialTimeout, 100*time.Millisecond, time.Hour)})
}

// Asks implements [sinks.Options].
func (o *Options) Asks() sinks.Asks { return o.Options.Asks(o.place()) }

// place returns that of the table. Of a connection string that is no URL it has what does not log in.
func (o *Options) place() string {
	if u, err := url.Parse(o.URL.Reveal()); err == nil && u.Scheme != "" {
		return database.Place(o.URL.Reveal(), o.Table)
	}
	c, err := o.config()
	if err != nil {
		return o.Table
	}
	return fmt.Sprintf("postgres://%s:%d/%s %s", c.ConnConfig.Host, c.ConnConfig.Port, c.ConnConfig.Database, o.Table)
}

// With implements [sinks.Options].
func (o *Options) With(e sinks.Env) sinks.Sink {
	c := *o
	return c.Options.With(e, database.Database{
		Validate: c.Validate, CheckRows: CheckRows, Driver: func() (database.Driver, error) { return New(c), nil },
	})
}
