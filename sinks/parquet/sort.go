package parquet

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/internal/take"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/rowbuf"
	"github.com/urlmill/urlmill/sinks/parquet/encode"
)

// KeySortBy is the key of the metadata that has the columns by which the rows of each row group are sorted, as a JSON list.
const KeySortBy = "urlmill.sort_by"

// rowWriter writes one file: an [encode.Writer], or a sorter before one.
type rowWriter interface {
	Reset(w io.Writer) error
	Write(r arrow.Record) error
	Flush() error
	Close(kvs []encode.KeyValue) error
	Discard()
	Pending() int64
	Memory() int64
}

// sorter collects the rows of a row group and writes them in the order of some columns, ascending, nulls last. Rows that
// are equal in all of these stay in the order that they had.
type sorter struct {
	*encode.Writer
	schema *arrow.Schema
	by     []int // columns
	limits Options
	rows   *rowbuf.Buffer
	taker  take.Taker
	order  []ranked
	places []int32
}

// ranked is a row with the rank of its value in the first column, or the beginning of the value, by which most rows can be
// told apart at once.
type ranked struct {
	rank uint64
	row  int32
}

func newSorter(w *encode.Writer, s *arrow.Schema, o *Options) (*sorter, error) {
	rows, err := rowbuf.New(s)
	if err != nil {
		return nil, err
	}
	out := &sorter{Writer: w, schema: s, limits: *o, rows: rows}
	for _, name := range o.SortBy {
		at := s.FieldIndices(name)
		if len(at) != 1 {
			return nil, fmt.Errorf("there is no column %q to sort by", name)
		}
		out.by = append(out.by, at[0])
	}
	return out, nil
}

// checkSortBy returns what is wrong with the columns to sort by for rows of a schema.
func (o Options) checkSortBy(s *arrow.Schema) error {
	for _, name := range o.SortBy {
		at := s.FieldIndices(name)
		if len(at) != 1 {
			var names []string
			for _, f := range s.Fields() {
				names = append(names, f.Name)
			}
			return pipeline.FieldErrorf("sort_by", "there is no column %q to sort by; the columns are %s", pipeline.Column(name), strings.Join(names, ", "))
		}
		if !sortable(s.Field(at[0]).Type) {
			return pipeline.FieldErrorf("sort_by", "column %q is of type %s, by which nothing can be sorted; give a text, a whole number, a boolean, a date or a timestamp",
				pipeline.Column(name), s.Field(at[0]).Type)
		}
	}
	return nil
}

func (o Options) validateSortBy() error {
	for i, name := range o.SortBy {
		if slices.Contains(o.SortBy[:i], name) {
			return pipeline.FieldErrorf("sort_by", "%s is there twice; take one out", name)
		}
	}
	return nil
}

// sortedBy is the text of [KeySortBy].
func sortedBy(columns []string) string {
	text, err := json.Marshal(columns)
	if err != nil {
		panic(err) // there is no such text
	}
	return string(text)
}

func (s *sorter) Reset(w io.Writer) error {
	s.rows.Reset()
	return s.Writer.Reset(w)
}

func (s *sorter) Write(r arrow.Record) error {
	return s.rows.Fill(r, s.limits.RowGroupRows, s.limits.RowGroupBytes, s.emit)
}

// emit writes the rows that are there as a row group, or as two if they take more than was thought.
func (s *sorter) emit() error {
	if s.rows.Rows() == 0 {
		return nil
	}
	r := s.rows.Record(s.schema)
	defer r.Release()
	s.sort(r)
	for from := 0; from < len(s.order); from += readRows {
		s.places = s.places[:0]
		for _, o := range s.order[from:min(len(s.order), from+readRows)] {
			s.places = append(s.places, o.row)
		}
		part := s.taker.Take(r, s.places)
		err := s.Writer.Write(part)
		part.Release()
		if err != nil {
			return err
		}
	}
	s.rows.Reset()
	return s.Writer.Flush()
}

func (s *sorter) sort(r arrow.Record) {
	n := int(r.NumRows())
	column := r.Column(s.by[0])
	first := keyOf(column)
	s.order = s.order[:0]
	by := s.by
	if first.text != nil && s.rankTexts(column, first.text) {
		by = by[1:]
	} else {
		for i := range n {
			s.order = append(s.order, ranked{first.rank(i), int32(i)})
		}
	}
	compare := make([]func(i, j int32) int, len(by))
	for i, column := range by {
		compare[i] = keyOf(r.Column(column)).compare
	}
	slices.SortFunc(s.order, func(a, b ranked) int {
		if a.rank != b.rank {
			return cmp.Compare(a.rank, b.rank)
		}
		for _, c := range compare {
			if order := c(a.row, b.row); order != 0 {
				return order
			}
		}
		return cmp.Compare(a.row, b.row)
	})
}

