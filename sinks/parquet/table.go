package parquet

import (
	"log/slog"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/filesink"
)

// TableKind is a kind of tables that can be made of the files, such as those of Iceberg.
type TableKind struct {
	Name string // of its section below that of the sink
	Doc  string // a sentence
	// New returns its options with their defaults.
	New func() TableOptions
}

// TableOptions are those of a table. They are bound to the section of a configuration.
type TableOptions interface {
	Section() config.Section
	// TableName returns what the table is called in its catalog.
	TableName() string
	// With returns the table of the files in a folder, which are divided into directories as for [Files]. It copies the options.
	With(path string, partitionBy []string, log *slog.Logger) Table
}

// Table is told of the files that are committed.
type Table interface {
	filesink.Follower
	// Validate returns what is wrong with the options, and CheckRows what is wrong with rows for the table; joined, each a
	// [*pipeline.FieldError] of its section.
	Validate() error
	CheckRows(rows *arrow.Schema) error
}

// tableOf is the table of a configuration.
type tableOf struct {
	kind    TableKind
	options TableOptions
	made    Table // nil before [Options.With]
}

// Table returns the options of the table that a configuration has, nil if it has none.
func (o *Options) Table() TableOptions {
	if o.table == nil {
		return nil
	}
	return o.table.options
}

func (t *tableOf) validate() error {
	if t == nil || t.made == nil {
		return nil
	}
	return pipeline.Under(t.kind.Name, t.made.Validate())
}

func (t *tableOf) checkRows(rows *arrow.Schema) error {
	if t == nil || t.made == nil {
		return nil
	}
	return pipeline.Under(t.kind.Name, t.made.CheckRows(rows))
}

// tableFields returns a field for each kind of tables.
func (o *Options) tableFields() (all []config.Field) {
	for _, kind := range o.tables {
		there := func() bool { return o.table != nil && o.table.kind.Name == kind.Name }
		all = append(all, config.Field{Name: kind.Name, Doc: kind.Doc, Value: config.Part(
			there,
			func() { o.table = &tableOf{kind: kind, options: kind.New()} },
			func() config.Section {
				if there() {
					return o.table.options.Section()
				}
				return kind.New().Section()
			},
		)})
	}
	return all
}

// checkTables reports a second table: the files can be registered in one.
func (o *Options) checkTables(c *config.Check) {
	first := ""
	for _, kind := range o.tables {
		switch {
		case !c.Given(kind.Name):
		case first == "":
			first = kind.Name
		default:
			c.Conflict(kind.Name, nil, "%s is given beside %s, and files go into one table; keep one of them", kind.Name, first)
		}
	}
}
