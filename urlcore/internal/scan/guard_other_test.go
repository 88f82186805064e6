//go:build !unix

package scan

import "testing"

// guarded returns n bytes twice. No page is guarded here: what a kernel touches beyond its input goes unnoticed, and its
// results are tested all the same.
func guarded(t testing.TB, n int) (atEnd, atStart []byte) {
	t.Helper()
	return make([]byte, n), make([]byte, n)
}
