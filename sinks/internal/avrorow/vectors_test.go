package avrorow

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"
)

// everyType has a column of every type, as testdata/vectors.py has them.
func everyType() *arrow.Schema {
	field := func(name string, t arrow.DataType, nullable bool) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: nullable}
	}
	comment := func(f arrow.Field, text string) arrow.Field {
		f.Metadata = arrow.NewMetadata([]string{"comment"}, []string{text})
		return f
	}
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32
	local := func(u arrow.TimeUnit) arrow.DataType { return &arrow.TimestampType{Unit: u} }
	return arrow.NewSchema([]arrow.Field{
		comment(field("text", text, false), "a comment"),
		field("text_null", text, true),
		field("large_text", arrow.BinaryTypes.LargeString, true),
		field("bytes", arrow.BinaryTypes.Binary, true),
		field("large_bytes", arrow.BinaryTypes.LargeBinary, false),
		field("fixed", &arrow.FixedSizeBinaryType{ByteWidth: 3}, true),
		field("flag", arrow.FixedWidthTypes.Boolean, false),
		field("flag_null", arrow.FixedWidthTypes.Boolean, true),
		field("i8", arrow.PrimitiveTypes.Int8, true),
		field("i16", arrow.PrimitiveTypes.Int16, true),
		field("i32", number, false),
		field("i64", arrow.PrimitiveTypes.Int64, false),
		field("u8", arrow.PrimitiveTypes.Uint8, true),
		field("u16", arrow.PrimitiveTypes.Uint16, true),
		field("u32", arrow.PrimitiveTypes.Uint32, true),
		field("u64", arrow.PrimitiveTypes.Uint64, true),
		field("f16", arrow.FixedWidthTypes.Float16, true),
		field("f32", arrow.PrimitiveTypes.Float32, false),
		field("f64", arrow.PrimitiveTypes.Float64, true),
		field("d128", &arrow.Decimal128Type{Precision: 30, Scale: 3}, false),
		field("d256", &arrow.Decimal256Type{Precision: 60, Scale: 0}, true),
		field("day", arrow.FixedWidthTypes.Date32, true),
		field("day_ms", arrow.FixedWidthTypes.Date64, true),
		field("clock_s", arrow.FixedWidthTypes.Time32s, true),
		field("clock_ms", arrow.FixedWidthTypes.Time32ms, true),
		field("clock_us", arrow.FixedWidthTypes.Time64us, true),
		field("at_s", arrow.FixedWidthTypes.Timestamp_s, false),
		field("at_ms", arrow.FixedWidthTypes.Timestamp_ms, true),
		field("at_us", arrow.FixedWidthTypes.Timestamp_us, true),
		field("at_ns", arrow.FixedWidthTypes.Timestamp_ns, true),
		field("local_ms", local(arrow.Millisecond), true),
		field("local_us", local(arrow.Microsecond), true),
		field("word", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: text}, true),
		field("list", arrow.ListOfNonNullable(text), true),
		field("list_null", arrow.ListOf(arrow.PrimitiveTypes.Int64), false),
		field("large_list", arrow.LargeListOfNonNullable(number), false),
		field("pair", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int64), true),
		field("matrix", arrow.ListOf(arrow.ListOf(number)), false),
		field("params", arrow.ListOfNonNullable(arrow.StructOf(field("key", text, false), field("value", arrow.BinaryTypes.Binary, true))), true),
		field("map", arrow.MapOf(text, text), true),
		field("numbered", arrow.MapOf(number, text), false),
		field("nested", arrow.StructOf(
			comment(field("name", text, true), "an inner comment"),
			field("inner", arrow.StructOf(field("n", number, false)), false),
		), true),
		field("nothing", arrow.Null, true),
	}, nil)
}

// TestVectors compares schema and bytes with those of another implementation; see testdata/vectors.py.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Schema any
		Rows   []struct {
			Row  json.RawMessage
			Avro string
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Rows) < 3 {
		t.Fatal(len(file.Rows), err)
	}
	rows, err := New(everyType(), "org.example.Click")
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal([]byte(rows.Schema()), &schema); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file.Schema, schema); diff != "" {
		t.Error(diff)
	}
	var objects [][]byte
	for _, r := range file.Rows {
		objects = append(objects, r.Row)
	}
	all := slices(t, everyType(), append(append([]byte{'['}, bytes.Join(objects, []byte(","))...), ']'))
	e := rows.NewEncoder()
	for _, r := range all {
		dst, ends, err := e.Append([]byte("before"), []int{6}, []byte("head"), r.record)
		if err != nil {
			t.Fatal(err)
		}
		for i, end := range ends[1:] {
			want, err := hex.DecodeString(file.Rows[r.first+i].Avro)
			if err != nil {
				t.Fatal(err)
			}
			if got := dst[ends[i]:end]; !bytes.Equal(got[4:], want) || string(got[:4]) != "head" {
				t.Errorf("row %d of a record from %d:\n%x, want\n%x", i, r.first, got, want)
			}
		}
	}
}

// slice is a record, and which row its first is.
type slice struct {
	record arrow.Record
	first  int
}

// slices returns a record from JSON, and every slice of it.
func slices(t *testing.T, s *arrow.Schema, objects []byte) []slice {
	t.Helper()
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, bytes.NewReader(objects), array.WithUseNumber())
	if err != nil {
		t.Fatal(err)
	}
	var all []slice
	for from := range r.NumRows() {
		for to := from; to <= r.NumRows(); to++ {
			all = append(all, slice{r.NewSlice(from, to), int(from)})
		}
	}
	return all
}
