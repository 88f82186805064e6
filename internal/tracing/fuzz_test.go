package tracing

import (
	"testing"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/pipeline"
)

// FuzzLinks reads the trace contexts of records, which anybody may have written.
func FuzzLinks(f *testing.F) {
	f.Add([]byte("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), []byte("a=b,c@d=e"))
	f.Add([]byte("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"), []byte("=,,"))
	f.Add([]byte("00-00000000000000000000000000000000-0000000000000000-00"), []byte{})
	f.Fuzz(func(t *testing.T, parent, state []byte) {
		b := &pipeline.Batch{}
		for range 2 {
			for _, h := range []struct {
				name  string
				value []byte
			}{{"traceparent", parent}, {"tracestate", state}} {
				b.Headers.Keys.Append([]byte(h.name))
				b.Headers.Values.Append(h.value)
			}
			b.Headers.EndRow()
		}
		alloctest.Bound(t, len(parent)+len(state), 256, 1<<20, func() {
			found := links(b)
			if len(found) > 1 {
				t.Fatalf("%d links of one context", len(found))
			}
			for _, l := range found {
				if !l.SpanContext.IsValid() {
					t.Fatalf("%q: %+v", parent, l.SpanContext)
				}
			}
		})
	})
}
