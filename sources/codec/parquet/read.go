package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/urlmill/urlmill/internal/pqread"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// meaning is what the values of a column mean beyond their physical type.
type meaning uint8

const (
	plain meaning = iota
	text
	uuid
	date
	clock
	instant
	decimal
	unsigned
)

// column reads the values of a column, one a row.
type column struct {
	index    int // among the columns of the file
	physical parquet.Kind
	length   int // of a value of fixed length
	meaning  meaning
	unit     codec.TimeFormat
	scale    int32

	pages  parquet.Pages
	page   parquet.Page
	reader parquet.ValueReader
	values []parquet.Value // that were read
	next   int             // of them
	ended  bool            // there is no value after them in the page
	number [8]byte         // of a decimal
}

// bufferedValues is how many values are read at a time.
const bufferedValues = 256

// table implements [codec.Table].
type table struct {
	*factory
	file     *pqread.File
	groups   []parquet.RowGroup
	rows     int64
	maxValue int
	columns  []*column // the URL, the base where there is one, the fields; nil for one that the file does not have

	group  int   // the one being read
	row    int64 // in it
	opened bool  // its columns are open

	line   codec.Codec // of the factory's log
	record []byte      // for it

	append schema.Appender
	faults []pipeline.Fault // of the rows of a step; code 0 is none
	step   int              // rows of the next step
}

// Rows implements [codec.Table].
func (t *table) Rows() int64 { return t.rows }

// Skip implements [codec.Table].
func (t *table) Skip(row int64) (err error) {
	defer caught(&err)
	t.closeGroup()
	for t.group = 0; t.group < len(t.groups) && row >= t.groups[t.group].NumRows(); t.group++ {
		row -= t.groups[t.group].NumRows()
	}
	t.row = row
	return nil
}

// Close implements [codec.Table].
func (t *table) Close() (err error) {
	defer caught(&err)
	t.closeGroup()
	return nil
}

func (t *table) closeGroup() {
	for _, c := range t.columns {
		if c != nil {
			c.close()
		}
	}
	t.opened = false
}

// maxStep is how many rows are added between two looks at the size of the batch.
const maxStep = 256

// Append implements [codec.Table].
func (t *table) Append(_ context.Context, b *pipeline.Batch, at int64) (int64, error) {
	rows, err := t.appendRows(b)
	for range rows {
		b.Offsets = append(b.Offsets, at)
		at++
	}
	return at, err
}

// appendRows is Append without the numbers. It returns how many rows there are.
func (t *table) appendRows(b *pipeline.Batch) (n int, err error) {
	defer caught(&err)
	for t.group < len(t.groups) {
		left := t.groups[t.group].NumRows() - t.row
		if left == 0 {
			t.closeGroup()
			t.group++
			t.row = 0
			continue
		}
		room := b.MaxRows - b.URLs.Len()
		if room <= 0 || n > 0 && b.Full() {
			return n, nil
		}
		if !t.opened {
			if err := t.open(); err != nil {
				return n, err
			}
		}
		step := min(int64(room), left, int64(max(1, t.step)))
		if err := t.addOrCut(b, int(step)); err != nil {
			return n, err
		}
		n += int(step)
		t.row += step
		t.step = nextStep(b)
	}
	return n, nil
}

// nextStep returns how many rows of the same size may be added without going far beyond what a batch may hold.
func nextStep(b *pipeline.Batch) int {
	most := max(len(b.URLs.Data), len(b.Bases.Data))
	for i := range b.Carried {
		most = max(most, len(b.Carried[i].Text.Data))
	}
	per := most/max(1, b.URLs.Len()) + 1
	return min(maxStep, max(1, (b.MaxBytes-most)/per))
}

// addOrCut is add, but for an error, also one that the library panics with, it leaves the batch as it was.
func (t *table) addOrCut(b *pipeline.Batch, rows int) (err error) {
	before := b.URLs.Len()
	defer func() {
		if err != nil {
			cut(b, before, rows)
		}
	}()
	defer caught(&err)
	return t.add(b, rows)
}

// cut takes the rows from row on out of the batch. Some columns may not have all of them yet.
func cut(b *pipeline.Batch, row, step int) {
	keep := make([]bool, row+step)
	for i := range row {
		keep[i] = true
	}
	b.Compact(keep)
}

// open opens the columns of the group at its row.
func (t *table) open() error {
	t.opened = true
	for _, c := range t.columns {
		if c == nil {
			continue
		}
		c.pages = t.file.Pages(t.group, c.index)
		if t.row > 0 {
			if err := c.pages.SeekToRow(t.row); err != nil {
				return fmt.Errorf("row %d of row group %d: %w", t.row, t.group, err)
			}
		}
	}
	return nil
}

