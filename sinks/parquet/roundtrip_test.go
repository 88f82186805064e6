package parquet

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/sinks/sinktest"
)

var shapes = map[string]sinktest.Shape{
	"mixed":     {Nulls: 0.2, Empty: 0.2},
	"full":      {},
	"all null":  {Nulls: 1},
	"all empty": {Empty: 1},
	"long":      {Nulls: 0.1, MaxText: 1000, MaxList: 15},
	"shared":    {Nulls: 0.2, Empty: 0.1, Front: "https://www.example.com/"},
	"huge":      {Nulls: 0.1, HugeText: 1 << 19, HugeList: 1600, MaxList: 3},
}

// allPaths are the leaves of [sinktest.AllTypes].
var allPaths = []string{
	"id", "text", "text_required", "repeated_text", "bytes", "large_text", "flag", "i8", "u16", "i32", "i64", "u64", "f32", "f64",
	"fixed", "params.list.element.key", "params.list.element.value", "matrix.list.element.list.element", "nested.name", "nested.tags.list.element",
}

// TestRoundTrip reads back every value of tables of every type, with many settings.
func TestRoundTrip(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	settings := map[string]Options{
		"defaults":         {},
		"none":             {Compression: "none"},
		"snappy":           {Compression: "snappy"},
		"lz4":              {Compression: "lz4"},
		"gzip":             {Compression: "gzip", CompressionLevel: 1},
		"zstd 9":           {CompressionLevel: 9},
		"small row groups": {RowGroupRows: 7, Compression: "snappy"},
		"small bytes":      {RowGroupBytes: 10_000, Compression: "none"},
		"a row a group":    {RowGroupBytes: 1, Compression: "none"},
		"small pages":      {PageBytes: 300, Compression: "snappy"},
		"a row a page":     {PageBytes: 1, Compression: "none"},
		"groups and pages": {RowGroupRows: 50, PageBytes: 200, Compression: "snappy"},
		"few rows a page":  {PageRows: 3, Compression: "none"},
		"plain":            {Encodings: EncodingsPlain, Compression: "snappy"},
		"bloom filters":    {BloomFilters: allPaths, Compression: "none"},
	}
	for _, name := range []string{"snappy", "lz4", "small pages", "a row a page", "groups and pages", "plain"} {
		o := settings[name]
		o.PageVersion = 2
		settings[name+", V2"] = o
	}
	for name, o := range settings {
		for shapeName, shape := range shapes {
			t.Run(name+"/"+shapeName, func(t *testing.T) {
				schema := sinktest.AllTypes()
				var recs []arrow.Record
				var want []sinktest.Row
				for i, rows := range []int{70, 1, 30} {
					r := sinktest.Random(mem, schema, rows, int64(len(want)), uint64(i), shape)
					defer r.Release()
					recs = append(recs, r)
					want = append(want, sinktest.Rows(r)...)
				}
				got := decode(t, encodeFile(t, o, schema, recs...))
				compare(t, want, got)
			})
		}
	}
}

// compare compares rows; cmp is slow with large ones and only comes in where they differ.
func compare(t *testing.T, want, got []sinktest.Row) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%d rows, want %d", len(got), len(want))
		return
	}
	for i := range want {
		if !reflect.DeepEqual(want[i], got[i]) {
			t.Errorf("row %d: want -, got +\n%.2000s", i, cmp.Diff(want[i], got[i]))
			return
		}
	}
}

// TestEncoderReuse writes files one after the other with the same encoder.
func TestEncoderReuse(t *testing.T) {
	o := Options{RowGroupRows: 40}.withDefaults()
	f, schema := &format{opts: &o}, sinktest.AllTypes()
	for i := range 5 {
		r := sinktest.Random(memory.DefaultAllocator, schema, 100, 0, uint64(i), sinktest.Shape{Nulls: 0.3})
		var out strings.Builder
		e, err := f.NewEncoder(&out, schema)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Write(r); err != nil {
			t.Fatal(err)
		}
		if i == 2 { // abandoned with rows in its buffer
			e.Discard()
			continue
		}
		if err := e.Finish(provenance); err != nil {
			t.Fatal(err)
		}
		compare(t, sinktest.Rows(r), decode(t, []byte(out.String())))
	}
}

