// Command dedupe finds the duplicates among a hundred million URLs of files, in a fixed memory budget, and compares their
// number with that of those that were planted.
//
// It writes files of made-up URLs of a crawl, of which a known number repeat a page from anywhere before, in the same
// words or in others; runs "urlmill run" over them, as it would be run in production; and prints its rate at every ten
// million rows, its largest memory, the size of the state and what came out. It exits with 1 unless the duplicates that were
// marked are as many as were planted, no row is missing, and the process stayed below its limit.
//
// With -stream URLs come through pipes, and files of the output are counted and removed as soon as they are committed, so that the
// disk has to hold nothing but the state. An interrupt ends the input early then, and what has been read is counted in the same way.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"time"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
)

// options are the flags.
type options struct {
	binary, dir, out, plots, memory, limit string
	rows, perFile, step                    int64
	share                                  float64
	cores                                  int
	stream                                 bool
}

// maxCores is how many cores urlmill gets at most: each takes its part of the limit, and more would not leave enough.
const maxCores = 4

// plotName is the file of the plot.
const plotName = "dedupe.svg"

// result is the JSON file.
type result struct {
	results.Head
	Cores      int     `json:"cores_used"`
	Memory     string  `json:"dedupe_memory"`
	Limit      string  `json:"memory_limit"`
	Rows       int64   `json:"rows"`
	Planted    int64   `json:"planted_duplicates"`
	Found      int64   `json:"found_duplicates"`
	Input      int64   `json:"input_bytes"`
	Seconds    float64 `json:"seconds"`
	RowsPerSec int64   `json:"rows_per_s"`
	Steps      []step  `json:"steps"`
	PeakMemory int64   `json:"peak_memory_bytes"`
	State      int64   `json:"state_bytes"`
	PeakState  int64   `json:"peak_state_bytes"`
	Output     int64   `json:"output_bytes"`
}

// step is the rate between the last step and so many rows.
type step struct {
	Rows       int64   `json:"rows"`
	Seconds    float64 `json:"seconds,omitempty"` // since the start
	RowsPerSec int64   `json:"rows_per_s"`
	CPU        int64   `json:"cpu_ns_per_row"`
	Memory     int64   `json:"memory_bytes,omitempty"` // at most, so far
	State      int64   `json:"state_bytes"`
}

func main() {
	o := options{rows: 100_000_000, perFile: 1_000_000, step: 10_000_000, cores: min(runtime.GOMAXPROCS(0), maxCores)}
	quick := os.Getenv("QUICK") != ""
	if quick {
		o.rows, o.step = 3_000_000, 1_000_000
	}
	flag.StringVar(&o.binary, "binary", "../bin/urlmill", "urlmill to run")
	flag.StringVar(&o.dir, "dir", "", "folder for input, state and output, emptied in the end (default: a temporary one)")
	flag.StringVar(&o.out, "out", "", "JSON file for the result")
	flag.StringVar(&o.plots, "plots", "", "folder for the plot of the rates, none without it")
	flag.Int64Var(&o.rows, "rows", o.rows, "URLs")
	flag.Int64Var(&o.step, "step", o.step, "after how many rows to print the rate")
	flag.Float64Var(&o.share, "share", 0.4, "share of URLs that are to repeat one; more than half of these do")
	flag.StringVar(&o.memory, "memory", "256MiB", "dedupe.memory")
	flag.StringVar(&o.limit, "limit", "512MiB", "memory_limit of the process")
	flag.BoolVar(&o.stream, "stream", false, "URLs through pipes, and output that is removed when it has been counted")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "dedupe:", err)
		os.Exit(1)
	}
}

func run(o options) (err error) {
	dir, err := os.MkdirTemp(o.dir, "urlmill-dedupe-*")
	if err != nil {
		return err
	}
	defer func() {
		if removing := os.RemoveAll(dir); err == nil {
			err = removing
		}
	}()
	r := result{
		Head: results.NewHead(), Cores: o.cores,
		Memory: o.memory, Limit: o.limit,
	}
	ctx := context.Background()
	if o.stream {
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
	}
	began := time.Now()
	input, err := writeCrawl(ctx, filepath.Join(dir, "crawl"), o)
	if err != nil {
		return err
	}
	if !o.stream {
		if err := input.wait(); err != nil {
			return err
		}
		fmt.Printf("%s in files, written in %.0f s\n", size(input.bytes), time.Since(began).Seconds())
	}
	m, err := start(dir, o)
	if err != nil {
		return err
	}
	if err := m.watch(&r, o); err != nil {
		return err
	}
	if err := input.wait(); err != nil {
		return err
	}
	if err := m.out.count(m.pages); err != nil {
		return err
	}
	r.Rows, r.Planted, r.Input, r.Found, r.Output = input.written, input.planted, input.bytes, m.out.duplicates, m.out.bytes
	r.RowsPerSec = int64(float64(r.Rows) / r.Seconds)
	r.print()
	if o.out != "" {
		if err := results.Write(o.out, &r); err != nil {
			return err
		}
	}
	if o.plots != "" {
		if err := r.draw(filepath.Join(o.plots, plotName)); err != nil {
			return err
		}
	}
	return r.check(m.out.rows)
}

// check returns what is not as it has to be.
func (r *result) check(rows int64) error {
	limit, ok := bytesOf(r.Limit)
	switch {
	case rows != r.Rows:
		return fmt.Errorf("%d rows came out of %d", rows, r.Rows)
	case r.Found != r.Planted:
		return fmt.Errorf("%d duplicates were found, and %d were planted", r.Found, r.Planted)
	case ok && r.PeakMemory > limit:
		return fmt.Errorf("the process took %s, and its limit is %s", size(r.PeakMemory), r.Limit)
	}
	return nil
}

func (r *result) print() {
	fmt.Printf("%s rows in %.0f s: %s rows/s\n", count(r.Rows), r.Seconds, count(r.RowsPerSec))
	fmt.Printf("duplicates   %s found, %s planted\n", count(r.Found), count(r.Planted))
	fmt.Printf("memory       %s at most; dedupe.memory %s, memory_limit %s\n", size(r.PeakMemory), r.Memory, r.Limit)
	fmt.Printf("state        %s on disk, %s at most, %.1f bytes a page\n", size(r.State), size(r.PeakState), float64(r.State)/float64(r.Rows-r.Found))
	fmt.Printf("output       %s of Parquet\n", size(r.Output))
}

// bytesOf reads a size in MiB or GiB.
func bytesOf(text string) (int64, bool) {
	var n int64
	var unit string
	if _, err := fmt.Sscanf(text, "%d%s", &n, &unit); err != nil {
		return 0, false
	}
	shift, ok := map[string]int{"MiB": 20, "GiB": 30}[unit]
	return n << shift, ok
}

// count writes a number with commas.
func count(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func size(n int64) string { return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20)) }
