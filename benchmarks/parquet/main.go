// Command parquet measures our Parquet encoder beside those of arrow v15, arrow v18, parquet-go, arrow-rs, Arrow C++, polars,
// DuckDB and ClickHouse: the same tables, all in one run and in turns, on one core. It writes what it found as a table and as
// JSON. Times are those of the CPU, of all threads of the process, so that garbage collection counts and other programs do not.
//
// Environment: QUICK=1 takes a smaller table and fewer repetitions.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
	"github.com/urlmill/urlmill/sinks/parquet"
)

func main() {
	if err := start(); err != nil {
		fmt.Fprintln(os.Stderr, "bench-parquet:", err)
		os.Exit(1)
	}
}

func start() error {
	rows, repetitions := 512<<10, 7
	if os.Getenv("QUICK") == "1" {
		rows, repetitions = 128<<10, 5
	}
	var p programs
	out := flag.String("out", "results/parquet.json", "where to write the results")
	only := flag.String("only", "", "measure the systems whose names are in this list, and write no results")
	flag.StringVar(&p.v18, "v18", "parquet/bench-v18", "the program for arrow v18")
	flag.StringVar(&p.rust, "rust", "", "the program for arrow-rs, if there is one")
	flag.StringVar(&p.python, "python", "", "a Python with pyarrow, polars, duckdb and chdb, if there is one")
	flag.StringVar(&p.peers, "peers", "parquet/peers.py", "what that Python runs")
	codec := flag.String("codec", "none,snappy,zstd", "the codecs")
	profiles := flag.String("profiles", full+","+compact, "the profiles of columns")
	files := flag.String("files", "", "keep a file of each system and codec in this folder, and measure nothing")
	cpu := flag.String("profile", "", "write a CPU profile")
	perColumn := flag.Bool("columns", false, "tell what each column costs instead")
	flag.IntVar(&repetitions, "repetitions", repetitions, "how often")
	flag.Parse()
	if *cpu != "" {
		f, err := os.Create(*cpu)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	codecs, names := strings.Split(*codec, ","), strings.Split(*profiles, ",")
	switch {
	case *files != "":
		return keep(*files, codecs, rows)
	case *perColumn:
		return columns(os.Stdout, names[0], rows, repetitions, codecs)
	}
	r := newReport(rows, repetitions)
	for _, name := range names {
		if err := run(r, name, p, *only, codecs); err != nil {
			return err
		}
	}
	r.print(os.Stdout)
	if *only != "" {
		return nil
	}
	return results.Write(*out, r)
}

// run measures the systems with the columns of a profile.
func run(r *report, profile string, p programs, only string, codecs []string) (err error) {
	t, err := newTable(profile, r.Rows)
	if err != nil {
		return err
	}
	r.describe(t)
	chosen, done, err := systems(t, p, only)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, codec := range codecs {
		results, err := measure(t, chosen, codec, r.Repetitions, false)
		if err != nil {
			return err
		}
		r.add(results)
	}
	if only != "" || runtime.NumCPU() < 2 {
		return nil
	}
	runtime.GOMAXPROCS(2)
	for _, codec := range codecs {
		results, err := measure(t, chosen[:1], codec, r.Repetitions, true)
		if err != nil {
			return err
		}
		r.Results = append(r.Results, results...)
	}
	return nil
}

// keep writes the files of the systems in this program.
func keep(dir string, codecs []string, rows int) error {
	t, err := newTable(full, rows)
	if err != nil {
		return err
	}
	v15, err := newArrow15(t.schema, t.records)
	if err != nil {
		return err
	}
	encoders := map[string]func(io.Writer, string) error{
		"urlmill":    (&urlmill{table: t, files: map[string]*parquet.File{}}).encode,
		"arrow_v15":  v15.encode,
		"parquet_go": newParquetGo(t.records).encode,
	}
	for name, encode := range encoders {
		for _, codec := range codecs {
			var buf bytes.Buffer // arrow closes files
			if err := encode(&buf, codec); err != nil {
				return fmt.Errorf("%s, %s: %w", name, codec, err)
			}
			if err := os.WriteFile(filepath.Join(dir, name+"-"+codec+".parquet"), buf.Bytes(), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
