package main

import (
	"fmt"
	"runtime"
	"slices"
)

// result is what was measured of a system with a codec.
type result struct {
	aside      bool
	Profile    string  `json:"profile"`
	System     string  `json:"system"`
	Codec      string  `json:"codec"`
	Cores      int     `json:"cores"`
	RowsPerS   float64 `json:"rows_per_s"`     // by the median
	RowsPerMax float64 `json:"rows_per_s_max"` // by the fastest repetition
	NsPerRow   float64 `json:"ns_per_row"`     // the median
	OutBytes   int64   `json:"out_bytes"`
	BytesRow   float64 `json:"bytes_per_row"`
	AllocsRow  float64 `json:"allocs_per_row"`
	Version    string  `json:"version,omitempty"`
}

// measure lets the systems take turns, after a pass of each to warm up. The time that counts is that of the CPU, and with
// wall that of the clock.
func measure(t *table, systems []system, codec string, repetitions int, wall bool) ([]result, error) {
	systems = slices.DeleteFunc(slices.Clone(systems), func(s system) bool { return s.codec != "" && s.codec != codec })
	results := make([]result, len(systems))
	times := make([][]float64, len(systems))
	rows := float64(t.rows)
	for round := range repetitions + 1 {
		for i, s := range systems {
			p, err := s.pass(codec)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", s.name, codec, err)
			}
			if round == 0 {
				continue
			}
			took := p.CPU
			if wall {
				took = p.Wall
			}
			times[i] = append(times[i], float64(took.Nanoseconds())/rows)
			results[i] = result{
				aside: s.aside, Profile: t.profile, System: s.name, Codec: codec, Cores: runtime.GOMAXPROCS(0), Version: s.version,
				OutBytes: p.Bytes, BytesRow: float64(p.Bytes) / rows, AllocsRow: float64(p.Mallocs) / rows,
			}
		}
	}
	for i := range results {
		slices.Sort(times[i])
		results[i].NsPerRow = times[i][len(times[i])/2]
		results[i].RowsPerS = 1e9 / results[i].NsPerRow
		results[i].RowsPerMax = 1e9 / times[i][0]
	}
	return results, nil
}
