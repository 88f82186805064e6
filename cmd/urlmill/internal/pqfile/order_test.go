package pqfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// twosComplement returns n in its least number of bytes, with more in front.
func twosComplement(n int64, more int) []byte {
	fill := byte(0)
	if n < 0 {
		fill = 0xff
	}
	number := binary.BigEndian.AppendUint64(nil, uint64(n))
	for len(number) > 1 && number[0] == fill && (number[1] >= 0x80) == (n < 0) {
		number = number[1:]
	}
	return append(bytes.Repeat([]byte{fill}, more), number...)
}

func TestSignedOrder(t *testing.T) {
	numbers := []int64{math.MinInt64, -1 << 40, -32769, -32768, -257, -256, -255, -129, -128, -127, -1, 0, 1, 127, 128, 129, 255, 256, 32767, 32768, 1 << 40, math.MaxInt64}
	for _, a := range numbers {
		for _, b := range numbers {
			for more := range 3 {
				x, y := parquet.ByteArrayValue(twosComplement(a, more)), parquet.ByteArrayValue(twosComplement(b, 2-more))
				if got, want := cmp.Compare(compareSigned(x, y), 0), big.NewInt(a).Cmp(big.NewInt(b)); got != want {
					t.Errorf("%d and %d with %d bytes in front: %d, want %d", a, b, more, got, want)
				}
			}
		}
	}
	if compareSigned(parquet.ByteArrayValue(nil), parquet.ByteArrayValue([]byte{0, 0})) != 0 {
		t.Error("no bytes are not zero")
	}
}

func TestFloat16(t *testing.T) {
	for bits, want := range map[uint16]float64{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0400: math.Ldexp(1, -14), 0x0001: math.Ldexp(1, -24), 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	} {
		if got := float16(parquet.FixedLenByteArrayValue(binary.LittleEndian.AppendUint16(nil, bits))); got != want {
			t.Errorf("%#04x is %v, want %v", bits, got, want)
		}
	}
	for _, b := range [][]byte{{0x01, 0x7c}, {0, 0xfe}, {1}} {
		if got := float16(parquet.FixedLenByteArrayValue(b)); !math.IsNaN(got) {
			t.Errorf("%x is %v", b, got)
		}
	}
}

// TestCheckKnowsOrders makes files whose bounds are those of numbers and not of their bytes, as Arrow and Spark write them.
func TestCheckKnowsOrders(t *testing.T) {
	decimal := parquet.Decimal(2, 9, parquet.FixedLenByteArrayType(4))
	big4 := func(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	half := func(bits uint16) []byte { return binary.LittleEndian.AppendUint16(nil, bits) }
	for name, c := range map[string]struct {
		node      parquet.Node
		values    [][]byte
		low, high []byte
		logical   format.LogicalTypeValue // what node cannot say
		wrong     bool
	}{
		"decimal":        {node: decimal, values: [][]byte{big4(123), big4(-9999), big4(5)}, low: big4(-9999), high: big4(123)},
		"wrong decimal":  {node: decimal, values: [][]byte{big4(123), big4(-9999)}, low: big4(123), high: big4(-9999), wrong: true},
		"float16":        {node: parquet.Leaf(parquet.FixedLenByteArrayType(2)), values: [][]byte{half(0x3c00), half(0xc000), half(0x7e00)}, low: half(0xc000), high: half(0x3c00), logical: new(format.Float16Type)},
		"bytes":          {node: parquet.Leaf(parquet.FixedLenByteArrayType(2)), values: [][]byte{{0, 1}, {0xff, 0}}, low: []byte{0, 1}, high: []byte{0xff, 0}},
		"signed bytes":   {node: parquet.Leaf(parquet.FixedLenByteArrayType(2)), values: [][]byte{{0, 1}, {0xff, 0}}, low: []byte{0xff, 0}, high: []byte{0, 1}, wrong: true},
		"without orders": {node: parquet.Leaf(parquet.FixedLenByteArrayType(1)), values: [][]byte{{1}, {2}}, low: []byte{9}, high: []byte{0}, logical: new(format.GeometryType)},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w := parquet.NewWriter(&b, parquet.NewSchema("x", parquet.Group{"v": c.node}), parquet.DataPageStatistics(false))
			for _, v := range c.values {
				if _, err := w.WriteRows([]parquet.Row{{parquet.FixedLenByteArrayValue(v).Level(0, 0, 0)}}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			_, m := footerOf(t, b.Bytes())
			chunk := &m.RowGroups[0].Columns[0]
			chunk.MetaData.Statistics.MinValue, chunk.MetaData.Statistics.MaxValue = c.low, c.high
			chunk.ColumnIndexOffset, chunk.ColumnIndexLength = 0, 0
			if c.logical != nil {
				m.Schema[1].LogicalType = format.LogicalType{Value: c.logical}
			}
			report := check(t, withFooter(t, b.Bytes(), m))
			if found := strings.Contains(strings.Join(report.Problems, "\n"), "its statistics say that the m"); found != c.wrong {
				t.Errorf("problems: %q", report.Problems)
			}
		})
	}
}
