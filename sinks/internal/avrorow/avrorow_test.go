package avrorow

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/sinks/sinktest"
)

func one(name string, t arrow.DataType) *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: name, Type: t}}, nil)
}

// TestRefused: what has no form is refused, with what would be right.
func TestRefused(t *testing.T) {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	structOf := func(name string) arrow.DataType { return arrow.StructOf(arrow.Field{Name: name, Type: number}) }
	for want, s := range map[string]*arrow.Schema{
		`column "utm-source": a name in Avro has letters of ASCII, digits and _, and begins with no digit; columns.rename can call it utm_source`: one("utm-source", text),
		"columns.rename can call it _2nd":                                        one("2nd", text),
		"columns.rename can call it gr__e":                                       one("größe", text),
		"columns.rename can call it _":                                           one("", text),
		`column a: its field "x y": a name in Avro`:                              one("a", structOf("x y")),
		"column a: its field z is there twice":                                   one("a", arrow.StructOf(arrow.Field{Name: "z", Type: text}, arrow.Field{Name: "z", Type: text})),
		"column a: the type duration[ns] has no form in Avro":                    one("a", arrow.FixedWidthTypes.Duration_ns),
		"column a: the type time64[ns] has no form in Avro":                      one("a", arrow.ListOf(arrow.FixedWidthTypes.Time64ns)),
		"column a: decimals have a scale from 0 to their precision, 5":           one("a", &arrow.Decimal128Type{Precision: 5, Scale: -1}),
		"column a: the type dictionary<values=list":                              one("a", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.ListOf(text)}),
		"column b: its type would be called Row_a_b, as is that of a.b: rename ": arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.StructOf(arrow.Field{Name: "b", Type: structOf("c")})}, {Name: "a_b", Type: structOf("c")}}, nil),
	} {
		want = strings.Replace(want, "column b: its type", "column a_b: its type", 1)
		if _, err := New(s, "Row"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, name := range []string{"", "a b", "a..b", ".a", "a.", "1a", "a.2", "a-b"} {
		if _, err := New(one("a", text), name); err == nil {
			t.Errorf("%q is taken as a name", name)
		}
	}
	two := arrow.NewSchema([]arrow.Field{{Name: "a-b", Type: text}, {Name: "c", Type: arrow.FixedWidthTypes.Duration_s}}, nil)
	if _, err := New(two, "Row"); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two problems: %v", err)
	}
}

// TestImpossibleValues: a value that its column's type does not allow is an error and not another value.
func TestImpossibleValues(t *testing.T) {
	for want, test := range map[string]struct {
		typ   arrow.DataType
		value func(array.Builder)
	}{
		"column a: a null":              {arrow.BinaryTypes.String, func(b array.Builder) { b.AppendNull() }},
		"column a: a null, and":         {&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, func(b array.Builder) { b.AppendNull() }},
		"column a: a time in seconds":   {arrow.FixedWidthTypes.Timestamp_s, func(b array.Builder) { b.(*array.TimestampBuilder).Append(math.MaxInt64) }},
		"column a: a time in seconds t": {arrow.FixedWidthTypes.Timestamp_s, func(b array.Builder) { b.(*array.TimestampBuilder).Append(math.MinInt64) }},
		"column a: a date that":         {arrow.FixedWidthTypes.Date64, func(b array.Builder) { b.(*array.Date64Builder).Append(math.MinInt64) }},
	} {
		s := one("a", test.typ)
		rows, err := New(s, "Row")
		if err != nil {
			t.Fatal(err)
		}
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		test.value(b.Field(0))
		e := rows.NewEncoder()
		if _, _, err := e.Append(nil, nil, nil, b.NewRecord()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, _, err := e.Append(nil, nil, nil, b.NewRecord()); err != nil { // of no rows
			t.Errorf("the error stays: %v", err)
		}
	}
}

// TestNullsBehindNulls: what is below a null is of no account.
func TestNullsBehindNulls(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "a", Nullable: true, Type: arrow.StructOf(arrow.Field{Name: "b", Type: arrow.BinaryTypes.String})}}, nil)
	rows, err := New(s, "Row")
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	b.Field(0).AppendNull()
	if got, _, err := rows.NewEncoder().Append(nil, nil, nil, b.NewRecord()); err != nil || string(got) != "\x00" {
		t.Errorf("%x %v", got, err)
	}
}

