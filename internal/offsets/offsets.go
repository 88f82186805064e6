// Package offsets checks the offsets of arrays that come from elsewhere: Arrow does not, when it makes an array of buffers.
package offsets

import "fmt"

// Check returns an error if offsets of values do not ascend, or do not lie in size bytes. It reads them from the first on, and few
// behind one that is wrong: where there are fewer than an array says, what follows them in memory hardly goes on as they do.
func Check[T int32 | int64](offsets []T, size int) error {
	const stretch = 1024
	before := T(0)
	for from := 0; from < len(offsets); from += stretch {
		some := offsets[from:min(from+stretch, len(offsets))]
		// The loop has no branch. No difference overflows before the first negative offset, which sets the sign by itself.
		signs, last := T(0), before
		for _, o := range some {
			signs |= o | (o - last)
			last = o
		}
		if signs >= 0 && int64(last) <= int64(size) {
			before = last
			continue
		}
		for i, o := range some {
			switch {
			case int64(o) > int64(size):
				return fmt.Errorf("offset %d is %d, and there are %d bytes", from+i, o, size)
			case o < 0:
				return fmt.Errorf("offset %d is %d", from+i, o)
			case o < before:
				return fmt.Errorf("offset %d is %d, and the one before it %d", from+i, o, before)
			}
			before = o
		}
	}
	return nil
}