// add adds rows to every column of the batch.
func (t *table) add(b *pipeline.Batch, rows int) error {
	if t.line != nil {
		return t.addLog(b, rows)
	}
	first := b.URLs.Len()
	t.faults = append(t.faults[:0], make([]pipeline.Fault, rows)...)
	columns := t.columns
	if err := t.addURLs(&b.URLs, columns[0], rows, pipeline.FaultFieldMissing); err != nil {
		return err
	}
	columns = columns[1:]
	if t.HasBase() {
		if err := t.addURLs(&b.Bases, columns[0], rows, 0); err != nil {
			return err
		}
		columns = columns[1:]
	}
	var v schema.Value
	for i, c := range columns {
		for row := range rows {
			if err := c.value(&v); err != nil {
				return err
			}
			t.append.Begin(b.MaxBytes, len(v.Data))
			if code := t.append.Append(&b.Carried[i], &v, t.o.Carry[i].Time, nil); code != 0 && t.faults[row].Code == 0 {
				t.faults[row] = pipeline.Fault{Code: code, Field: uint16(i)}
			}
		}
	}
	t.append.Release()
	for row, fault := range t.faults {
		if fault.Code != 0 {
			fault.Row, fault.Pos = int32(first+row), -1
			b.Faults = append(b.Faults, fault)
		}
	}
	return nil
}

// addURLs adds the values of a column of URLs. missing is the fault of a null.
func (t *table) addURLs(dst *pipeline.NullBytes, c *column, rows int, missing pipeline.FaultCode) error {
	var v schema.Value
	for row := range rows {
		if err := c.value(&v); err != nil {
			return err
		}
		fault := pipeline.FaultCode(0)
		switch v.Kind {
		case schema.Text, schema.Bytes:
			if len(v.Data) > t.maxValue {
				v.Data, fault = v.Data[:t.maxValue], pipeline.FaultTooLarge
			}
			dst.Append(v.Data)
		case schema.Missing, schema.Null:
			dst.AppendNull()
			fault = missing
		default:
			dst.AppendNull()
			fault = pipeline.FaultFieldType
		}
		if t.faults[row].Code == 0 {
			t.faults[row].Code = fault
		}
	}
	return nil
}

// close closes the pages. A nil column has none.
func (c *column) close() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	if c.pages != nil {
		_ = c.pages.Close() // nothing was written
	}
	c.pages, c.page, c.reader, c.ended = nil, nil, nil, false
	c.values, c.next = c.values[:0], 0
}

// value reads the next value, which is valid until the next one is read. A column that the file does not have is missing
// everywhere.
func (c *column) value(v *schema.Value) error {
	*v = schema.Value{}
	if c == nil {
		return nil
	}
	for c.next == len(c.values) {
		if err := c.read(); err != nil {
			return err
		}
	}
	x := &c.values[c.next]
	c.next++
	if !x.IsNull() {
		c.convert(v, x)
	}
	return nil
}

// read reads more values.
func (c *column) read() error {
	if c.reader == nil || c.ended {
		if c.page != nil {
			parquet.Release(c.page)
			c.page = nil
		}
		page, err := c.pages.ReadPage()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("column %d: %w", c.index, err)
		}
		c.page, c.reader, c.ended = page, page.Values(), false
	}
	if cap(c.values) == 0 {
		c.values = make([]parquet.Value, bufferedValues)
	}
	n, err := c.reader.ReadValues(c.values[:bufferedValues])
	c.values, c.next = c.values[:n], 0
	switch {
	case errors.Is(err, io.EOF):
		c.ended = true
	case err != nil:
		return fmt.Errorf("column %d: %w", c.index, err)
	}
	return nil
}

// convert sets v to what x means.
func (c *column) convert(v *schema.Value, x *parquet.Value) {
	switch c.physical {
	case parquet.Boolean:
		v.Kind = schema.Bool
		if x.Boolean() {
			v.Num = 1
		}
	case parquet.Int32:
		v.Kind, v.Num = schema.Int, int64(x.Int32())
		if c.meaning == unsigned {
			v.Num = int64(x.Uint32())
		}
		c.mean(v)
	case parquet.Int64:
		v.Kind, v.Num = schema.Int, x.Int64()
		if c.meaning == unsigned && v.Num < 0 {
			v.Kind = schema.Uint
		}
		c.mean(v)
	case parquet.Float:
		v.Kind, v.Float = schema.Float, float64(x.Float())
	case parquet.Double:
		v.Kind, v.Float = schema.Float, x.Double()
	case parquet.Int96:
		const julianDayOf1970 = 2440588
		n := x.Int96()
		nanos := int64(uint64(n[1])<<32 | uint64(n[0]))
		v.Kind, v.Num = schema.Instant, (int64(n[2])-julianDayOf1970)*86400e6+nanos/1000
	default:
		v.Kind, v.Data = schema.Bytes, x.ByteArray()
		switch c.meaning {
		case text:
			v.Kind = schema.Text
		case uuid:
			v.Kind = schema.UUID
		case decimal:
			const maxDecimal = 128
			if len(v.Data) <= maxDecimal {
				v.Kind, v.Scale = schema.Decimal, c.scale
			}
		}
	}
}

// mean makes a whole number what it means.
func (c *column) mean(v *schema.Value) {
	switch c.meaning {
	case date:
		v.Kind = schema.Date
	case decimal:
		binary.BigEndian.PutUint64(c.number[:], uint64(v.Num))
		v.Kind, v.Data, v.Scale = schema.Decimal, c.number[:], c.scale
	case instant, clock:
		micros, ok := schema.Micros(v.Num, c.unit)
		if !ok {
			return // it stays the number that it is
		}
		v.Kind, v.Num = schema.Instant, micros
		if c.meaning == clock {
			v.Kind = schema.Clock
		}
	}
}
