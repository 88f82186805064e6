package kafka

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/ndjson"
)

// rowForm makes a value of every row.
type rowForm interface {
	// prepare makes it ready for rows of a schema, and connect for values, once the topic is there.
	prepare(s *arrow.Schema) error
	connect(ctx context.Context) error
	newAppender() appender
}

// appender appends the values of the rows of r to dst, and to ends where in dst each ends. It is for one goroutine at a
// time.
type appender func(dst []byte, ends []int, r arrow.Record) ([]byte, []int, error)

// jsonForm implements [rowForm]: a row is an object.
type jsonForm struct{ objects ndjson.Rows }

func (f *jsonForm) prepare(s *arrow.Schema) (err error) {
	f.objects, err = ndjson.NewRows(s)
	return err
}

func (f *jsonForm) connect(context.Context) error { return nil }

func (f *jsonForm) newAppender() appender {
	return func(dst []byte, ends []int, r arrow.Record) ([]byte, []int, error) {
		dst, ends = f.objects.Append(dst, ends, r)
		return dst, ends, nil
	}
}

// rowRecords implements [filesink.Stream]: a record for each row.
type rowRecords struct {
	out     *producer
	form    rowForm
	keyName string

	key   int // of its column, -1 for none
	spare sync.Pool
}

// rowBuffer holds the values and keys of the rows of one Write.
type rowBuffer struct {
	append   appender
	data     []byte
	ends     []int
	messages []message
}

// maxSpare is the largest buffer that is kept: one huge row must not pin its memory.
const maxSpare = 16 << 20

func (s *rowRecords) Start(ctx context.Context, schema *arrow.Schema) (err error) {
	if err = s.form.prepare(schema); err != nil {
		return err
	}
	s.key = -1
	if s.keyName != "" {
		if s.key, err = keyOf(schema, s.keyName); err != nil {
			return err
		}
	}
	if err = s.out.start(ctx); err != nil {
		return err
	}
	return s.form.connect(ctx)
}

func (s *rowRecords) Write(ctx context.Context, r arrow.Record) (int64, error) {
	b, ok := s.spare.Get().(*rowBuffer)
	if !ok {
		b = &rowBuffer{append: s.form.newAppender()}
	}
	if err := b.fill(r, s.key); err != nil {
		return 0, err
	}
	n, clean, err := s.out.send(ctx, b.messages)
	if clean && cap(b.data) <= maxSpare {
		s.spare.Put(b)
	}
	return n, err
}

func (b *rowBuffer) fill(r arrow.Record, key int) (err error) {
	if b.data, b.ends, err = b.append(b.data[:0], b.ends[:0], r); err != nil {
		return err
	}
	rows := len(b.ends)
	if key >= 0 {
		column := r.Column(key)
		for i := range rows {
			b.data = appendKey(b.data, column, i)
			b.ends = append(b.ends, len(b.data))
		}
	}
	b.messages = b.messages[:0]
	start := 0
	for i, end := range b.ends[:rows] {
		m := message{value: b.data[start:end:end]}
		if start = end; key >= 0 && !r.Column(key).IsNull(i) {
			to := b.ends[rows+i]
			m.key = b.data[b.ends[rows+i-1]:to:to]
		}
		b.messages = append(b.messages, m)
	}
	return nil
}

// Commit has nothing to do: what was written is acknowledged.
func (s *rowRecords) Commit() error { return nil }

func (s *rowRecords) Close() error {
	s.out.close()
	return nil
}

// keyOf returns the index of the column of that name, if it can be a key.
func keyOf(s *arrow.Schema, name string) (int, error) {
	found := s.FieldIndices(name)
	if len(found) == 0 {
		names := make([]string, s.NumFields())
		for i := range names {
			names[i] = s.Field(i).Name
		}
		return 0, pipeline.FieldErrorf("", "there is no column %q; the columns are %s", pipeline.Column(name), listed(names))
	}
	switch t := s.Field(found[0]).Type; t.ID() {
	case arrow.STRING, arrow.BINARY, arrow.FIXED_SIZE_BINARY, arrow.INT32, arrow.INT64:
		return found[0], nil
	default:
		return 0, pipeline.FieldErrorf("", "the column %q, a %s, cannot be a key; take one with texts, bytes or whole numbers", pipeline.Column(name), t)
	}
}

// appendKey appends value i of a column that keyOf took.
func appendKey(dst []byte, column arrow.Array, i int) []byte {
	if column.IsNull(i) {
		return dst
	}
	switch a := column.(type) {
	case *array.String:
		return append(dst, a.Value(i)...)
	case *array.Binary:
		return append(dst, a.Value(i)...)
	case *array.FixedSizeBinary:
		return append(dst, a.Value(i)...)
	case *array.Int32:
		return strconv.AppendInt(dst, int64(a.Value(i)), 10)
	case *array.Int64:
		return strconv.AppendInt(dst, a.Value(i), 10)
	}
	panic(fmt.Sprintf("kafka: key of type %s was not refused", column.DataType()))
}

// arrowRows implements [filesink.Stream]: a record for as many rows as fit into it.
type arrowRows struct{ out *producer }

// contentType marks the records of arrowRows, and streamRoom is what they leave free for it and what surrounds them.
var contentType = []kafkago.Header{{Key: "content-type", Value: []byte("application/vnd.apache.arrow.stream")}}

const streamRoom = 1 << 10

func (s *arrowRows) Start(ctx context.Context, _ *arrow.Schema) error { return s.out.start(ctx) }

func (s *arrowRows) Write(ctx context.Context, r arrow.Record) (int64, error) {
	messages, err := s.payloads(nil, r)
	if err != nil {
		return 0, err
	}
	n, _, err := s.out.send(ctx, messages)
	return n, err
}

// payloads appends the rows of r as streams of which none is too large, unless it is of a single row.
func (s *arrowRows) payloads(dst []message, r arrow.Record) ([]message, error) {
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(r.Schema()))
	if err := w.Write(r); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	rows := r.NumRows()
	if b.Len() <= s.out.target.MaxMessageBytes-streamRoom || rows <= 1 {
		return append(dst, message{value: b.Bytes(), headers: contentType}), nil
	}
	for _, span := range [][2]int64{{0, rows / 2}, {rows / 2, rows}} {
		half := r.NewSlice(span[0], span[1])
		var err error
		dst, err = s.payloads(dst, half)
		half.Release()
		if err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// Commit has nothing to do: what was written is acknowledged.
func (s *arrowRows) Commit() error { return nil }

func (s *arrowRows) Close() error {
	s.out.close()
	return nil
}
