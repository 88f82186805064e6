// Package decoded bounds what a part of a file, such as a page or a record batch, may take when it is decoded.
package decoded

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrTooLarge is the error of a file with a part that would take more memory than the limit.
var ErrTooLarge = errors.New("it would take too much memory")

// The limit without a memory limit of the program, and the least one.
const (
	maxLimit = 1 << 30
	MinLimit = 32 << 20
)

// Limit returns how many bytes a part of a file may take: a quarter of the runtime's memory limit, which memory_limit sets.
func Limit() int64 {
	return max(MinLimit, min(maxLimit, debug.SetMemoryLimit(-1)/4))
}

// TooLarge returns the error for a part that would take n bytes. smaller says what the file should have smaller ones of.
func TooLarge(n, limit int64, smaller string) error {
	return fmt.Errorf("%w: %d MiB when it is decoded, and %d MiB are the limit, a quarter of the program's memory limit, up to 1 GiB; "+
		"write the file with smaller %s, or allow more memory", ErrTooLarge, n>>20, limit>>20, smaller)
}
