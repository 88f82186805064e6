package main

import (
	"fmt"
	"strconv"
	"strings"
)

// sample is the three ways measured at one place of the stack, each in one unit.
type sample struct {
	round, place                 int
	border, over, without, again float64 // border is the part of over outside of the parser
}

// units are what the program counts of each way, in its order.
const (
	nanoseconds = iota
	cycles
	instructions
	units
)

// read makes shapes of the lines of the program, which says what they are.
func read(text string) ([]shape, error) {
	var shapes []shape
	var samples [units][]sample
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		bad := fmt.Errorf("a line that the program does not write: %q", line)
		if fields[0] == "shape" && len(fields) == 3 {
			batches, err := strconv.Atoi(fields[2])
			if err != nil {
				return nil, bad
			}
			shapes = append(shapes, shape{Name: fields[1], Batches: batches})
			samples = [units][]sample{}
			continue
		}
		values, err := numbers(fields[1:])
		if err != nil || len(shapes) == 0 {
			return nil, bad
		}
		s := &shapes[len(shapes)-1]
		switch {
		case fields[0] == "sample" && len(values) == 2+4*units:
			for u := range units {
				of := func(way int) float64 { return float64(values[2+way*units+u]) }
				samples[u] = append(samples[u], sample{values[0], values[1], of(0), of(1), of(2), of(3)})
			}
		case fields[0] == "faults" && len(values) == 1:
			s.Faults = values[0]
		case fields[0] == "interrupted" && len(values) == 1: // the last line of a shape
			s.Interrupted = values[0]
			if len(samples[nanoseconds]) == 0 {
				return nil, fmt.Errorf("%q has no samples", s.Name)
			}
			s.fill(&samples)
		default:
			return nil, bad
		}
	}
	return shapes, nil
}

func numbers(fields []string) ([]int, error) {
	values := make([]int, len(fields))
	for i, f := range fields {
		var err error
		if values[i], err = strconv.Atoi(f); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// fill makes the figures of the samples.
func (s *shape) fill(samples *[units][]sample) {
	var plain float64
	s.Time, plain = compare(samples[nanoseconds])
	s.Without = plain / 1e3
	if samples[cycles][0].without == 0 {
		return
	}
	c, _ := compare(samples[cycles])
	i, _ := compare(samples[instructions])
	s.Cycles, s.Instructions = &c, &i
}
