package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/urlmill/urlmill/benchmarks/corpus"
	"github.com/urlmill/urlmill/benchmarks/internal/plot"
)

// sweep measures how the time depends on the number of rows in a batch and on the number of cores, and plots both.
func sweep(folder string, rows int) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	batches := plot.Lines{Title: "ns per URL by rows in a batch", X: "rows in a batch"}
	cores := plot.Lines{Title: "million URLs per second by cores", X: "cores"}
	for _, kind := range []corpus.Kind{corpus.Web, corpus.Browser} {
		l := newList(string(kind), corpus.Generate(kind, rows, seed))
		line := plot.Series{Name: l.name}
		fmt.Printf("%s: ns per URL by rows in a batch\n", l.name)
		for n := 1; n <= 65536; n *= 4 {
			ns := fastest(timed(engine(l, fullColumns, n)), 7) / float64(len(l.urls))
			line.Add(strconv.Itoa(n), ns)
			fmt.Printf("  %8d %8.1f\n", n, ns)
		}
		batches.Series = append(batches.Series, line)
		line = plot.Series{Name: l.name}
		fmt.Printf("%s: million URLs per second by cores\n", l.name)
		for n := 1; n <= runtime.NumCPU(); n++ {
			rate := float64(n*len(l.urls)) * 1e3 / fastest(parallel(l, n), 15)
			line.Add(strconv.Itoa(n), rate)
			fmt.Printf("  %8d %8.1f\n", n, rate)
		}
		cores.Series = append(cores.Series, line)
	}
	if err := batches.Write(filepath.Join(folder, "batch-size.svg")); err != nil {
		return err
	}
	return cores.Write(filepath.Join(folder, "cores.svg"))
}

// fastest returns the nanoseconds of the fastest of some passes.
func fastest(pass func() time.Duration, passes int) float64 {
	best := pass()
	for range passes {
		best = min(best, pass())
	}
	return float64(best.Nanoseconds())
}

// parallel makes a pass of n goroutines at once, each over the whole list. It is measured by the clock.
func parallel(l *list, n int) func() time.Duration {
	work := make([]func(), n)
	for i := range work {
		work[i] = engine(l, fullColumns, batchRows)
	}
	return func() time.Duration {
		start := time.Now()
		var wg sync.WaitGroup
		for _, w := range work {
			wg.Go(w)
		}
		wg.Wait()
		return time.Since(start)
	}
}
