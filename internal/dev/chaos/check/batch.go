package check

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
)

// row is a row that is compared.
type row struct {
	topic      int // index
	partition  int32
	number     int64
	row        *facts.Row // nil when nobody has produced the record
	start, end int        // of its name among the names
	wrong      bool
}

// batch is the rows of a row group. It is used again.
type batch struct {
	c     *Checker
	rows  []row
	names []byte
	text  string // the names
	said  []string
	in    string // the file
	buf   []byte
}

func newBatch(c *Checker) *batch { return &batch{c: c} }

// name is what stands in the texts of a row.
func (b *batch) name(r *row) string { return b.text[r.start:r.end] }

// file reads a file.
func (b *batch) file(name string) (err error) {
	f, err := file.OpenParquetFile(name, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	schema, err := r.Schema()
	if err != nil {
		return err
	}
	if err := b.sameColumns(schema); err != nil {
		return err
	}
	b.in = name
	leaves := make([]int, f.MetaData().Schema.NumColumns())
	for i := range leaves {
		leaves[i] = i
	}
	for g := range f.NumRowGroups() {
		table, err := r.ReadRowGroups(context.Background(), leaves, []int{g})
		if err == nil {
			err = b.group(table, int(f.RowGroup(g).NumRows()))
			table.Release()
		}
		if err != nil {
			return fmt.Errorf("row group %d: %w", g, err)
		}
	}
	return nil
}

// Table compares rows that are no file.
func (c *Checker) Table(table arrow.Table) error {
	b := newBatch(c)
	b.in = "table"
	return b.group(table, int(table.NumRows()))
}

// sameColumns compares the columns of a file with those that it has to have.
func (b *batch) sameColumns(schema *arrow.Schema) error {
	var got []string
	for _, f := range schema.Fields() {
		got = append(got, f.Name)
	}
	if !slices.Equal(got, b.c.opts.Columns) {
		return fmt.Errorf("its columns are %v and not %v", got, b.c.opts.Columns)
	}
	return nil
}

// group compares the rows of a row group.
func (b *batch) group(table arrow.Table, n int) error {
	b.rows, b.names, b.said = slices.Grow(b.rows[:0], n)[:n], b.names[:0], b.said[:0]
	clear(b.rows)
	at := func(name string) *arrow.Chunked {
		found := table.Schema().FieldIndices(name)
		if len(found) == 0 {
			return arrow.NewChunked(arrow.Null, nil)
		}
		return table.Column(found[0]).Data()
	}
	partitions, err := column[*array.Int32](at("partition"), n)
	if err != nil {
		return err
	}
	offsets, err := column[*array.Int64](at("offset"), n)
	if err != nil {
		return err
	}
	b.age(at("timestamp"))
	b.find(partitions, offsets)
	for i, field := range table.Schema().Fields() {
		if err := b.compare(field.Name, table.Column(i).Data()); err != nil {
			return fmt.Errorf("column %s: %w", field.Name, err)
		}
	}
	if by := b.c.opts.SortBy; by != "" {
		if err := sorted(at(by)); err != nil {
			return fmt.Errorf("sorted by %s: %w", by, err)
		}
	}
	if err := b.inDirectory(); err != nil {
		return err
	}
	b.c.note(b)
	return nil
}

// column returns the arrays of a column without nulls.
func column[A arrow.Array](c *arrow.Chunked, n int) (arrays []A, err error) {
	if c.Len() != n || c.NullN() > 0 {
		return nil, fmt.Errorf("partition or offset has %d values, %d of them null, of %d rows", c.Len(), c.NullN(), n)
	}
	for _, chunk := range c.Chunks() {
		a, ok := chunk.(A)
		if !ok {
			return nil, fmt.Errorf("partition or offset is a %T", chunk)
		}
		arrays = append(arrays, a)
	}
	return arrays, nil
}

// topic returns the topic of a row's record.
func (b *batch) topic(r *row) *facts.Topic { return b.c.topics[r.topic] }

// age finds which topic of the name the rows are of, where there are several.
func (b *batch) age(c *arrow.Chunked) {
	if len(b.c.topics) == 1 {
		return
	}
	at := 0
	for _, chunk := range c.Chunks() {
		times, ok := chunk.(*array.Timestamp)
		for i := range chunk.Len() {
			for t, topic := range b.c.topics {
				if ok && topic.Holds(int64(times.Value(i))/1000) {
					b.rows[at+i].topic = t
				}
			}
		}
		at += chunk.Len()
	}
}

// find finds the record of each row.
func (b *batch) find(partitions []*array.Int32, offsets []*array.Int64) {
	at := 0
	for _, a := range partitions {
		for _, p := range a.Int32Values() {
			b.rows[at].partition = p
			at++
		}
	}
	at = 0
	for _, a := range offsets {
		for _, offset := range a.Int64Values() {
			r := &b.rows[at]
			at++
			topic := b.topic(r)
			i, ok := topic.Number(int(r.partition), offset)
			if !ok {
				b.wrong(r, "nobody has produced offset %d of partition %d", offset, r.partition)
				continue
			}
			r.number, r.row, r.start = i, topic.Row(int(r.partition), i), len(b.names)
			b.names = topic.AppendName(b.names, int(r.partition), i)
			r.end = len(b.names)
		}
	}
	b.text = string(b.names)
}

// wrong notes that a row is not what it has to be.
func (b *batch) wrong(r *row, format string, args ...any) {
	r.wrong = true
	if len(b.said) < 20 {
		b.said = append(b.said, fmt.Sprintf("%s: %s", filepath.Base(b.in), fmt.Sprintf(format, args...)))
	}
}

// sorted checks that texts ascend, nulls last.
func sorted(c *arrow.Chunked) error {
	last, null := "", false
	for _, chunk := range c.Chunks() {
		a, ok := chunk.(*array.String)
		if !ok {
			return fmt.Errorf("it is a %T", chunk)
		}
		for i := range a.Len() {
			switch {
			case a.IsNull(i):
				null = true
			case null || a.Value(i) < last:
				return fmt.Errorf("row %d has %q behind %q", i, a.Value(i), last)
			default:
				last = a.Value(i)
			}
		}
	}
	return nil
}

// inDirectory checks that the rows are in the directory of their date, where there are such.
func (b *batch) inDirectory() error {
	if !slices.ContainsFunc(b.c.opts.Dates, func(dir string) bool { return strings.HasPrefix(b.in, dir+"/") }) {
		return nil
	}
	_, date, ok := strings.Cut(filepath.Base(filepath.Dir(b.in)), "=")
	if !ok {
		return errors.New("it is in no directory of a date")
	}
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return err
	}
	from, to := day.UnixMilli(), day.AddDate(0, 0, 1).UnixMilli()
	for i := range b.rows {
		if r := &b.rows[i]; r.row != nil {
			if at := b.topic(r).Time(int(r.partition), r.number); at < from || at >= to {
				b.wrong(r, "record %s is of %s", b.name(r), time.UnixMilli(at).UTC())
			}
		}
	}
	return nil
}
