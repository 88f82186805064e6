package database

import (
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
)

// Default returns the options of a configuration that says nothing.
func Default() Options { return Options{BatchBytes: defaultBatchBytes, RetryFor: defaultRetryFor} }

// Keys of the options that not every database has a use for.
const (
	DeadLettersKey = "dead_letters"
	RetryForKey    = "retry_for"
)

const tableKey = "table"

// name matches names of tables, with those of their schemas or databases.
var name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

// Section returns the section of a database: its own fields before those of all, of which it leaves out one that the database has
// no use for. example is the name of a table.
func (o *Options) Section(example, without string, own ...config.Field) config.Section {
	shared := []config.Field{
		{Name: tableKey, Doc: "Name of the table, which is made when it is missing.", Value: config.Text(&o.Table, example), Example: "table: " + example},
		{Name: DeadLettersKey, Doc: "Table of the records without a valid URL with on_error: dead_letter.", Value: config.Text(&o.DeadLetters, example+"_dead")},
		{Name: "batch_bytes", Doc: "What a partition or file holds in memory before it is loaded, if roll does not end it earlier.", Value: config.Size(&o.BatchBytes, 1<<20, 1<<30)},
		{Name: RetryForKey, Doc: "How long a load is tried again while the database cannot be reached, before the process stops.", Value: config.Duration(&o.RetryFor, 0, 24*time.Hour)},
	}
	return config.Section{
		Fields: slices.DeleteFunc(append(own, shared...), func(f config.Field) bool { return f.Name == without }),
		Check: func(c *config.Check) {
			for key, table := range map[string]string{tableKey: o.Table, DeadLettersKey: o.DeadLetters} {
				if table != "" && !name.MatchString(table) {
					c.Conflict(key, nil, "%s is not the name of a table; use letters, digits and _, with the schema or database before a dot, such as %s", key, example)
				}
			}
			if o.DeadLetters != "" && o.DeadLetters == o.Table {
				c.Conflict(DeadLettersKey, []string{tableKey}, "dead_letters is the table of the rows; give another, as the two have different columns")
			}
		},
	}
}

// Place returns what a table is called among all databases: with its address, less the user and the password in it, since it is
// stored and shown.
func Place(address, table string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return table
	}
	return u.Scheme + "://" + u.Host + u.Path + " " + table
}

// Asks returns what a table at a place asks of the rest.
func (o *Options) Asks(place string) sinks.Asks {
	return sinks.Asks{Place: place, Positions: true, DeadLetters: sinks.DeadLetters{
		Key: DeadLettersKey, Given: o.DeadLetters != "", Want: "the table for the dead letters there",
	}}
}

// Described implements [sinks.Queried].
func (o *Options) Described(*arrow.Schema) sinks.Described { return sinks.Described{Table: o.Table} }

// Database is what a sink has of its database.
type Database struct {
	Validate  func() error
	CheckRows func(rows *arrow.Schema) error // nothing but what is wrong with the columns of a table
	Driver    func() (Driver, error)
}

// With returns the sink of these options in a process.
func (o Options) With(e sinks.Env, d Database) sinks.Sink {
	o.Memory, o.Log = e.Memory, e.Log
	if o.RetryFor == 0 {
		o.RetryFor = never
	}
	return configured{o, d}
}

// configured implements [sinks.Sink].
type configured struct {
	opts     Options
	database Database
}

func (c configured) Validate() error { return c.database.Validate() }

func (c configured) CheckRows(rows *arrow.Schema) error {
	return pipeline.Under(tableKey, c.database.CheckRows(rows))
}

func (c configured) Open() (pipeline.Sink, error) {
	d, err := c.database.Driver()
	if err != nil {
		return nil, err
	}
	return New(c.opts, d), nil
}
