// Command store measures logs in a bucket: gzip'd ALB and CloudFront logs become Parquet in the same bucket, by urlmill, by ClickHouse
// (chdb) and by DuckDB; and bytes are written into buckets by urlmill's stores and by the vendors' SDKs.
//
// The servers are real ones on this machine: versitygw, fake-gcs-server and Azurite. Systems that read logs run in a process of their
// own, with one thread, and what counts is the time of the CPU of that process. They take turns, so that a busy machine is busy for
// everyone, and the tables show medians.
//
// Environment: QUICK=1 measures less. BENCH_STORE_PYTHON is a Python with the packages of requirements.txt; what it lacks is left out
// and named.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
	"github.com/urlmill/urlmill/benchmarks/internal/standin"
	"github.com/urlmill/urlmill/internal/dev/s3test"
)

// bench is a run of the benchmark.
type bench struct {
	binary      string
	only        string
	profiles    string
	rawMB       int // of each format
	sinkMB      int
	repetitions int

	gateway *s3test.Gateway
	dir     string // for configurations and profiles
	runs    int
}

func main() {
	b := &bench{rawMB: 512, sinkMB: 512, repetitions: 3}
	if os.Getenv("QUICK") == "1" {
		b.rawMB, b.sinkMB, b.repetitions = 64, 64, 1
	}
	out := flag.String("out", "results/store.json", "where to write the results")
	flag.StringVar(&b.binary, "binary", "../bin/urlmill", "urlmill to run")
	flag.StringVar(&b.only, "only", "", "measure the systems alone whose names, separated by commas, are given: urlmill, clickhouse, duckdb, sinks")
	flag.StringVar(&b.profiles, "profiles", "", "folder to keep the CPU profiles of urlmill in")
	flag.IntVar(&b.rawMB, "mb", b.rawMB, "MB of log of each format, before compression")
	flag.IntVar(&b.sinkMB, "sink-mb", b.sinkMB, "MB that are written into each store")
	flag.IntVar(&b.repetitions, "repetitions", b.repetitions, "rounds, of which the median counts")
	flag.Parse()
	if err := b.run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "bench-store:", err)
		os.Exit(1)
	}
}

func (b *bench) wants(system string) bool {
	return b.only == "" || strings.Contains(","+b.only+",", ","+system+",")
}

// run measures everything, with servers that end with it.
func (b *bench) run(out string) (err error) {
	tb := standin.New("store")
	defer func() {
		if ended := tb.End(recover()); ended != nil {
			err = ended
		}
	}()
	r := &report{Head: results.NewHead(), Repetitions: b.repetitions, Goal: goal, Ratio: ratio}
	b.dir = tb.TempDir()
	b.gateway = s3test.Start(tb)
	ctx := context.Background()
	if b.wants("urlmill") || b.wants("clickhouse") || b.wants("duckdb") {
		if r.Inputs, err = b.upload(ctx); err != nil {
			return fmt.Errorf("generating the input: %w", err)
		}
		tasks := b.tasks(r.Inputs)
		if err := b.measure(tasks); err != nil {
			return err
		}
		if err := b.shares(tasks); err != nil {
			return err
		}
		r.add(tasks)
	}
	if b.wants("sinks") {
		if err := os.RemoveAll(filepath.Join(b.gateway.Dir(), inputPrefix)); err != nil {
			return err
		}
		if r.Sinks, err = b.sinks(ctx, tb); err != nil {
			return err
		}
	}
	r.print(os.Stdout)
	return results.Write(out, r)
}
