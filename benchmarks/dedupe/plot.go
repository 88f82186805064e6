package main

import (
	"fmt"

	"github.com/urlmill/urlmill/benchmarks/internal/plot"
)

// The goals: rows a second on the mean, and the share of the first rate that is left at the end.
const (
	goalMean = 400_000
	goalEnd  = 0.8
)

// draw draws the rate of each step beside the goals.
func (r *result) draw(path string) error {
	measured, mean, end := plot.Series{Name: "measured"}, plot.Series{Name: "goal of the mean"}, plot.Series{Name: "goal of the end"}
	for _, s := range r.Steps {
		at := fmt.Sprintf("%g", float64(s.Rows)/1e6)
		measured.Add(at, float64(s.RowsPerSec)/1e3)
		mean.Add(at, goalMean/1e3)
		end.Add(at, goalEnd*float64(r.Steps[0].RowsPerSec)/1e3)
	}
	lines := plot.Lines{
		Title: "duplicates among URLs of files: thousand rows a second", X: "million rows", Series: []plot.Series{measured, mean, end},
	}
	return lines.Write(path)
}
