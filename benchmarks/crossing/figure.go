package main

import (
	"fmt"
	"math"
	"slices"
)

// figure is what something adds to what it is compared with, in percent: Added, or where that is not to be told from noise, what it
// is Below.
type figure struct {
	Added float64 `json:"added_percent,omitzero"` // median of the rounds
	Below float64 `json:"below_percent,omitzero"`
	Low   float64 `json:"low"` // the range that has the true median with 95 % at least, if there are 6 rounds or more
	High  float64 `json:"high"`
	Noise float64 `json:"noise,omitzero"` // the same measured twice: the end of that range that is farther from 0
}

func (f figure) String() string {
	text := fmt.Sprintf("%+.2f %% [%+.2f to %+.2f]", f.Added, f.Low, f.High)
	if f.Below > 0 {
		text = fmt.Sprintf("less than %.2f %%, not to be told from noise [%+.2f to %+.2f]", f.Below, f.Low, f.High)
	}
	if f.Noise > 0 {
		text += fmt.Sprintf(" (%.2f)", f.Noise)
	}
	return text
}

// cost is what the border costs in one unit.
type cost struct {
	Border     figure `json:"border"`     // by itself
	Difference figure `json:"difference"` // of over the border and without
}

func (c cost) String() string { return fmt.Sprintf("%s;  difference %s", c.Border, c.Difference) }

// compare returns what the border adds, and what a batch costs without. Rounds have samples at the same places of the stack, which
// matter more than the border: the medians of the places are added up, so that every place counts alike.
func compare(samples []sample) (c cost, plain float64) {
	var border, added, apart, without []float64
	for _, round := range grouped(samples, func(s sample) int { return s.round }) {
		var b, o, w, a, places float64
		for _, place := range grouped(round, func(s sample) int { return s.place }) {
			b += medianOf(place, func(s sample) float64 { return s.border })
			o += medianOf(place, func(s sample) float64 { return s.over })
			w += medianOf(place, func(s sample) float64 { return s.without })
			a += medianOf(place, func(s sample) float64 { return s.again })
			places++
		}
		base := (w + a) / 2
		border = append(border, 100*b/base)
		added = append(added, 100*(o-base)/base)
		apart = append(apart, 100*(a-w)/base)
		without = append(without, base/places)
	}
	c.Border.Added = median(border)
	c.Border.Low, c.Border.High = rangeOf(border)
	c.Difference = told(added, apart)
	return c, median(without)
}

// told returns the figure of what was added in every round, if it can be told from how far the same was apart.
func told(added, apart []float64) (f figure) {
	f.Low, f.High = rangeOf(added)
	low, high := rangeOf(apart)
	f.Noise = max(math.Abs(low), math.Abs(high))
	middle := median(added)
	if (f.Low > 0 || f.High < 0) && math.Abs(middle) > f.Noise {
		f.Added = middle
	} else {
		f.Below = max(math.Abs(f.Low), math.Abs(f.High), f.Noise)
	}
	return f
}

// grouped returns the samples of every key, in the order of the keys.
func grouped(samples []sample, key func(sample) int) [][]sample {
	groups := map[int][]sample{}
	var keys []int
	for _, s := range samples {
		k := key(s)
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], s)
	}
	slices.Sort(keys)
	out := make([][]sample, len(keys))
	for i, k := range keys {
		out[i] = groups[k]
	}
	return out
}

func medianOf(samples []sample, value func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = value(s)
	}
	return median(values)
}

// median returns the median of values, of which there is one at least.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// rangeOf returns the two values between which the median of what the values were drawn from lies with 95 % at least, whatever its
// distribution is: the narrowest such pair that leaves out as many at both ends. With fewer than six values there is none, and
// the least and the largest are returned.
func rangeOf(values []float64) (low, high float64) {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	out, outside, ways := 0, 0.0, math.Pow(0.5, float64(n)) // ways: how likely exactly out values are below the median
	for {
		outside += 2 * ways
		if outside > 0.05 {
			break
		}
		ways *= float64(n-out) / float64(out+1)
		out++
	}
	out = max(out-1, 0)
	return v[out], v[n-1-out]
}
