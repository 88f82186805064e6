package alloctest

import (
	"runtime"
	"testing"
)

var sink []byte

// failing is a test that notes that it failed, and ends the goroutine as a test does.
type failing struct {
	testing.TB
	failed bool
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(string, ...any) {
	f.failed = true
	runtime.Goexit()
}

func TestBound(t *testing.T) {
	for _, c := range []struct {
		size, allocated int
		fails           bool
	}{{1 << 10, 1 << 20, false}, {1 << 20, 8 << 20, false}, {1 << 10, 8 << 20, true}, {1 << 20, 80 << 20, true}} {
		f, done := &failing{TB: t}, make(chan struct{})
		go func() {
			defer close(done)
			Bound(f, c.size, 10, 2<<20, func() { sink = make([]byte, c.allocated) })
		}()
		<-done
		if f.failed != c.fails {
			t.Errorf("%d bytes for %d of input: failed is %v, want %v", c.allocated, c.size, f.failed, c.fails)
		}
	}
}
