package parquet

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/sinks/sinktest"
)

// FuzzRoundTrip reads random tables of every type, some of whose records are slices of others, back with arrow's reader.
func FuzzRoundTrip(f *testing.F) {
	f.Add(uint64(1), uint16(100), uint8(50), uint8(30), uint16(300), uint16(7), uint16(40), uint8(0))
	f.Add(uint64(2), uint16(1), uint8(0), uint8(255), uint16(1), uint16(1), uint16(1), uint8(5))
	f.Add(uint64(3), uint16(400), uint8(255), uint8(0), uint16(60000), uint16(1000), uint16(1000), uint8(11))
	f.Add(uint64(4), uint16(300), uint8(10), uint8(10), uint16(2000), uint16(64), uint16(130), uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, rows uint16, nulls, empty uint8, pageBytes, pageRows, groupRows uint16, kind uint8) {
		schema := sinktest.AllTypes()
		shape := sinktest.Shape{Nulls: float64(nulls) / 255, Empty: float64(empty) / 255}
		o := Options{
			PageBytes: int64(pageBytes) + 1, PageRows: int(pageRows) + 1, RowGroupRows: int(groupRows) + 1,
			Compression: []string{"none", "snappy", "zstd"}[kind%3], PageVersion: 1 + int(kind/3%2),
			Encodings: []string{EncodingsAll, EncodingsPlain}[kind/6%2],
		}
		n := int64(rows % 500)
		r := sinktest.Random(memory.DefaultAllocator, schema, int(n), 0, seed, shape)
		defer r.Release()
		cut := int64(seed % uint64(n+1))
		head, tail := r.NewSlice(0, cut), r.NewSlice(cut, n)
		defer head.Release()
		defer tail.Release()
		compare(t, sinktest.Rows(r), decode(t, encodeFile(t, o, schema, head, tail)))
	})
}

// TestRandomSchemas does the same for random types, nested up to four levels.
func TestRandomSchemas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var fields []arrow.Field
		for i := range rapid.IntRange(1, 4).Draw(rt, "columns") {
			fields = append(fields, drawField(rt, fmt.Sprintf("c%d", i), 3))
		}
		schema := arrow.NewSchema(fields, nil)
		rows := rapid.IntRange(0, 200).Draw(rt, "rows")
		shape := sinktest.Shape{
			Nulls: rapid.Float64Range(0, 1).Draw(rt, "nulls"), Empty: rapid.Float64Range(0, 1).Draw(rt, "empty"),
			MaxText: rapid.IntRange(1, 100).Draw(rt, "longest"),
		}
		r := sinktest.Random(memory.DefaultAllocator, schema, rows, 0, rapid.Uint64().Draw(rt, "seed"), shape)
		defer r.Release()
		from := rapid.Int64Range(0, int64(rows)).Draw(rt, "from")
		slice := r.NewSlice(from, int64(rows))
		defer slice.Release()
		o := Options{
			Compression:  rapid.SampledFrom([]string{"none", "snappy", "lz4", "gzip", "zstd"}).Draw(rt, "codec"),
			PageBytes:    rapid.Int64Range(1, 4000).Draw(rt, "page bytes"),
			PageRows:     rapid.IntRange(1, 200).Draw(rt, "page rows"),
			RowGroupRows: rapid.IntRange(1, 200).Draw(rt, "group rows"),
			PageVersion:  rapid.IntRange(1, 2).Draw(rt, "version"),
		}
		compare(t, sinktest.Rows(slice), decode(t, encodeFile(t, o, schema, slice)))
	})
}

func drawField(rt *rapid.T, name string, depth int) arrow.Field {
	f := arrow.Field{Name: name, Nullable: rapid.Bool().Draw(rt, "nullable")}
	kind := rapid.IntRange(0, 9).Draw(rt, "type")
	if depth == 0 {
		kind %= 7
	}
	switch kind {
	case 0:
		f.Type = arrow.PrimitiveTypes.Int64
	case 1:
		f.Type = arrow.BinaryTypes.Binary
	case 2:
		f.Type = arrow.FixedWidthTypes.Boolean
	case 3:
		f.Type = arrow.PrimitiveTypes.Uint16
	case 4:
		f.Type = arrow.PrimitiveTypes.Float64
	case 5:
		f.Type = &arrow.FixedSizeBinaryType{ByteWidth: 3}
	case 6:
		f.Type = arrow.BinaryTypes.String
	case 7:
		f.Type = arrow.StructOf(drawField(rt, "a", depth-1), drawField(rt, "b", depth-1))
	default:
		elem := drawField(rt, "element", depth-1)
		if elem.Nullable {
			f.Type = arrow.ListOf(elem.Type)
		} else {
			f.Type = arrow.ListOfNonNullable(elem.Type)
		}
	}
	return f
}

// TestMemory: what a writer holds grows with its rows, is small after a flush, and the file is the same to a reader.
func TestMemory(t *testing.T) {
	o := Options{RowGroupRows: 1 << 20}.withDefaults()
	f, schema := &format{opts: &o}, sinktest.Clicks()
	out := &countWriter{}
	e, err := f.NewEncoder(out, schema)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Discard()
	if n := e.Memory(); n > 32<<10 {
		t.Errorf("%d bytes without rows", n)
	}
	for i := range int64(5) {
		r := sinktest.RandomClicks(memory.DefaultAllocator, 10_000, i*10_000, 1)
		before := e.Memory()
		if err := e.Write(r); err != nil {
			t.Fatal(err)
		}
		if i == 0 && e.Memory() < before+1<<20 {
			t.Errorf("10,000 rows take %d bytes", e.Memory()-before)
		}
		if e.Buffered() <= 0 {
			t.Error("nothing is buffered")
		}
		r.Release()
		if i%2 == 1 {
			if err := e.Flush(); err != nil {
				t.Fatal(err)
			}
			if n := e.Memory(); n > 64<<10 {
				t.Errorf("%d bytes after a flush", n)
			}
		}
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	written := out.n
	if err := e.Flush(); err != nil || out.n != written {
		t.Errorf("a flush without rows wrote %d bytes, %v", out.n-written, err)
	}
}
