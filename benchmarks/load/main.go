// Command load measures how fast parsed rows get into tables of PostgreSQL, ClickHouse and DuckDB, beside loads by hand of the
// same rows, which are there in the form that the database itself has exported: COPY in binary, a block in Native, a file of
// Parquet that DuckDB inserts.
//
// The loads of a database take turns, each into an empty table, and medians count. "rows" is the sink with rows that are in memory as the
// parser leaves them, "lines" the whole pipeline from URLs in memory. Servers are processes of their own that are started for
// this, without fsync, on the same cores.
//
// Environment: QUICK=1 measures fewer rows, less often. ONLY is the name of a database.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
	"github.com/urlmill/urlmill/benchmarks/internal/servers"
	"github.com/urlmill/urlmill/benchmarks/internal/standin"
	"github.com/urlmill/urlmill/internal/dev/cputime"
)

// target is what a load by the sink may take at most, as a multiple of the load by hand.
const target = 1.3

// result is a way into a database.
type result struct {
	Database  string    `json:"database"`
	Version   string    `json:"version"`
	Way       string    `json:"way"`
	Seconds   float64   `json:"seconds_per_million"` // median
	Client    float64   `json:"client_cpu_seconds_per_million"`
	CPU       float64   `json:"cpu_seconds_per_million"` // with that of the server
	CPUByHand float64   `json:"cpu_by_hand"`
	ByHand    float64   `json:"by_hand"` // how many times as long as the load by hand
	All       []float64 `json:"seconds"`
}

// report is the JSON file.
type report struct {
	results.Head
	Rows    int      `json:"rows"`
	Rounds  int      `json:"rounds"`
	Target  float64  `json:"target"`
	Results []result `json:"results"`
}

// way is one of the loads of a database.
type way struct {
	name string
	load func(ctx context.Context) error
}

// engine is a database with an empty table.
type engine struct {
	name, version string
	ways          []way // by hand first
	// empty removes the rows, and count counts them.
	empty func(ctx context.Context) error
	count func(ctx context.Context) (int, error)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench-load:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	rows, rounds := 1_000_000, 5
	if os.Getenv("QUICK") == "1" {
		rows, rounds = 100_000, 3
	}
	out := flag.String("out", "results/load.json", "where to write the results")
	flag.IntVar(&rows, "rows", rows, "rows of a load")
	flag.IntVar(&rounds, "rounds", rounds, "rounds, of which the median counts")
	flag.Parse()
	tb := standin.New("bench-load")
	defer func() {
		if failed := tb.End(recover()); err == nil {
			err = failed
		}
	}()
	t, err := newTable(rows)
	if err != nil {
		return err
	}
	r := report{Head: results.NewHead(), Rows: rows, Rounds: rounds, Target: target}
	for name, open := range engines() {
		if only := os.Getenv("ONLY"); only != "" && only != name {
			continue
		}
		e, err := open(tb, t)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		measured, err := e.measure(context.Background(), rows, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.Results = append(r.Results, measured...)
	}
	print(r)
	return results.Write(*out, &r)
}

func print(r report) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "database\tway\ts a million\tby hand\tCPU s a million\tby hand\tof the client")
	for _, x := range r.Results {
		fmt.Fprintf(w, "%s %s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\n", x.Database, x.Version, x.Way, x.Seconds, x.ByHand, x.CPU, x.CPUByHand, x.Client)
	}
	_ = w.Flush()
}

// measure lets the ways take turns. The first round is not counted.
func (e *engine) measure(ctx context.Context, rows, rounds int) ([]result, error) {
	times, cpus, totals := make([][]float64, len(e.ways)), make([][]float64, len(e.ways)), make([][]float64, len(e.ways))
	for round := range rounds + 1 {
		for i, w := range e.ways {
			if err := e.empty(ctx); err != nil {
				return nil, err
			}
			began, cpu, before := time.Now(), cputime.Used(), servers.CPU()
			if err := w.load(ctx); err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			took, used := time.Since(began), cputime.Used()-cpu
			total := used + servers.CPU() - before
			if n, err := e.count(ctx); err != nil || n != rows {
				return nil, fmt.Errorf("%s: %d rows of %d: %w", w.name, n, rows, err)
			}
			fmt.Printf("%d %-10s %-8s %6.2f s, %5.2f s of the CPU, %5.2f with the server\n", round, e.name, w.name, took.Seconds(), used.Seconds(), total.Seconds())
			if round > 0 {
				times[i], cpus[i], totals[i] = append(times[i], took.Seconds()), append(cpus[i], used.Seconds()), append(totals[i], total.Seconds())
			}
		}
	}
	var all []result
	for i, w := range e.ways {
		x := result{Database: e.name, Version: e.version, Way: w.name, All: slices.Clone(times[i])}
		x.Seconds, x.Client = median(times[i])*1e6/float64(rows), median(cpus[i])*1e6/float64(rows)
		x.CPU = median(totals[i]) * 1e6 / float64(rows)
		all = append(all, x)
		all[i].ByHand, all[i].CPUByHand = x.Seconds/all[0].Seconds, x.CPU/all[0].CPU
	}
	return all, nil
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[n/2] + values[(n-1)/2]) / 2
}
