// Package parquet reads tables in Parquet files, of their columns those that are wanted.
package parquet

import (
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/urlmill/urlmill/internal/pqread"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// Options configures the codec. Columns are named as in the file, those within groups with a dot between the names.
type Options struct {
	// Format is CloudFront, whose columns are known, or "". URL, Base and Carry are not given with it.
	Format string
	// URL is the column of the URL, Base that of the URL it is resolved against, if any.
	URL, Base string
	// Carry lists the columns that go along.
	Carry []codec.CarriedColumn
}

// Validate returns every problem of o, joined, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	var p pipeline.Problems
	if o.Format != "" {
		if o.URL != "" || o.Base != "" || len(o.Carry) > 0 {
			p.Value("format", o.Format, "has all of its columns, and base and carry go with url").Advise("take them out, or give url in place of format")
		}
		return p.Err()
	}
	if o.URL == "" {
		p.Add("url", "empty").Advise("give the name of the column that has the URL")
	}
	codec.CheckColumns(o.Carry, pipeline.FieldTypes(), &p)
	return p.Err()
}

// New returns the codec of Parquet files, or what Validate has to say about o. It implements [codec.Tables].
//
// A file without the column of the URL is refused; one without another column has nulls there. A null URL gives
// FaultFieldMissing, one that is no text FaultFieldType, as does a field that is not of the type of its column. Columns
// become fields by what the file says of them: see [schema.New]. Rows have no bytes of their own, so that the column raw is
// null, and no positions but their numbers.
func New(o Options) (codec.Tables, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Format != "" {
		return newLogFactory(o), nil
	}
	return &factory{o.Shape(), o, o.columns(), o.URL, nil}, nil
}

// Shape implements [codec.Shaped].
func (o Options) Shape() codec.Shape {
	if o.Format != "" {
		return newLogFactory(o).Shape
	}
	return codec.NewShape(codec.FieldsOf(o.Carry), o.Base != "", false) // a row has no bytes
}

type factory struct {
	codec.Shape
	o        Options
	columns  []string      // in the file
	required string        // of them; a file without it is refused
	log      codec.Factory // of rows that are those of a log; else nil
}

// columns returns the names of the columns: the URL's, the base's, if any, and those of Carry.
func (o Options) columns() []string {
	names := []string{o.URL}
	if o.Base != "" {
		names = append(names, o.Base)
	}
	for _, c := range o.Carry {
		names = append(names, c.Source())
	}
	return names
}

// New implements [codec.Factory].
func (f *factory) New() codec.Codec { return rows{f} }

// rows implements [codec.Codec]. A record that is not a row of a file is none of a table.
type rows struct{ *factory }

// Decode implements [codec.Codec].
func (r rows) Decode(b *pipeline.Batch, _ []byte) bool { return r.Nulls(b, pipeline.FaultMalformed, 0) }

// OpenTable implements [codec.Tables].
func (f *factory) OpenTable(r io.ReaderAt, size int64, maxValue int) (t codec.Table, err error) {
	defer caught(&err)
	file, err := pqread.Open(r, size)
	if err != nil {
		return nil, fmt.Errorf("it is no Parquet file that can be read: %w", err)
	}
	table := &table{factory: f, file: file, groups: file.RowGroups(), rows: file.NumRows(), maxValue: maxValue}
	total := int64(0)
	for _, g := range table.groups {
		total += g.NumRows()
	}
	if total != table.rows {
		return nil, fmt.Errorf("the file says that it has %d rows, and its row groups %d", table.rows, total)
	}
	if f.log != nil {
		table.line = f.log.New()
	}
	for _, name := range f.columns {
		c, err := newColumn(file.Schema(), name)
		if err != nil {
			return nil, err
		}
		if c == nil && name == f.required {
			return nil, fmt.Errorf("there is no column %q; there are %s", name, columnNames(file.Schema()))
		}
		table.columns = append(table.columns, c)
	}
	return table, nil
}

// columnNames lists the columns for a message.
func columnNames(s *parquet.Schema) string {
	const most = 30
	var names []string
	for _, path := range s.Columns() {
		if len(names) == most {
			names = append(names, "…")
			break
		}
		names = append(names, strings.Join(path, "."))
	}
	return strings.Join(names, ", ")
}

// newColumn finds a column by its name, nil where there is none.
func newColumn(s *parquet.Schema, name string) (*column, error) {
	for _, path := range s.Columns() {
		if strings.Join(path, ".") != name {
			continue
		}
		leaf, _ := s.Lookup(path...)
		if leaf.MaxRepetitionLevel > 0 {
			return nil, fmt.Errorf("the column %q is within a list, and a row can have but one value", name)
		}
		c := &column{index: leaf.ColumnIndex}
		c.setType(leaf.Node.Type())
		return c, nil
	}
	return nil, nil
}

// setType notes what values mean.
func (c *column) setType(t parquet.Type) {
	c.physical = t.Kind()
	c.length = t.Length()
	l := t.LogicalType()
	if l == nil {
		return
	}
	switch l := l.Value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		c.meaning = text
	case *format.UUIDType:
		if c.length == 16 {
			c.meaning = uuid
		}
	case *format.DateType:
		c.meaning = date
	case *format.DecimalType:
		c.meaning, c.scale = decimal, l.Scale
	case *format.TimestampType:
		c.meaning, c.unit = instant, unitOf(l.Unit)
	case *format.TimeType:
		c.meaning, c.unit = clock, unitOf(l.Unit)
	case *format.IntType:
		if !l.IsSigned {
			c.meaning = unsigned
		}
	}
}

func unitOf(u format.TimeUnit) codec.TimeFormat {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return codec.EpochMillis
	case *format.NanoSeconds:
		return codec.EpochNanos
	default:
		return codec.EpochMicros
	}
}

// caught turns a panic of the library over a damaged file into an error.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the file is damaged: %v", r)
	}
}
