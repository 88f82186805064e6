// Package alloctest has tests fail on memory: an input must not make its decoder allocate far more than it has bytes.
package alloctest

import (
	"runtime/metrics"
	"testing"
)

// Bytes returns how many bytes are allocated while f runs, by all goroutines. Small objects count by the spans that they fill, so
// that some hundred KiB may be missing or too many; [runtime.ReadMemStats] would be exact, and stops everything for a hundred times
// as long, which is most of the time of a fuzz target.
func Bytes(f func()) uint64 {
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(allocated)
	before := allocated[0].Value.Uint64()
	f()
	metrics.Read(allocated)
	return allocated[0].Value.Uint64() - before
}

// Bound runs f, which decodes an input of size bytes, and fails the test if it allocates more than fixed bytes and perByte more
// for every byte of the input. What is freed meanwhile counts as well.
func Bound(tb testing.TB, size, perByte, fixed int, f func()) {
	tb.Helper()
	if got, most := Bytes(f), uint64(size)*uint64(perByte)+uint64(fixed); got > most {
		tb.Fatalf("%d bytes of input allocated %d, and %d are the bound", size, got, most)
	}
}
