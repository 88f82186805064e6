//go:build unix

package scan

import (
	"syscall"
	"testing"
)

// guarded returns n bytes behind which, or in front of which, the next page may not be touched.
func guarded(t testing.TB, n int) (atEnd, atStart []byte) {
	t.Helper()
	page := syscall.Getpagesize()
	inner := (n + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(all) })
	for _, guard := range [][]byte{all[:page], all[page+inner:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return all[page+inner-n : page+inner : page+inner], all[page : page+n : page+n]
}
