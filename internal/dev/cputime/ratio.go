package cputime

import "time"

const (
	tries  = 5
	passes = 5
	// floor is what is too short to be measured well.
	floor = 300 * time.Microsecond
)

// Ratio returns how many times the CPU time of n calls of part one call of whole takes. Of each the least of a few counts, and
// where the ratio is larger than most, all of that is tried again: what else the machine does makes it larger now and then, what
// the program does makes it larger every time.
func Ratio(most float64, n int, part, whole func()) (ratio float64) {
	for range tries {
		parts := least(func() {
			for range n {
				part()
			}
		})
		ratio = float64(least(whole)) / float64(max(parts, floor))
		if ratio <= most {
			break
		}
	}
	return ratio
}

// least returns the least CPU time of some calls.
func least(f func()) time.Duration {
	best := time.Duration(1<<63 - 1)
	for range passes {
		start := Used()
		f()
		best = min(best, Used()-start)
	}
	return best
}
