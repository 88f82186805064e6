package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
)

// report is the JSON file.
type report struct {
	results.Head
	Rows        int64     `json:"rows"`
	InputBytes  int64     `json:"input_bytes"`
	Columns     []string  `json:"columns"`
	Repetitions int       `json:"repetitions"`
	Results     []result  `json:"results"`
	LeftOut     []leftOut `json:"left_out,omitempty"`
}

// result is a system with a job. All figures are medians over the repetitions, but for the range.
type result struct {
	Job         string             `json:"job"`
	System      string             `json:"system"`
	Codec       string             `json:"codec"`
	RowsPerS    float64            `json:"rows_per_s"`
	CPUNsPerRow float64            `json:"cpu_ns_per_row"`
	BrokerNs    float64            `json:"broker_cpu_ns_per_row,omitempty"` // of the broker meanwhile, on the same cores
	PeakRSSMB   float64            `json:"peak_rss_mb"`
	OutBytes    int64              `json:"out_bytes"`
	Rows        int64              `json:"rows"`
	RowsPerSMin float64            `json:"rows_per_s_min"`
	RowsPerSMax float64            `json:"rows_per_s_max"`
	Speedup     float64            `json:"urlmill_speedup"` // rows a second of urlmill by those of this system
	Stages      map[string]float64 `json:"cpu_ns_per_row_by_stage,omitempty"`
	Version     string             `json:"version"`
}

type leftOut struct {
	Job    string `json:"job"`
	System string `json:"system"`
	Why    string `json:"why"`
}

func median[T int64 | float64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted)%2 == 0 {
		return (sorted[len(sorted)/2-1] + sorted[len(sorted)/2]) / 2
	}
	return sorted[len(sorted)/2]
}

// collect returns a figure of every run.
func (t *task) collect(figure func(o outcome) float64) []float64 {
	var out []float64
	for _, o := range t.outcomes {
		out = append(out, figure(o))
	}
	return out
}

// medianCPU is in ns per row.
func (t *task) medianCPU() float64 {
	return median(t.collect(func(o outcome) float64 { return o.CPU * 1e9 / float64(o.Rows) }))
}

func newReport(b *bench, tasks []*task) *report {
	r := &report{
		Head: results.NewHead(), Rows: b.rows, Columns: columnNames, Repetitions: b.repetitions,
	}
	files, _ := inputs(filepath.Join(b.dir, "in"))
	for _, name := range files {
		if info, err := os.Stat(name); err == nil {
			r.InputBytes += info.Size()
		}
	}
	ours := map[string]float64{}
	for _, t := range tasks {
		if t.left != "" {
			r.LeftOut = append(r.LeftOut, leftOut{t.job.Kind, t.system, t.left})
			continue
		}
		rates := t.collect(func(o outcome) float64 { return float64(o.Rows) / o.Seconds })
		res := result{
			Job: t.job.Kind, System: t.system, Codec: t.job.Codec, Rows: t.outcomes[0].Rows, Version: t.outcomes[0].Version,
			RowsPerS: math.Round(median(rates)), CPUNsPerRow: round1(t.medianCPU()), OutBytes: median(t.bytes),
			BrokerNs:    round1(median(t.collect(func(o outcome) float64 { return o.broker * 1e9 / float64(o.Rows) }))),
			PeakRSSMB:   round1(median(t.collect(func(o outcome) float64 { return o.RSS }))),
			RowsPerSMin: math.Round(slices.Min(rates)), RowsPerSMax: math.Round(slices.Max(rates)),
		}
		if t.stages != nil {
			res.Stages = map[string]float64{}
			for name, ns := range t.stages {
				res.Stages[name] = round1(ns)
			}
		}
		if key := t.job.Kind + t.job.Codec; t.system == "urlmill" {
			ours[key] = res.RowsPerS
		}
		r.Results = append(r.Results, res)
	}
	for i := range r.Results {
		res := &r.Results[i]
		res.Speedup = math.Round(ours[res.Job+res.Codec]/res.RowsPerS*100) / 100
	}
	return r
}

func round1(v float64) float64 { return math.Round(v*10) / 10 }

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "\n%d URLs, %.0f bytes on average, 7 columns; medians of %d runs; ratio: urlmill's rows a second by this system's\n",
		r.Rows, float64(r.InputBytes)/float64(r.Rows)-1, r.Repetitions)
	fmt.Fprintf(w, "%-11s %-15s %-6s %10s %7s %10s %8s %8s %9s %8s  %s\n", "job", "system", "codec", "rows/s", "ratio", "CPU ns/row", "broker", "RSS MB", "MB out", "bytes/row", "version")
	for _, x := range r.Results {
		fmt.Fprintf(w, "%-11s %-15s %-6s %10.0f %6.2fx %10.0f %8.0f %8.0f %9.1f %8.1f  %s\n", x.Job, x.System, x.Codec, x.RowsPerS, x.Speedup,
			x.CPUNsPerRow, x.BrokerNs, x.PeakRSSMB, float64(x.OutBytes)/1e6, float64(x.OutBytes)/float64(x.Rows), x.Version)
	}
	fmt.Fprintf(w, "\nby stage, CPU ns per row\n%-11s %-15s %-6s", "job", "system", "codec")
	for _, stage := range stageNames {
		fmt.Fprintf(w, " %9s", stage)
	}
	fmt.Fprintln(w)
	for _, x := range r.Results {
		if x.Stages == nil {
			continue
		}
		fmt.Fprintf(w, "%-11s %-15s %-6s", x.Job, x.System, x.Codec)
		for _, stage := range stageNames {
			fmt.Fprintf(w, " %9.0f", x.Stages[stage])
		}
		fmt.Fprintln(w)
	}
}
