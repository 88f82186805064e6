package database

import (
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

// TestMemory has lanes hold half of their memory together: each of them is to be loaded then, however little it has itself, and
// what is loaded or given up makes room.
func TestMemory(t *testing.T) {
	f := &fake{next: pipeline.Unknown}
	s, first := open(t, f, Options{Memory: 1 << 20})
	second, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks", Partition: 1})
	if err != nil {
		t.Fatal(err)
	}
	write := func(w pipeline.Writer, n int64, rows int) {
		t.Helper()
		if err := w.Write(t.Context(), pipeline.Rows, record(make([]int64, rows)...), pipeline.Span{First: n, Next: n + 1}); err != nil {
			t.Fatal(err)
		}
	}
	write(first, 0, 10)
	if first.Size().Full {
		t.Error("the first lane is full of ten rows")
	}
	write(second, 0, 100_000)
	if !first.Size().Full || !second.Size().Full {
		t.Errorf("%d bytes are held, and the lanes are full: %t, %t", s.held.Load(), first.Size().Full, second.Size().Full)
	}
	if _, err := second.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if first.Size().Full {
		t.Error("the first lane is full after the load of the second")
	}
	write(second, 1, 100_000)
	if err := second.Abandon(); err != nil {
		t.Fatal(err)
	}
	if first.Size().Full || s.held.Load() != first.Size().Bytes {
		t.Errorf("%d bytes are held after the second lane was given up, %d of the first", s.held.Load(), first.Size().Bytes)
	}
}
