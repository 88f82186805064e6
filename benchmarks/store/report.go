package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
)

const (
	goal  = 150 // MB of log a second of a core
	ratio = 2   // times as many as each peer
)

// report is the JSON file.
type report struct {
	results.Head
	Repetitions int       `json:"repetitions"`
	Goal        float64   `json:"goal_mb_per_cpu_s"`
	Ratio       float64   `json:"goal_ratio"`
	Inputs      []input   `json:"inputs,omitempty"`
	Columns     []string  `json:"columns"`
	Results     []result  `json:"results,omitempty"`
	LeftOut     []leftOut `json:"left_out,omitempty"`
	Sinks       []sink    `json:"sinks,omitempty"`
}

// result is a system with a format. All figures are medians. MB are those of the log before compression.
type result struct {
	Format     string             `json:"format"`
	System     string             `json:"system"`
	MBPerCPU   float64            `json:"mb_per_cpu_s"`
	Ratio      float64            `json:"urlmill_ratio"` // urlmill's by this system's
	MBPerS     float64            `json:"mb_per_s"`
	PeakRSSMB  float64            `json:"peak_rss_mb"`
	BytesOfRow float64            `json:"parquet_bytes_per_row"`
	Version    string             `json:"version"`
	All        []float64          `json:"mb_per_cpu_s_of_runs"`
	Shares     map[string]float64 `json:"cpu_shares,omitempty"`
}

type leftOut struct {
	Format string `json:"format"`
	System string `json:"system"`
	Why    string `json:"why"`
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func round(v float64, digits int) float64 {
	unit := math.Pow10(digits)
	return math.Round(v*unit) / unit
}

func (t *task) all(figure func(o outcome) float64) (values []float64) {
	for _, o := range t.outcomes {
		values = append(values, figure(o))
	}
	return values
}

func (t *task) median(figure func(o outcome) float64) float64 { return median(t.all(figure)) }

func (r *report) add(tasks []*task) {
	r.Columns = columnNames
	ours := map[string]float64{}
	for _, t := range tasks {
		if t.left != "" {
			r.LeftOut = append(r.LeftOut, leftOut{t.in.Format, t.system, t.left})
			continue
		}
		mb := float64(t.in.Raw) / 1e6
		rates := t.all(func(o outcome) float64 { return round(mb/o.CPU, 1) })
		res := result{
			Format: t.in.Format, System: t.system, MBPerCPU: median(rates), All: rates,
			MBPerS:     round(mb/t.median(func(o outcome) float64 { return o.Seconds }), 1),
			PeakRSSMB:  round(t.median(func(o outcome) float64 { return o.RSS }), 0),
			BytesOfRow: round(t.median(func(o outcome) float64 { return float64(o.bytes) })/float64(t.in.Rows), 1),
			Version:    t.outcomes[0].Version, Shares: t.shares,
		}
		if t.system == "urlmill" {
			ours[t.in.Format] = res.MBPerCPU
		}
		res.Ratio = round(ours[t.in.Format]/res.MBPerCPU, 2)
		r.Results = append(r.Results, res)
	}
}

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "\n%-10s %-21s %9s %6s %7s %7s %9s  %s\n", "format", "system", "MB/CPU s", "ratio", "MB/s", "RSS MB", "bytes/row", "version")
	for _, x := range r.Results {
		fmt.Fprintf(w, "%-10s %-21s %9.1f %5.2fx %7.1f %7.0f %9.1f  %s\n", x.Format, x.System, x.MBPerCPU, x.Ratio, x.MBPerS, x.PeakRSSMB, x.BytesOfRow, x.Version)
	}
	for _, x := range r.Results {
		if x.Shares == nil {
			continue
		}
		fmt.Fprintf(w, "%s:", x.Format)
		for _, p := range parts {
			fmt.Fprintf(w, " %s %.0f %%,", p.name, x.Shares[p.name]*100)
		}
		fmt.Fprintf(w, " %s %.0f %%\n", rest, x.Shares[rest]*100)
	}
	if len(r.Sinks) > 0 {
		fmt.Fprintf(w, "\n%-26s %-10s %8s %9s %12s\n", "store", "by", "MB/s", "MB/CPU s", "requests/GB")
	}
	for _, x := range r.Sinks {
		fmt.Fprintf(w, "%-26s %-10s %8.0f %9.0f %12.0f\n", x.Store, x.By, x.MBPerS, x.MBPerCPU, x.Requests)
	}
}
