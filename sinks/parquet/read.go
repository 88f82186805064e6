package parquet

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/ipcread"
	"github.com/urlmill/urlmill/internal/pqread"
	"github.com/urlmill/urlmill/sinks/parquet/encode"
)

// arrowSchema is the key of the metadata under which writers of Arrow data keep their schema.
const arrowSchema = "ARROW:schema"

// Reader reads the rows of a Parquet file, of whatever writer, as Arrow records. Damage is an error. It is used by one
// goroutine at a time.
type Reader struct {
	file    *pqread.File
	schema  *arrow.Schema // of the records
	columns []*node       // one for each field of the schema
	leaves  []*leaf       // of the columns
	builder *array.RecordBuilder
	group   int   // row group, which is being read if left is not 0
	left    int64 // rows of it
	record  arrow.Record
}

// What a record has at most, and a look at its size between so many rows.
const (
	readRows  = 8 << 10
	readBytes = 16 << 20
	maxStep   = 256
)

// NewReader returns a reader of all columns of a file of the given size. Closing f is the caller's.
func NewReader(f io.ReaderAt, size int64) (_ *Reader, err error) {
	defer damaged(&err)
	file, err := pqread.Open(f, size)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: file}
	var fields []arrow.Field
	for _, c := range file.Root().Columns() {
		n, err := columnOf(c, 0, 0)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name(), err)
		}
		r.columns = append(r.columns, n)
		fields = append(fields, n.field)
	}
	if text, ok := file.Lookup(arrowSchema); ok {
		restore(fields, r.columns, deserialize(text))
	}
	r.use(arrow.NewSchema(fields, nil))
	return r, nil
}

// damaged turns a panic of the library over a damaged file into an error.
func damaged(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged: %v", p)
	}
}

// use makes records of a schema with the reader's columns.
func (r *Reader) use(s *arrow.Schema) {
	r.schema, r.leaves = s, nil
	r.builder = array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i, n := range r.columns {
		r.leaves = n.bind(r.builder.Field(i), r.leaves)
	}
}

// Select leaves out all columns but those for which keep is true. It is called before the first row is read.
func (r *Reader) Select(keep func(column int) bool) {
	var columns []*node
	var fields []arrow.Field
	for i, n := range r.columns {
		if keep(i) {
			columns, fields = append(columns, n), append(fields, r.schema.Field(i))
		}
	}
	r.builder.Release()
	r.columns = columns
	r.use(arrow.NewSchema(fields, nil))
}

// deserialize is the inverse of serialize, nil for what it cannot read: that is as good as none.
func deserialize(text string) *arrow.Schema {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	r, err := ipcread.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	defer r.Release()
	return r.Schema()
}

// Schema returns that of the records, without metadata of its own.
func (r *Reader) Schema() *arrow.Schema { return r.schema }

// Rows returns the number of rows in the file.
func (r *Reader) Rows() int64 { return r.file.NumRows() }

// Metadata returns the key-value metadata of the file, without the schema.
func (r *Reader) Metadata() []encode.KeyValue {
	var kvs []encode.KeyValue
	for _, kv := range r.file.Metadata().KeyValueMetadata {
		if kv.Key != arrowSchema {
			kvs = append(kvs, encode.KeyValue{Key: kv.Key, Value: kv.Value})
		}
	}
	return kvs
}

// Compression returns how the pages are compressed, by the name that [Options] has for it; "" if the file has none or is
// not from here.
func (r *Reader) Compression() string {
	groups := r.file.Metadata().RowGroups
	if len(groups) == 0 || len(groups[0].Columns) == 0 {
		return ""
	}
	for name, codec := range codecs {
		if codec.codec == encode.Codec(groups[0].Columns[0].MetaData.Codec) {
			return name
		}
	}
	return ""
}

// Each calls f with all rows, in order. A record is valid until f returns.
func (r *Reader) Each(ctx context.Context, f func(arrow.Record) error) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = f(rec)
		}
		if err != nil {
			return err
		}
	}
}

// Next returns the next rows, which are valid until the next call or Close, and io.EOF after the last. A record ends with
// its row group.
func (r *Reader) Next() (_ arrow.Record, err error) {
	defer damaged(&err)
	r.drop()
	groups := r.file.RowGroups()
	for r.left == 0 {
		r.closeGroup()
		if r.group == len(groups) {
			return nil, io.EOF
		}
		r.left = groups[r.group].NumRows()
		for _, l := range r.leaves {
			l.pages = r.file.Pages(r.group, l.index)
		}
		r.group++
	}
	if err := r.fill(); err != nil {
		return nil, fmt.Errorf("row group %d: %w", r.group-1, err)
	}
	r.record = r.builder.NewRecord()
	return r.record, nil
}

// fill adds rows of the row group, until a record is full.
func (r *Reader) fill() error {
	rows, size := 0, int64(0)
	for rows < readRows && size < readBytes && r.left > 0 {
		// As many as there is room for, by the size of those before.
		step := min(maxStep, readRows-rows, int(min(r.left, readRows)))
		if rows == 0 {
			step = 1
		} else if perRow := 1 + size/int64(rows); int64(step) > (readBytes-size)/perRow {
			step = max(1, int((readBytes-size)/perRow))
		}
		for _, n := range r.columns {
			if err := n.appendRows(step); err != nil {
				return err
			}
		}
		rows += step
		r.left -= int64(step)
		size = 0
		for _, l := range r.leaves {
			size += l.bytes
		}
	}
	for _, l := range r.leaves {
		l.bytes = 0
		if r.left == 0 && l.more() {
			return fmt.Errorf("column %s has more values than rows", l.name)
		}
	}
	return nil
}

func (r *Reader) drop() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

func (r *Reader) closeGroup() {
	for _, l := range r.leaves {
		l.close()
	}
}

// Close lets go of the memory. The file stays open.
func (r *Reader) Close() (err error) {
	defer damaged(&err)
	r.drop()
	r.closeGroup()
	r.builder.Release()
	return nil
}
