package arrowtext_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/arrowtext"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

// TestInfinite has numbers that JSON does not have in values of every nested type.
func TestInfinite(t *testing.T) {
	mem := memory.DefaultAllocator
	numbers := array.NewFloat64Builder(mem)
	numbers.AppendValues([]float64{math.Inf(1), math.NaN()}, nil)
	floats := numbers.NewArray()
	of := func(dt arrow.DataType, buffers []*memory.Buffer, length int, children ...arrow.Array) arrow.Array {
		var data []arrow.ArrayData
		for _, c := range children {
			data = append(data, c.Data())
		}
		return array.MakeFromData(array.NewData(dt, length, buffers, data, 0, 0))
	}
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, 2}))
	large := memory.NewBufferBytes(arrow.Int64Traits.CastToBytes([]int64{0, 2}))
	f64 := arrow.PrimitiveTypes.Float64
	list := of(arrow.ListOf(f64), []*memory.Buffer{nil, offsets}, 1, floats)
	record := of(arrow.StructOf(arrow.Field{Name: `a"`, Type: list.DataType()}), []*memory.Buffer{nil}, 1, list)
	field := []arrow.Field{{Name: "a", Type: f64}}
	one := of(arrow.PrimitiveTypes.Int32, []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{1}))}, 1)
	zero := memory.NewBufferBytes(make([]byte, 8))
	keys := of(arrow.PrimitiveTypes.Int32, []*memory.Buffer{nil, zero}, 1)
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: list.DataType()}
	for _, c := range []struct {
		a    arrow.Array
		want string
	}{
		{list, "[+Inf,NaN]"},
		{of(arrow.LargeListOf(f64), []*memory.Buffer{nil, large}, 1, floats), "[+Inf,NaN]"},
		{of(arrow.FixedSizeListOf(2, f64), []*memory.Buffer{nil}, 1, floats), "[+Inf,NaN]"},
		{record, `{"a\"":[+Inf,NaN]}`},
		{of(arrow.SparseUnionOf(field, []arrow.UnionTypeCode{0}), []*memory.Buffer{nil, zero}, 1, floats), "+Inf"},
		{of(arrow.DenseUnionOf(field, []arrow.UnionTypeCode{0}), []*memory.Buffer{nil, zero, zero}, 1, floats), "+Inf"},
		{of(arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, list.DataType()), []*memory.Buffer{nil}, 1, one, list), "[+Inf,NaN]"},
		{array.NewDictionaryArray(dictionary, keys, list), "[+Inf,NaN]"},
	} {
		if got := arrowtext.Value(c.a, 0); got != c.want {
			t.Errorf("%s: %s, want %s", c.a.DataType(), got, c.want)
		}
	}
}

// TestFinite compares with the library's own text, which is the same where numbers are finite.
func TestFinite(t *testing.T) {
	schema := sinktest.AllTypes()
	r := sinktest.Random(memory.DefaultAllocator, schema, 200, 0, 1, sinktest.Shape{Nulls: 0.2, Empty: 0.2})
	for c, a := range r.Columns() {
		for i := range a.Len() {
			want := library(a, i)
			if want == "" || a.IsNull(i) {
				continue
			}
			if got := arrowtext.Value(a, i); got != want && !sameJSON(got, want) {
				t.Fatalf("%s, row %d: %s, want %s", schema.Field(c), i, got, want)
			}
		}
	}
}

// sameJSON reports whether a and b are the same value of JSON, which has several escapes for a character.
func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// library returns the text of Arrow's library, "" where it panics.
func library(a arrow.Array, i int) (text string) {
	defer func() { _ = recover() }()
	return a.ValueStr(i)
}
