package processor

import (
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
)

// lease gives a workspace back when nobody refers to any buffer of its record any more. Arrow counts the references of
// every buffer and tells its allocator when there is none left; the lease stands in the place of the allocator.
type lease struct {
	processor   *Processor
	workspace   *workspace
	urls, bases arrow.ArrayData // retained: the record may share their memory; bases may be nil
	buffers     atomic.Int64    // that have not been freed
}

// Free implements memory.Allocator.
func (l *lease) Free([]byte) {
	if l.buffers.Add(-1) == 0 {
		l.end()
	}
}

// Allocate implements memory.Allocator. Nobody calls it: buffers are not mutable.
func (*lease) Allocate(size int) []byte { return make([]byte, size) }

// Reallocate implements memory.Allocator. Nobody calls it.
func (*lease) Reallocate(size int, b []byte) []byte {
	return append(make([]byte, 0, size), b...)[:size]
}

// keep retains the input: the column url or base_url may be its text.
func (l *lease) keep(urls, bases arrow.Array) {
	l.urls = urls.Data()
	l.urls.Retain()
	if bases != nil {
		l.bases = bases.Data()
		l.bases.Retain()
	}
}

func (l *lease) end() {
	w := l.workspace
	l.workspace = nil
	if l.urls != nil {
		l.urls.Release()
	}
	if l.bases != nil {
		l.bases.Release()
	}
	l.processor.returned(w)
}
