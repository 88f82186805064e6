package generate

import (
	"math"
	"testing"
)

func TestAlias(t *testing.T) {
	weights := []float64{5, 0, 1, 3.5, 0.5}
	a := newAlias(weights)
	r := newRNG(1, 2)
	var counts [5]int
	const n = 1000000
	for range n {
		counts[a.draw(&r)]++
	}
	for i, w := range weights {
		if got := float64(counts[i]) / n; math.Abs(got-w/10) > 0.003 {
			t.Errorf("%d: %v, want %v", i, got, w/10)
		}
	}
}
