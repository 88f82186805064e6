package rowbuf

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/sinks/sinktest"
)

// TestAppend collects random slices of random records and compares every value, with the memory that they came
// from overwritten meanwhile.
func TestAppend(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	schema := sinktest.AllTypes()
	b, err := New(schema)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 0))
		var want [][]any
		for range 8 {
			rec := sinktest.Random(mem, schema, 1+r.IntN(60), 0, r.Uint64(), sinktest.Shape{Nulls: 0.2, Empty: 0.2})
			from := r.IntN(int(rec.NumRows()))
			slice := rec.NewSlice(int64(from), rec.NumRows())
			to := r.IntN(int(slice.NumRows()) + 1)
			if err := b.append(slice, 0, to, b.size(slice, 0, to)); err != nil {
				t.Fatal(err)
			}
			if n := b.Capacity(); n < b.Bytes()/8 || n > 2*b.Bytes()+64<<10 {
				t.Errorf("seed %d: %d bytes are held for %d", seed, n, b.Bytes())
			}
			for i := range to {
				var row []any
				for c := range int(slice.NumCols()) {
					row = append(row, sinktest.Value(slice.Column(c), i))
				}
				want = append(want, row)
			}
			slice.Release()
			scribble(rec)
			rec.Release()
		}
		if b.Rows() != len(want) {
			t.Fatalf("%d rows, want %d", b.Rows(), len(want))
		}
		got := b.Record(schema)
		for i, row := range want {
			for c, v := range row {
				if got := sinktest.Value(got.Column(c), i); !reflect.DeepEqual(got, v) {
					t.Fatalf("seed %d: row %d: %s is %#v, want %#v", seed, i, schema.Field(c).Name, got, v)
				}
			}
		}
		got.Release()
		b.Reset()
		if b.Rows() != 0 || b.Capacity() == 0 {
			t.Errorf("after Reset: %d rows, capacity %d", b.Rows(), b.Capacity())
		}
	}
}

// scribble overwrites the values of a record.
func scribble(r arrow.Record) {
	var all func(d arrow.ArrayData)
	all = func(d arrow.ArrayData) {
		for i, b := range d.Buffers() {
			if b != nil && (i == 2 || len(d.Children()) == 0 && i == 1 && len(d.Buffers()) == 2) {
				for j := range b.Bytes() {
					b.Bytes()[j] = 0xdd
				}
			}
		}
		for _, c := range d.Children() {
			all(c)
		}
	}
	for _, c := range r.Columns() {
		all(c.Data())
	}
}

func TestNullsWhereThereAreNone(t *testing.T) {
	// The record says that its column may be null, the buffer's schema that it may not.
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendNull()
	col := b.NewArray()
	nullable := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	required := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	buf, err := New(required)
	if err != nil {
		t.Fatal(err)
	}
	if err := buf.append(array.NewRecord(nullable, []arrow.Array{col}, 1), 0, 1, 8); err == nil || !strings.Contains(err.Error(), "column n has a null") {
		t.Errorf("got %v", err)
	}
}

func TestUnsupportedTypes(t *testing.T) {
	for name, dt := range map[string]arrow.DataType{
		"null":       arrow.Null,
		"dictionary": &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
		"empty":      arrow.StructOf(),
		"in a list":  arrow.ListOf(arrow.Null),
	} {
		_, err := New(arrow.NewSchema([]arrow.Field{{Name: "odd", Type: dt, Nullable: true}}, nil))
		if err == nil || !strings.Contains(err.Error(), "column odd") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestReuse checks that a buffer that has grown takes more rows without allocating.
func TestReuse(t *testing.T) {
	schema := sinktest.AllTypes()
	rec := sinktest.Random(memory.DefaultAllocator, schema, 200, 0, 1, sinktest.Shape{Nulls: 0.2})
	b, err := New(schema)
	if err != nil {
		t.Fatal(err)
	}
	if got := testing.AllocsPerRun(10, func() {
		b.Reset()
		for from := 0; from < 200; from += 50 {
			if err := b.append(rec, from, from+50, 0); err != nil {
				t.Fatal(err)
			}
		}
	}); got > 0 && !raceEnabled {
		t.Errorf("%v allocations", got)
	}
}
