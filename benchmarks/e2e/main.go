package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urlmill/urlmill/benchmarks/internal/broker"
	"github.com/urlmill/urlmill/benchmarks/internal/results"
	"github.com/urlmill/urlmill/pipeline/urlcols"
)

const (
	partitions = 4 // files of the input, and partitions of the topic
	seed       = 20261121
)

func main() {
	if len(os.Args) > 1 {
		if child, ok := children[os.Args[1]]; ok {
			exit(child(os.Args[2:]))
		}
	}
	b := newBench(os.Getenv("QUICK") == "1")
	out := flag.String("out", "results/e2e.json", "where to write the results")
	plots := flag.String("plots", "", "folder for the plot, none without it")
	flag.Int64Var(&b.rows, "rows", b.rows, "records of the input")
	flag.IntVar(&b.repetitions, "repetitions", b.repetitions, "rounds, of which the median counts")
	flag.StringVar(&b.only, "only", "", "measure the systems alone whose names, separated by commas, are given")
	flag.StringVar(&b.profiles, "profiles", "", "folder to keep the CPU profiles of urlmill in")
	flag.Parse()
	exit(b.run(*out, *plots))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-e2e:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// children are the programs that this one runs as processes of their own.
var children = map[string]func(args []string) error{
	"generate":     generateChild,
	broker.Command: brokerChild,
	"urlmill": func(args []string) error {
		return jobChild(args, urlmill(urlcols.Options{Include: columnNames}))
	},
	compact: func(args []string) error {
		return jobChild(args, urlmill(urlcols.Options{Profile: urlcols.CompactProfile, Include: compactNames}))
	},
	"naive_go": func(args []string) error { return jobChild(args, naive) },
}

// run measures everything.
func (b *bench) run(out, plots string) error {
	dir, err := os.MkdirTemp("", "urlmill-e2e-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b.dir = dir
	input := filepath.Join(dir, "in")
	fmt.Printf("generating %d URLs\n", b.rows)
	if err := b.self("generate", input, fmt.Sprint(b.rows)).Run(); err != nil {
		return fmt.Errorf("generating the input: %w", err)
	}
	tasks, stop, err := b.tasks(input)
	defer stop()
	if err != nil {
		return err
	}
	if err := b.measure(tasks); err != nil {
		return err
	}
	for _, t := range tasks {
		if err := b.stages(t); err != nil {
			return err
		}
	}
	r := newReport(b, tasks)
	r.print(os.Stdout)
	if plots != "" {
		if err := plotBars(filepath.Join(plots, "e2e.svg"), r.Results); err != nil {
			return err
		}
	}
	return results.Write(out, r)
}
