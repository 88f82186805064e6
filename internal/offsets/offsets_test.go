package offsets

import (
	"math"
	"slices"
	"testing"
)

// TestCheck puts what is wrong in every place of offsets of several lengths, those of a stretch and around it among them.
func TestCheck(t *testing.T) {
	for _, n := range []int{1, 2, 3, 1023, 1024, 1025, 2048, 2500} {
		good := make([]int64, n)
		for i := range good {
			good[i] = int64(10 + i/2*3)
		}
		size := int(good[n-1])
		check(t, good, size, true)
		check(t, good, size-1, false)
		for i := range good {
			if near := i % 1024; n > 100 && near > 2 && near < 1022 && i != n-1 && i%97 != 0 {
				continue
			}
			for _, wrong := range []int64{-1, math.MinInt64, math.MinInt32, math.MaxInt64, good[i] + 1<<40, int64(size) + 1} {
				check(t, replaced(good, i, wrong), size, false)
			}
			if i > 0 && good[i-1] > 0 {
				check(t, replaced(good, i, good[i-1]-1), size, false)
			}
			if n < 100 {
				short := make([]int32, n)
				for k := range good {
					short[k] = int32(good[k])
				}
				check(t, short, size, true)
				for _, wrong := range []int32{-1, math.MinInt32, math.MaxInt32} {
					check(t, replaced(short, i, wrong), size, false)
				}
			}
		}
	}
	check(t, []int32{}, 0, true)
	check(t, []int32{math.MaxInt32, math.MinInt32, math.MaxInt32}, math.MaxInt32, false)
}

func replaced[T any](s []T, i int, v T) []T {
	s = slices.Clone(s)
	s[i] = v
	return s
}

func check[T int32 | int64](t *testing.T, offsets []T, size int, ok bool) {
	t.Helper()
	if err := Check(offsets, size); (err == nil) != ok {
		t.Fatalf("%d offsets in %d bytes: %v", len(offsets), size, err)
	}
}
