package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
)

// The kinds of what can go wrong, in the order of the closing line.
var kinds = []string{"crashed", "over_limit", "hung", "leaked", "poisoned"}

// row is what the table says of a format.
type row struct {
	cases, failed, known int
	processes            int
	most                 int64 // bytes of memory
	longest, cpu         time.Duration
}

// cost is what a case took.
type cost struct {
	name         string
	cpu, longest time.Duration
}

// sums counts cases.
type sums struct {
	cases, known, stale int
	by                  map[string]int // faulty cases of a kind
	formats             map[string]*row
	costs               []cost
}

func newSums() *sums { return &sums{by: map[string]int{}, formats: map[string]*row{}} }

func (s *sums) add(c *testCase, v verdict, known bool) {
	f := s.formats[c.format]
	if f == nil {
		f = &row{}
		s.formats[c.format] = f
	}
	f.cases++
	f.processes += v.processes
	f.cpu += v.cpu
	s.costs = append(s.costs, cost{c.name, v.cpu, v.longest})
	f.most, f.longest = max(f.most, v.most), max(f.longest, v.longest)
	if known {
		s.known++
		f.known++
		if len(v.faults) == 0 {
			s.stale++
		}
		return
	}
	s.cases++
	if len(v.faults) > 0 {
		f.failed++
	}
	had := map[string]bool{}
	for _, fault := range v.faults {
		if !had[fault.kind] {
			s.by[fault.kind]++
		}
		had[fault.kind] = true
	}
}

// passed reports whether nothing went wrong but what is known, and all that is known still does.
func (s *sums) passed() bool {
	for _, k := range kinds {
		if s.by[k] > 0 {
			return false
		}
	}
	return s.cases > 0 && s.stale == 0
}

func (s *sums) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nformat\tcases\tprocesses\tfailed\tknown\tmost memory\tlongest\tCPU")
	for _, name := range slices.Sorted(maps.Keys(s.formats)) {
		f := s.formats[name]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d MiB\t%.1fs\t%.1fs\n", name, f.cases, f.processes, f.failed, f.known, f.most>>20, f.longest.Seconds(), f.cpu.Seconds())
	}
	slices.SortFunc(s.costs, func(a, b cost) int { return cmp.Compare(b.cpu, a.cpu) })
	fmt.Fprintln(t, "\nmost CPU\tCPU\tlongest process")
	for _, c := range s.costs[:min(len(s.costs), 20)] {
		fmt.Fprintf(t, "%s\t%.1fs\t%.1fs\n", c.name, c.cpu.Seconds(), c.longest.Seconds())
	}
	_ = t.Flush() // to standard output
	for _, name := range slices.Sorted(maps.Keys(knownCases)) {
		fmt.Fprintf(w, "known, and not counted: %s: %s\n", name, knownCases[name])
	}
}

func (s *sums) closing() string {
	line := fmt.Sprintf("cases=%d", s.cases)
	for _, k := range kinds {
		line += fmt.Sprintf(" %s=%d", k, s.by[k])
	}
	return line
}
