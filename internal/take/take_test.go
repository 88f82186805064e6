package take

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// TestTake: the rows are those of the record, of texts around the size that is copied at once, also where they are the last of
// its memory, and of numbers of every width, with nulls and from slices.
func TestTake(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "large", Type: arrow.BinaryTypes.LargeString},
		{Name: "i16", Type: arrow.PrimitiveTypes.Int16, Nullable: true},
		{Name: "i32", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "i64", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	rnd := rand.New(rand.NewPCG(1, 2))
	var taker Taker
	for range 200 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		n := 1 + rnd.IntN(40)
		for i := range n {
			text := strings.Repeat(string(rune('a'+i%26)), rnd.IntN(2*block+2))
			if rnd.IntN(5) == 0 {
				b.Field(0).AppendNull()
				b.Field(2).AppendNull()
				b.Field(3).AppendNull()
			} else {
				b.Field(0).(*array.StringBuilder).Append(text)
				b.Field(2).(*array.Int16Builder).Append(int16(i))
				b.Field(3).(*array.Int32Builder).Append(int32(i))
			}
			b.Field(1).(*array.LargeStringBuilder).Append(text + "!")
			b.Field(4).(*array.Int64Builder).Append(rnd.Int64())
		}
		whole := b.NewRecord()
		from := rnd.IntN(n)
		r := whole.NewSlice(int64(from), int64(n))
		rows := make([]int32, rnd.IntN(60))
		for i := range rows {
			rows[i] = int32(rnd.IntN(n - from))
		}
		taken := taker.Take(r, rows)
		if taken.NumRows() != int64(len(rows)) {
			t.Fatalf("%d rows of %d", taken.NumRows(), len(rows))
		}
		for c := range int(r.NumCols()) {
			for i, row := range rows {
				if got, want := taken.Column(c).ValueStr(i), r.Column(c).ValueStr(int(row)); got != want {
					t.Fatalf("column %d, row %d: %q, want %q", c, row, got, want)
				}
			}
		}
		taken.Release()
		r.Release()
		whole.Release()
	}
}
