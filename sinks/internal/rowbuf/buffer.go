package rowbuf

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// maxRow is the number of bytes that a single row may have. It keeps the offsets of a column, whose limit is
// below 2 GiB, far from overflowing.
const maxRow = 1 << 30

// Buffer collects rows of one schema.
type Buffer struct {
	columns []*column
	rows    int
	bytes   int64
}

// New returns an empty buffer, or an error that names the column whose type is not supported. Supported are
// booleans, everything of a fixed width of whole bytes, strings and binaries, lists, maps and structs.
func New(s *arrow.Schema) (*Buffer, error) {
	b := &Buffer{}
	for _, f := range s.Fields() {
		c, err := newColumn(f, false)
		if err != nil {
			return nil, err
		}
		b.columns = append(b.columns, c)
	}
	return b, nil
}

// Rows returns the number of rows.
func (b *Buffer) Rows() int { return b.rows }

// Bytes returns about the size of the rows in memory.
func (b *Buffer) Bytes() int64 { return b.bytes }

// Capacity returns the memory that the buffer holds.
func (b *Buffer) Capacity() int64 {
	n := int64(0)
	for _, c := range b.columns {
		n += c.capacity()
	}
	return n
}

// size returns the bytes that the rows from:to of r would take.
func (b *Buffer) size(r arrow.Record, from, to int) int64 {
	n := int64(0)
	for i, c := range b.columns {
		n += c.size(r.Column(i).Data(), from, to)
	}
	return n
}

// append adds a copy of the rows from:to of r, which has the buffer's schema, and of that size. The sum of Bytes and size
// is less than 2 GiB. An error says which column has nulls against its schema; the buffer must then be Reset.
func (b *Buffer) append(r arrow.Record, from, to int, size int64) error {
	for i, c := range b.columns {
		if err := c.append(r.Column(i).Data(), from, to); err != nil {
			return err
		}
	}
	b.rows += to - from
	b.bytes += size
	return nil
}

// Fill adds a copy of all rows of r, and calls full whenever the buffer has as many rows, or as many bytes, as are given:
// that empties it. An error says which column has nulls against its schema, or is that of full; a row of more than [maxRow] bytes is one as well.
func (b *Buffer) Fill(r arrow.Record, rows int, bytes int64, full func() error) error {
	for from, n := 0, int(r.NumRows()); from < n; {
		to := min(n, from+rows-b.rows)
		size := b.size(r, from, to)
		for to-from > 1 && b.bytes+size > bytes {
			to = from + (to-from)/2
			size = b.size(r, from, to)
		}
		if size > maxRow {
			return fmt.Errorf("a row of %d bytes is too large for a Parquet page, the limit is %d: lower the source's limit for records",
				size, maxRow)
		}
		if b.rows > 0 && b.bytes+size > bytes {
			if err := full(); err != nil {
				return err
			}
			continue
		}
		if err := b.append(r, from, to, size); err != nil {
			return err
		}
		from = to
		if b.rows >= rows {
			if err := full(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Free empties the buffer and lets go of its memory.
func (b *Buffer) Free() {
	for _, c := range b.columns {
		c.free()
	}
	b.rows, b.bytes = 0, 0
}

// Reset empties the buffer and keeps its memory.
func (b *Buffer) Reset() {
	for _, c := range b.columns {
		c.reset()
	}
	b.rows, b.bytes = 0, 0
}

// Record returns the rows as a record of the buffer's schema. It lies in the memory of the buffer and is valid until the
// buffer is changed. The caller releases it.
func (b *Buffer) Record(s *arrow.Schema) arrow.Record {
	columns := make([]arrow.Array, len(b.columns))
	for i, c := range b.columns {
		d := c.arrow()
		columns[i] = array.MakeFromData(d)
		d.Release()
	}
	r := array.NewRecord(s, columns, int64(b.rows))
	for _, c := range columns {
		c.Release()
	}
	return r
}
