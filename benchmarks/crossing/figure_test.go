package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// rounds makes samples of a border that adds so much (1 is 100 %), on a stack whose places cost up to 3 % more and other ones for each
// way, on a machine that varies by so much, and now and then stops a sample for long.
func rounds(n int, added, noise float64) []sample {
	r := rand.New(rand.NewPCG(1, 2))
	cost := func(place int) float64 {
		v := 5e6 * (1 + 0.03*float64(place%8)/8) * (1 + noise*r.NormFloat64())
		if r.IntN(15) == 0 {
			v *= 3
		}
		return v
	}
	var samples []sample
	for round := range n {
		for i := range 8 * 9 {
			samples = append(samples, sample{round, i % 8, cost(0) * added, cost(i+5) * (1 + added), cost(i), cost(i)})
		}
	}
	return samples
}

func TestCompare(t *testing.T) {
	c, plain := compare(rounds(9, 0.006, 0.002))
	if b := c.Border; math.Abs(b.Added-0.6) > 0.03 || b.Low > b.Added || b.High < b.Added || b.High-b.Low > 0.01 {
		t.Errorf("%+v, want 0.6 %%", b)
	}
	f := c.Difference
	if math.Abs(f.Added-0.6) > 0.15 || f.Below != 0 || f.Low > f.Added || f.High < f.Added || f.Noise > 0.3 {
		t.Errorf("%+v, want 0.6 %%", f)
	}
	if math.Abs(plain/5e6-1.013) > 0.01 {
		t.Errorf("%f without", plain)
	}
	if got := f.String(); !strings.HasPrefix(got, "+0.") {
		t.Error(got)
	}
}

// There is no figure where the same measured twice differs by as much, and a bound that the truth keeps.
func TestNoise(t *testing.T) {
	for name, samples := range map[string][]sample{"no difference": rounds(9, 0, 0.002), "a noisy machine": rounds(9, 0.002, 0.03)} {
		c, _ := compare(samples)
		f := c.Difference
		if f.Added != 0 || f.Below < 0.01 || f.Below > 3 {
			t.Errorf("%s: %+v", name, f)
		}
		if got := f.String(); !strings.Contains(got, "not to be told from noise") {
			t.Errorf("%s: %s", name, got)
		}
	}
	c, _ := compare(rounds(9, 0.002, 0.03))
	if c.Difference.Below < 0.2 {
		t.Errorf("%+v: less than what the border adds", c.Difference)
	}
	if math.Abs(c.Border.Added-0.2) > 0.02 {
		t.Errorf("%+v, want 0.2 %%", c.Border)
	}
}

func TestRangeOf(t *testing.T) {
	for _, c := range []struct {
		values, low, high int
	}{{1, 1, 1}, {5, 1, 5}, {6, 1, 6}, {8, 1, 8}, {9, 2, 8}, {12, 3, 10}, {20, 6, 15}} {
		var values []float64
		for i := range c.values {
			values = append(values, float64(c.values-i))
		}
		if low, high := rangeOf(values); int(low) != c.low || int(high) != c.high {
			t.Errorf("%d values: %v to %v, want %d to %d", c.values, low, high, c.low, c.high)
		}
	}
}

func TestRead(t *testing.T) {
	shapes, err := read("shape\ta b\t8\nsample\t0\t0\t1\t4\t6\t103\t206\t309\t100\t200\t300\t100\t200\t300\nfaults\t2\ninterrupted\t7\n" +
		"shape\tc\t1\nsample\t0\t0\t5\t0\t0\t1010\t0\t0\t1000\t0\t0\t1000\t0\t0\nfaults\t0\ninterrupted\t0\n")
	if err != nil {
		t.Fatal(err)
	}
	a, c := shapes[0], shapes[1]
	if len(shapes) != 2 || a.Name != "a b" || a.Batches != 8 || a.Faults != 2 || a.Interrupted != 7 || a.Without != 0.1 ||
		a.Time.Border.Added != 1 || a.Cycles.Border.Added != 2 || a.Instructions.Border.Added != 2 ||
		a.Time.Difference.Added != 3 || a.Cycles.Difference.Added != 3 || a.Instructions.Difference.Added != 3 {
		t.Errorf("%+v", a)
	}
	if c.Cycles != nil || c.Instructions != nil || c.Time.Border.Added != 0.5 || c.Time.Difference.Added != 1 {
		t.Errorf("%+v: there are no counters", c)
	}
	for _, text := range []string{"sample\t0\t0\t1\t1\t1\t1\t1\t1\t1\t1\t1\n", "shape\ta\t1\nsample\t0\n", "shape\ta\tx\n", "shape\ta\t1\ninterrupted\t0\n", "?\n"} {
		if _, err := read(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
