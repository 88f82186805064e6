package cputime

import (
	"testing"
	"time"
)

var sink int

// steps does so many steps of work.
func steps(n int) {
	x := sink // the race detector looks at every use of a shared variable
	for i := range n {
		x += i*x + 1
	}
	sink = x
}

// TestUsed: waiting costs nothing, and work does.
func TestUsed(t *testing.T) {
	start, began := Used(), time.Now()
	for Used()-start < 20*time.Millisecond {
		steps(1000)
		if time.Since(began) > 5*time.Minute {
			t.Fatalf("the CPU time is %v after minutes of work", Used()-start)
		}
	}
}

// TestRatio: linear work is told from quadratic work.
func TestRatio(t *testing.T) {
	const n, small = 16, 100_000
	if r := Ratio(4, n, func() { steps(small) }, func() { steps(n * small) }); r > 4 {
		t.Errorf("linear work: %.1f", r)
	}
	if r := Ratio(4, n, func() { steps(small) }, func() { steps(n * n * small) }); r <= 4 {
		t.Errorf("quadratic work: %.1f", r)
	}
}