// rankTexts adds all rows to s.order by the places of their values among those that differ, of which there are few in a column
// such as the host: only these are compared as texts. It reports whether it has. Too many of them, and it adds none.
func (s *sorter) rankTexts(a arrow.Array, value func(i int) string) bool {
	const missing = 1<<32 - 1
	distinct := map[string]uint32{} // aliases the rows
	n := a.Len()
	for i := range n {
		if a.IsNull(i) {
			s.order = append(s.order, ranked{missing, int32(i)})
			continue
		}
		text := value(i)
		id, ok := distinct[text]
		if !ok {
			if len(distinct) > 512+i/4 {
				s.order = s.order[:0]
				return false
			}
			id = uint32(len(distinct))
			distinct[text] = id
		}
		s.order = append(s.order, ranked{uint64(id), int32(i)})
	}
	places := make([]uint32, len(distinct))
	for place, text := range slices.Sorted(maps.Keys(distinct)) {
		places[distinct[text]] = uint32(place)
	}
	for i := range s.order {
		if o := &s.order[i]; o.rank != missing {
			o.rank = uint64(places[o.rank])
		}
	}
	return true
}

// Flush ends the row group early and lets go of the memory.
func (s *sorter) Flush() error {
	err := s.emit()
	s.free()
	return err
}

func (s *sorter) free() {
	s.rows.Free()
	s.taker.Free()
	s.order, s.places = nil, nil
}

func (s *sorter) Close(kvs []encode.KeyValue) error {
	if err := s.emit(); err != nil {
		s.Writer.Discard()
		return err
	}
	return s.Writer.Close(kvs)
}

// Discard drops the file. What a row group of usual size takes is kept for the next one, as files follow each other.
func (s *sorter) Discard() {
	if s.rows.Capacity() > 2*s.limits.RowGroupBytes {
		s.free()
	}
	s.rows.Reset()
	s.Writer.Discard()
}

func (s *sorter) Pending() int64 { return s.Writer.Pending() + s.rows.Bytes()/3 }

func (s *sorter) Memory() int64 {
	return s.Writer.Memory() + s.rows.Capacity() + s.taker.Memory() + 16*int64(cap(s.order)) + 4*int64(cap(s.places))
}

// sortKey is a column to sort by. rank has the order of the values, but for those that are equal in it. text is nil for what is
// not a text.
type sortKey struct {
	text    func(i int) string
	rank    func(i int) uint64
	compare func(i, j int32) int
}

func sortable(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY, arrow.BOOL, arrow.DATE32, arrow.TIMESTAMP,
		arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return true
	}
	return false
}

func keyOf(a arrow.Array) sortKey {
	switch a := a.(type) {
	case *array.String:
		return textKey(a, a.Value)
	case *array.LargeString:
		return textKey(a, a.Value)
	case *array.Binary:
		return textKey(a, a.ValueString)
	case *array.LargeBinary:
		return textKey(a, a.ValueString)
	case *array.Boolean:
		return numberKey(a, func(i int) uint64 {
			if a.Value(i) {
				return 1
			}
			return 0
		})
	case *array.Date32:
		return signedKey(a, a.Date32Values())
	case *array.Timestamp:
		return signedKey(a, a.TimestampValues())
	case *array.Int8:
		return signedKey(a, a.Int8Values())
	case *array.Int16:
		return signedKey(a, a.Int16Values())
	case *array.Int32:
		return signedKey(a, a.Int32Values())
	case *array.Int64:
		return signedKey(a, a.Int64Values())
	case *array.Uint8:
		return numberKey(a, func(i int) uint64 { return uint64(a.Value(i)) })
	case *array.Uint16:
		return numberKey(a, func(i int) uint64 { return uint64(a.Value(i)) })
	case *array.Uint32:
		return numberKey(a, func(i int) uint64 { return uint64(a.Value(i)) })
	case *array.Uint64:
		return numberKey(a, a.Value)
	}
	panic("parquet: rows cannot be sorted by " + a.DataType().String()) // it has been checked
}

func signedKey[T ~int8 | ~int16 | ~int32 | ~int64](a arrow.Array, values []T) sortKey {
	return numberKey(a, func(i int) uint64 { return uint64(int64(values[i])) ^ 1<<63 })
}

// nulls compares two values of which one at least may be null. ok is false if none is.
func nulls(a arrow.Array, i, j int) (order int, ok bool) {
	switch x, y := a.IsNull(i), a.IsNull(j); {
	case x && y:
		return 0, true
	case x:
		return 1, true
	case y:
		return -1, true
	}
	return 0, false
}

func numberKey(a arrow.Array, value func(i int) uint64) sortKey {
	return sortKey{
		rank: func(i int) uint64 {
			if a.IsNull(i) {
				return 1<<64 - 1
			}
			return value(i)
		},
		compare: func(i, j int32) int {
			if order, ok := nulls(a, int(i), int(j)); ok {
				return order
			}
			return cmp.Compare(value(int(i)), value(int(j)))
		},
	}
}

// textKey orders by bytes, as the format has it for texts.
func textKey(a arrow.Array, value func(i int) string) sortKey {
	return sortKey{
		text: value,
		rank: func(i int) uint64 {
			if a.IsNull(i) {
				return 1<<64 - 1
			}
			var b [8]byte
			copy(b[:], value(i))
			return binary.BigEndian.Uint64(b[:])
		},
		compare: func(i, j int32) int {
			if order, ok := nulls(a, int(i), int(j)); ok {
				return order
			}
			return strings.Compare(value(int(i)), value(int(j)))
		},
	}
}
