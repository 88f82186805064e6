// Command delivery measures what exactly-once delivery costs against at-least-once: the same records go through the same
// pipeline into Parquet files with either, in pairs, one run after the other and in changing order, so that whatever else
// the machine does happens to both.
//
// Jobs: "generate", made-up URLs, and "kafka", the same from a broker in this process (kfake). Files are committed every
// 100,000 rows of a lane, far more often than by default (512 MiB or a minute). Environment: QUICK=1 takes less than 50 s.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
	"github.com/urlmill/urlmill/sinks/commit"
)

// most is what exactly-once delivery may cost.
const most = 1.05

// result is a job.
type result struct {
	Job         string  `json:"job"`
	Rows        int64   `json:"rows"`
	Commits     int64   `json:"commits"` // of a run
	ExactlyOnce float64 `json:"exactly_once_rows_per_s"`
	AtLeastOnce float64 `json:"at_least_once_rows_per_s"`
	// Cost is the median of the pairs' ratios of time, and CPU of their CPU time.
	Cost float64   `json:"cost"`
	CPU  float64   `json:"cost_cpu"`
	All  []float64 `json:"cost_of_pairs"`
}

// report is the JSON file.
type report struct {
	results.Head
	Pairs   int      `json:"pairs"`
	Results []result `json:"results"`
	Budget  float64  `json:"budget"`
	Met     bool     `json:"met"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench-delivery:", err)
		os.Exit(1)
	}
}

func run() error {
	rows, pairs := int64(2_000_000), 11
	if os.Getenv("QUICK") == "1" {
		rows, pairs = 400_000, 5
	}
	out := flag.String("out", "results/delivery.json", "where to write the results")
	dir := flag.String("dir", os.TempDir(), "a directory on the disk to write to")
	flag.Int64Var(&rows, "records", rows, "records of a run")
	flag.IntVar(&pairs, "pairs", pairs, "pairs of runs, of which the median counts")
	flag.Parse()
	r := report{
		Head: results.NewHead(), Pairs: pairs, Budget: most, Met: true,
	}
	work, err := os.MkdirTemp(*dir, "urlmill-delivery-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	jobs, end, err := newJobs(rows)
	if err != nil {
		return err
	}
	defer end()
	for _, j := range jobs {
		result, err := measure(j, work, pairs)
		if err != nil {
			return fmt.Errorf("%s: %w", j.name, err)
		}
		r.Results = append(r.Results, result)
		r.Met = r.Met && result.Cost <= most
		fmt.Printf("%-9s exactly_once %9.0f rows/s, at_least_once %9.0f rows/s: %.3f times the time, %.3f times the CPU (medians of %d pairs, %d commits a run)\n",
			j.name, result.ExactlyOnce, result.AtLeastOnce, result.Cost, result.CPU, pairs, result.Commits)
	}
	fmt.Printf("budget: %.2f times the time; met: %t\n", most, r.Met)
	return results.Write(*out, &r)
}

// sample is one run.
type sample struct {
	time, cpu time.Duration
	commits   int64
}

// measure runs the pairs of a job. The first one warms up.
func measure(j job, work string, pairs int) (result, error) {
	r := result{Job: j.name, Rows: j.rows}
	var times, cpus, exactly, atLeast []float64
	for i := range pairs + 1 {
		order := []commit.Delivery{commit.ExactlyOnce, commit.AtLeastOnce}
		if i%2 == 1 {
			slices.Reverse(order)
		}
		runs := map[commit.Delivery]sample{}
		for _, d := range order {
			out := filepath.Join(work, fmt.Sprintf("%s-%d-%s", j.name, i, d))
			runtime.GC()
			s, err := j.run(context.Background(), d, out)
			if err != nil {
				return r, fmt.Errorf("%s: %w", d, err)
			}
			runs[d] = s
			if err := os.RemoveAll(out); err != nil {
				return r, err
			}
		}
		if i == 0 {
			continue
		}
		a, b := runs[commit.ExactlyOnce], runs[commit.AtLeastOnce]
		times = append(times, a.time.Seconds()/b.time.Seconds())
		cpus = append(cpus, a.cpu.Seconds()/b.cpu.Seconds())
		exactly = append(exactly, float64(j.rows)/a.time.Seconds())
		atLeast = append(atLeast, float64(j.rows)/b.time.Seconds())
		r.Commits = a.commits
	}
	r.All = slices.Clone(times)
	r.Cost, r.CPU, r.ExactlyOnce, r.AtLeastOnce = median(times), median(cpus), median(exactly), median(atLeast)
	return r, nil
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[n/2] + values[(n-1)/2]) / 2
}
