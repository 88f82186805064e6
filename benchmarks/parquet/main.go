// Command parquet measures our Parquet encoder beside those of arrow v15, arrow v18 and parquet-go: the same table, all in
// one run and in turns, on one core. It writes what it found as a table and as JSON. Times are those of the CPU, of all
// threads of the process, so that garbage collection counts and other programs do not.
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
	rows, repetitions := 512<<10, 7
	if os.Getenv("QUICK") == "1" {
		rows, repetitions = 128<<10, 5
	}
	out := flag.String("out", "results/parquet.json", "where to write the results")
	only := flag.String("only", "", "measure systems whose name begins so")
	v18 := flag.String("v18", "parquet/bench-v18", "the program for arrow v18")
	codec := flag.String("codec", "none,snappy,zstd", "the codecs")
	files := flag.String("files", "", "keep a file of each system and codec in this folder, and measure nothing")
	profile := flag.String("profile", "", "write a CPU profile")
	perColumn := flag.Bool("columns", false, "tell what each column costs instead")
	flag.IntVar(&repetitions, "repetitions", repetitions, "how often")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench-parquet:", err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	if *files != "" {
		if err := keep(*files, strings.Split(*codec, ","), rows); err != nil {
			fmt.Fprintln(os.Stderr, "bench-parquet:", err)
			os.Exit(1)
		}
		return
	}
	if *perColumn {
		if err := columns(os.Stdout, rows, repetitions, strings.Split(*codec, ",")); err != nil {
			fmt.Fprintln(os.Stderr, "bench-parquet:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*out, *v18, *only, strings.Split(*codec, ","), rows, repetitions); err != nil {
		fmt.Fprintln(os.Stderr, "bench-parquet:", err)
		os.Exit(1)
	}
}

func run(out, v18, only string, codecs []string, rows, repetitions int) (err error) {
	t, err := newTable(rows)
	if err != nil {
		return err
	}
	all, done, err := systems(t, v18)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	chosen := all[:0]
	for _, s := range all {
		if strings.HasPrefix(s.name, only) {
			chosen = append(chosen, s)
		}
	}
	runtime.GOMAXPROCS(1)
	r := newReport(t, repetitions)
	for _, codec := range codecs {
		results, err := measure(t, chosen, codec, repetitions, false)
		if err != nil {
			return err
		}
		r.add(results)
	}
	if only == "" && runtime.NumCPU() > 1 {
		runtime.GOMAXPROCS(2)
		for _, codec := range codecs {
			results, err := measure(t, chosen[:1], codec, repetitions, true)
			if err != nil {
				return err
			}
			r.Results = append(r.Results, results...)
		}
	}
	r.print(os.Stdout)
	if only != "" {
		return nil
	}
	return results.Write(out, r)
}

// keep writes the files of the systems in this program.
func keep(dir string, codecs []string, rows int) error {
	t, err := newTable(rows)
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