// TestSame: another's schema is the same when its bytes are.
func TestSame(t *testing.T) {
	rows, err := New(everyType(), "org.example.Click")
	if err != nil {
		t.Fatal(err)
	}
	text := rows.Schema()
	for _, alike := range [][2]string{
		{"", ""},
		{`"doc":"a comment"`, `"doc":"another","aliases":["old"],"default":"none","x":[1]`},
		{`"name":"Click","namespace":"org.example"`, `"name":"org.example.Click","doc":"rows"`},
		{`"doc":"a comment"`, `"order":"ignore"`},
	} {
		if other := strings.Replace(text, alike[0], alike[1], 1); !rows.Same(other) {
			t.Errorf("with %s it is another", alike[1])
		}
	}
	for _, different := range [][2]string{
		{`"name":"Click"`, `"name":"Visit"`},
		{`"namespace":"org.example"`, `"namespace":"org"`},
		{`{"name":"i32","type":"int"}`, `{"name":"i32","type":"long"}`},
		{`{"name":"i32","type":"int"},`, ``},
		{`"name":"i32"`, `"name":"i33"`},
		{`["null","long"]`, `["long","null"]`},
		{`"timestamp-millis"`, `"timestamp-micros"`},
		{`"precision":30,"scale":3`, `"precision":30,"scale":2`},
		{`"size":3`, `"size":4`},
		{`{"type":"map","values":["null","string"]}`, `{"type":"map","values":["null","bytes"]}`},
		{`{"type":"array","items":"string"}`, `"string"`},
		{text, `"string"`},
		{text, `no schema`},
	} {
		other := strings.Replace(text, different[0], different[1], 1)
		if other == text {
			t.Errorf("%s is not there", different[0])
		}
		if rows.Same(other) {
			t.Errorf("with %s it is the same", different[1])
		}
	}
}

// TestAllocations: rows cost no memory beyond that of their bytes.
func TestAllocations(t *testing.T) {
	for _, s := range []*arrow.Schema{sinktest.AllTypes(), sinktest.Clicks()} {
		rows, err := New(s, "Row")
		if err != nil {
			t.Fatal(err)
		}
		e := rows.NewEncoder()
		r := sinktest.Random(memory.DefaultAllocator, s, 1000, 0, 1, sinktest.Shape{Nulls: 0.1})
		dst, ends, _ := e.Append(nil, nil, nil, r)
		if got := testing.AllocsPerRun(20, func() {
			dst, ends, err = e.Append(dst[:0], ends[:0], []byte("12345"), r)
		}); got != 0 || err != nil {
			t.Errorf("%v allocations for 1000 rows, %v", got, err)
		}
	}
}

// TestDictionaries: an entry is null by its index or by its value, and indexes have every size.
func TestDictionaries(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.Append("a")
	b.AppendNull()
	words := b.NewArray()
	for _, index := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
	} {
		typ := &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}
		indexes, _, err := array.FromJSON(memory.DefaultAllocator, index, strings.NewReader("[1, null, 0]"))
		if err != nil {
			t.Fatal(err)
		}
		for nullable, want := range map[bool]string{true: "\x00\x00\x02\x02a", false: "\x02a"} {
			s := arrow.NewSchema([]arrow.Field{{Name: "a", Type: typ, Nullable: nullable}}, nil)
			rows, err := New(s, "Row")
			if err != nil {
				t.Fatal(err)
			}
			var r arrow.Record = array.NewRecord(s, []arrow.Array{array.NewDictionaryArray(typ, indexes, words)}, 3)
			e := rows.NewEncoder()
			if !nullable {
				if _, _, err := e.Append(nil, nil, nil, r.NewSlice(0, 1)); err == nil {
					t.Errorf("%s: a null value is taken", index)
				}
				r = r.NewSlice(2, 3)
			}
			if got, _, err := e.Append(nil, nil, nil, r); err != nil || string(got) != want {
				t.Errorf("%s: %x, want %x, %v", index, got, want, err)
			}
		}
	}
}

// TestDaysOfMilliseconds: a time of a day is that day, before 1970 as well.
func TestDaysOfMilliseconds(t *testing.T) {
	const perDay = 24 * 60 * 60 * 1000
	s := one("a", arrow.FixedWidthTypes.Date64)
	rows, err := New(s, "Row")
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for _, millis := range []int64{-perDay - 1, -perDay, -1, 0, perDay - 1, perDay} {
		b.Field(0).(*array.Date64Builder).Append(arrow.Date64(millis))
	}
	if got, _, err := rows.NewEncoder().Append(nil, nil, nil, b.NewRecord()); err != nil || string(got) != "\x03\x01\x01\x00\x00\x02" {
		t.Errorf("%x %v", got, err)
	}
}
