package urlcols

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/columns"
)

// Provenance says which columns tell where a record came from.
type Provenance uint8

const (
	// NoProvenance: the source has nothing to tell.
	NoProvenance Provenance = iota
	// FileProvenance: file and record.
	FileProvenance
	// KafkaProvenance: topic, partition, offset, timestamp, key and headers.
	KafkaProvenance
)

// Options says which columns the records get.
type Options struct {
	// Include lists the columns in the order that they are to have; empty means all that there are.
	// Exclude takes columns away. Both use the names before Rename.
	Include, Exclude []string
	// Rename gives columns other names.
	Rename map[string]string
	// OnError says what becomes of rows with an error.
	OnError pipeline.OnError

	// Provenance, HasBase, KeepsRecords and Carried describe the source and its codec.
	Provenance   Provenance
	HasBase      bool
	KeepsRecords bool
	Carried      []pipeline.Field
}

// Plan is a checked set of columns. It is immutable and safe for concurrent use.
type Plan struct {
	opts    Options
	columns []column // of the table Rows, in order
	dead    []column // of the table DeadLetters
	schemas pipeline.Schemas
	want    columns.Mask
}

// OptionError is a fault in [Options].
type OptionError struct {
	Option string // "include", "exclude" or "rename"
	Column string // the name at fault
	Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("%s: column %q: %s", e.Option, e.Column, e.Reason)
}

// New checks opts and returns their plan. The error joins an [*OptionError] for every fault.
func New(opts Options) (*Plan, error) {
	available := available(opts)
	var errs []error
	known := func(option, name string) bool {
		ok := slices.ContainsFunc(available, func(c column) bool { return c.name == name })
		if !ok {
			errs = append(errs, &OptionError{option, name, "there is no such column; there are " + list(available)})
		}
		return ok
	}
	chosen := available
	if len(opts.Include) > 0 {
		chosen = nil
		for _, name := range opts.Include {
			if !known("include", name) {
				continue
			}
			i := slices.IndexFunc(available, func(c column) bool { return c.name == name })
			chosen = append(chosen, available[i])
		}
	}
	for _, name := range opts.Exclude {
		if known("exclude", name) {
			chosen = slices.DeleteFunc(slices.Clone(chosen), func(c column) bool { return c.name == name })
		}
	}
	for name := range opts.Rename {
		known("rename", name)
	}
	chosen = rename(chosen, opts.Rename)
	errs = append(errs, duplicates(chosen)...)
	if len(chosen) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("no column is left; include at least one"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return newPlan(opts, chosen), nil
}

func newPlan(opts Options, chosen []column) *Plan {
	p := &Plan{opts: opts, columns: chosen}
	for _, c := range chosen {
		p.want |= c.want
	}
	if p.want == 0 {
		p.want = columns.Scheme // Parse has to find the errors; zero would mean all columns
	}
	p.schemas[pipeline.Rows] = schema(chosen)
	if opts.OnError == pipeline.ToDeadLetters {
		p.dead = deadLetterColumns(opts)
		p.schemas[pipeline.DeadLetters] = schema(p.dead)
	}
	return p
}

// Schemas returns the schemas of the records that the plan's transforms make.
func (p *Plan) Schemas() pipeline.Schemas { return p.schemas }

// Names returns the names of all columns that opts can include, in their default order.
func Names(opts Options) []string {
	var names []string
	for _, c := range available(opts) {
		names = append(names, c.name)
	}
	return names
}

func list(available []column) string {
	s := ""
	for i, c := range available {
		if i > 0 {
			s += ", "
		}
		s += c.name
	}
	return s
}

func rename(chosen []column, names map[string]string) []column {
	chosen = slices.Clone(chosen)
	for i := range chosen {
		if name, ok := names[chosen[i].name]; ok {
			chosen[i].name = name
		}
	}
	return chosen
}

func duplicates(chosen []column) []error {
	var errs []error
	seen := make(map[string]bool)
	for _, c := range chosen {
		if c.name == "" {
			errs = append(errs, &OptionError{"rename", c.name, "a column needs a name"})
		} else if seen[c.name] {
			errs = append(errs, &OptionError{"include", c.name, "is there twice; rename one of them"})
		}
		seen[c.name] = true
	}
	return errs
}

func schema(cols []column) *arrow.Schema {
	fields := make([]arrow.Field, len(cols))
	for i, c := range cols {
		fields[i] = arrow.Field{
			Name: c.name, Type: c.typ, Nullable: c.nullable,
			Metadata: arrow.NewMetadata([]string{"comment"}, []string{c.comment}),
		}
	}
	return arrow.NewSchema(fields, nil)
}