// TestManyListElements has rows with more list elements than any batch or page that arrow would make: its own
// writer does not end on such rows.
func TestManyListElements(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "params", Type: sinktest.Params(true), Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	list := b.Field(0).(*array.ListBuilder)
	pair := list.ValueBuilder().(*array.StructBuilder)
	for _, n := range []int{0, 1, 1500, 3, 70_000, 0, 1024, 1025} {
		list.Append(true)
		for i := range n {
			pair.Append(true)
			pair.FieldBuilder(0).(*array.StringBuilder).Append(fmt.Sprintf("k%d", i))
			if i%3 == 0 {
				pair.FieldBuilder(1).AppendNull()
			} else {
				pair.FieldBuilder(1).(*array.StringBuilder).Append("v")
			}
		}
	}
	list.AppendNull()
	r := b.NewRecord()
	defer r.Release()
	for _, page := range []int64{0, 1000} {
		compare(t, sinktest.Rows(r), decode(t, encodeFile(t, Options{PageBytes: page}, schema, r)))
	}
}

func TestNoRows(t *testing.T) {
	schema := sinktest.AllTypes()
	if got := decode(t, encodeFile(t, Options{}, schema)); len(got) != 0 {
		t.Errorf("%d rows", len(got))
	}
}

// TestNullInARequiredColumn has structs that are null, whose required fields then are as well, and one that is
// not, with a required field that is null all the same.
func TestNullInARequiredColumn(t *testing.T) {
	inner := arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64}
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.StructOf(inner), Nullable: true}}, nil)
	for _, bad := range []bool{false, true} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		s := b.Field(0).(*array.StructBuilder)
		s.Append(true)
		s.FieldBuilder(0).(*array.Int64Builder).Append(1)
		s.AppendNull()
		if bad {
			s.Append(true)
			s.FieldBuilder(0).AppendNull()
		}
		r := b.NewRecord()
		var out strings.Builder
		err := encodeTo(&out, Options{}, schema, r)
		if bad != (err != nil) || bad && !strings.Contains(err.Error(), "column s.n has a null") {
			t.Errorf("bad %t: got %v", bad, err)
		}
		r.Release()
		b.Release()
	}
}

// TestRowTooLarge needs no such row: the size alone decides.
func TestRowTooLarge(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.BinaryTypes.Binary}}, nil)
	data := array.NewData(arrow.BinaryTypes.Binary, 1, []*memory.Buffer{
		nil,
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, 1<<30 + 1})), memory.NewBufferBytes([]byte{}),
	}, nil, 0, 0)
	defer data.Release()
	// The values are not there, so nothing may look at them.
	r := array.NewRecord(schema, []arrow.Array{unchecked{data}}, 1)
	err := encodeTo(&strings.Builder{}, Options{}, schema, r)
	if err == nil || !strings.Contains(err.Error(), "too large for a Parquet page") {
		t.Errorf("got %v", err)
	}
}

// unchecked is an array whose data does not hold what it claims.
type unchecked struct{ data arrow.ArrayData }

func (u unchecked) Data() arrow.ArrayData            { return u.data }
func (u unchecked) DataType() arrow.DataType         { return u.data.DataType() }
func (u unchecked) Len() int                         { return u.data.Len() }
func (u unchecked) NullN() int                       { return 0 }
func (u unchecked) NullBitmapBytes() []byte          { return nil }
func (u unchecked) IsNull(int) bool                  { return false }
func (u unchecked) IsValid(int) bool                 { return true }
func (u unchecked) ValueStr(int) string              { return "" }
func (u unchecked) GetOneForMarshal(int) interface{} { return nil }
func (u unchecked) MarshalJSON() ([]byte, error)     { return nil, nil }
func (u unchecked) String() string                   { return "" }
func (u unchecked) Retain()                          {}
func (u unchecked) Release()                         {}
