package footprint

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// TestOf measures numbers, and a list of texts without validity, in buffers of 64 bytes each.
func TestOf(t *testing.T) {
	buffer := func(used int) *memory.Buffer {
		b := memory.NewResizableBuffer(memory.DefaultAllocator)
		b.Reserve(64)
		b.ResizeNoShrink(used)
		return b
	}
	words := array.NewData(arrow.BinaryTypes.String, 3, []*memory.Buffer{buffer(1), buffer(16), buffer(10)}, nil, 0, 0)
	columns := []arrow.Array{
		array.MakeFromData(array.NewData(arrow.ListOf(arrow.BinaryTypes.String), 2, []*memory.Buffer{nil, buffer(12)}, []arrow.ArrayData{words}, 0, 0)),
		array.MakeFromData(array.NewData(arrow.PrimitiveTypes.Int64, 2, []*memory.Buffer{buffer(1), buffer(16)}, nil, 0, 0)),
	}
	const used = 1 + 16 + 10 + 12 + 1 + 16
	if got := Of(columns, (*memory.Buffer).Len); got != used {
		t.Errorf("%d bytes are used, want %d", got, used)
	}
	if got := Of(columns, (*memory.Buffer).Cap); got != 6*64 {
		t.Errorf("%d bytes are held, want %d", got, 6*64)
	}
	if got := Of(nil, (*memory.Buffer).Len); got != 0 {
		t.Errorf("nothing takes %d bytes", got)
	}
}
