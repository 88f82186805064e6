// Package alloctest has tests fail on memory: an input must not make its decoder allocate far more than it has bytes.
package alloctest

import (
	"runtime"
	"testing"
)

// Bytes returns how many bytes are allocated while f runs, by all goroutines.
func Bytes(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Bound runs f, which decodes an input of size bytes, and fails the test if it allocates more than fixed bytes and perByte more
// for every byte of the input. What is freed meanwhile counts as well.
func Bound(tb testing.TB, size, perByte, fixed int, f func()) {
	tb.Helper()
	if got, most := Bytes(f), uint64(size)*uint64(perByte)+uint64(fixed); got > most {
		tb.Fatalf("%d bytes of input allocated %d, and %d are the bound", size, got, most)
	}
}
