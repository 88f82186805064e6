package sinktest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Shape says what random rows are like.
type Shape struct {
	Nulls    float64 // share of nulls where they are allowed
	Empty    float64 // share of empty strings and lists
	MaxText  int     // longest string in bytes, default 40
	MaxList  int     // longest list, default 5
	HugeText int     // if positive, one string in a thousand is that long
	HugeList int     // if positive, one list in a thousand is that long
	Front    string  // what all texts begin with that are not empty
}

// Random makes a record of the given rows. The same seed makes the same record. The column id, if there is
// one, counts from first.
func Random(mem memory.Allocator, s *arrow.Schema, rows int, first int64, seed uint64, shape Shape) arrow.Record {
	if shape.MaxText == 0 {
		shape.MaxText = 40
	}
	if shape.MaxList == 0 {
		shape.MaxList = 5
	}
	g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(first))), Shape: shape}
	b := array.NewRecordBuilder(mem, s)
	defer b.Release()
	for i, f := range s.Fields() {
		for row := range rows {
			if f.Name == "id" {
				b.Field(i).(*array.Int64Builder).Append(first + int64(row))
				continue
			}
			g.append(b.Field(i), f)
		}
	}
	return b.NewRecord()
}

type generator struct {
	*rand.Rand
	Shape
}

func (g *generator) chance(p float64) bool { return g.Float64() < p }

// append adds a random value of a field.
func (g *generator) append(b array.Builder, f arrow.Field) {
	if f.Nullable && g.chance(g.Nulls) {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(g.text(f.Name))
	case *array.LargeStringBuilder:
		b.Append(g.text(f.Name))
	case *array.BinaryBuilder:
		b.Append(g.bytes())
	case *array.FixedSizeBinaryBuilder:
		v := make([]byte, b.Type().(*arrow.FixedSizeBinaryType).ByteWidth)
		for i := range v {
			v[i] = byte(g.Uint32())
		}
		b.Append(v)
	case *array.BooleanBuilder:
		b.Append(g.chance(0.5))
	case *array.ListBuilder:
		b.Append(true)
		elem := f.Type.(*arrow.ListType).ElemField()
		for range g.length(g.MaxList, g.HugeList) {
			g.append(b.ValueBuilder(), elem)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i, field := range f.Type.(*arrow.StructType).Fields() {
			g.append(b.FieldBuilder(i), field)
		}
	default:
		g.appendNumber(b)
	}
}

func (g *generator) appendNumber(b array.Builder) {
	v := g.integer()
	switch b := b.(type) {
	case *array.Int8Builder:
		b.Append(int8(v))
	case *array.Uint8Builder:
		b.Append(uint8(v))
	case *array.Int16Builder:
		b.Append(int16(v))
	case *array.Uint16Builder:
		b.Append(uint16(v))
	case *array.Int32Builder:
		b.Append(int32(v))
	case *array.Uint32Builder:
		b.Append(uint32(v))
	case *array.Int64Builder:
		b.Append(v)
	case *array.Uint64Builder:
		b.Append(uint64(v))
	case *array.Float32Builder:
		b.Append(float32(g.float()))
	case *array.Float64Builder:
		b.Append(g.float())
	case *array.Date32Builder:
		b.Append(arrow.Date32(g.IntN(60000) - 20000))
	case *array.TimestampBuilder:
		perSecond := int64(b.Type().(*arrow.TimestampType).Unit.Multiplier())
		b.Append(arrow.Timestamp((g.Int64N(8e9) - 3e9) * int64(1e9) / perSecond))
	default:
		panic(fmt.Sprintf("sinktest: no random values of type %s", b.Type()))
	}
}

// integer returns small numbers, powers of two and their neighbours, and anything.
func (g *generator) integer() int64 {
	switch g.IntN(4) {
	case 0:
		return g.Int64N(20) - 10
	case 1:
		return int64(1)<<g.IntN(64) - g.Int64N(3)
	case 2:
		return []int64{math.MinInt64, math.MaxInt64, 0, -1}[g.IntN(4)]
	}
	return int64(g.Uint64())
}

func (g *generator) float() float64 {
	switch g.IntN(5) {
	case 0:
		return float64(g.IntN(10))
	case 1:
		return []float64{0, 1e300, -1e-300, 1e21, 1e-7, 123456789}[g.IntN(6)]
	}
	return g.NormFloat64() * 1e3
}

func (g *generator) length(limit, huge int) int {
	switch {
	case huge > 0 && g.chance(0.001):
		return huge
	case g.chance(g.Empty):
		return 0
	}
	return g.IntN(limit + 1)
}

var runes = []rune("abcdefghijklmnopqrstuvwxyzABC0123456789-._~/?#&=%+ \"\\\n\t\r\b\f\x00\x01\x7fäß漢字🎉\u2028\ufeff")

func (g *generator) text(name string) string {
	if name == "repeated_text" {
		return []string{"a", "bb", "", "ccc"}[g.IntN(4)]
	}
	n := g.length(g.MaxText, g.HugeText)
	var out []byte
	if n > 0 {
		out, n = append(out, g.Front...), n+len(g.Front)
	}
	for len(out) < n {
		out = append(out, string(runes[g.IntN(len(runes))])...)
	}
	return string(out)
}

func (g *generator) bytes() []byte {
	n := g.length(g.MaxText, g.HugeText)
	if n == 0 {
		return nil
	}
	out := append(make([]byte, 0, len(g.Front)+n), g.Front...)
	for range n {
		out = append(out, byte(g.Uint32()))
	}
	return out
}
