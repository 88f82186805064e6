// Command seen finds the duplicates in one list of URLs with urlmill and with what others keep for it: Bloom filters and a set in
// Redis, and Spark's dropDuplicates. Each writes every page once, and what it has written is compared with the list: pages that are
// lost, because a new one was taken for a duplicate, and duplicates that have passed. They take turns, and medians count.
//
// The URLs of the list are canonical ones, made by urlmill of a generated crawl with planted duplicates, so that the same text is the
// same page for everyone.
//
// Environment: QUICK=1 measures less. BENCH_SEEN_PYTHON is a Python with the packages of requirements.txt; without it, or where there is
// no redis-server, what needs it is left out and named.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
)

type options struct {
	binary, dir, out, python string
	rows                     int64
	rounds                   int
	share                    float64
}

// bitsPerKey is what filters get for each page.
const bitsPerKey = 10

// report is the JSON file.
type report struct {
	results.Head
	Rows    int      `json:"rows"`
	Pages   int      `json:"pages"`
	Bytes   int64    `json:"bytes"`
	Rounds  int      `json:"rounds"`
	Systems []*entry `json:"systems"`
}

// entry is a system with its medians.
type entry struct {
	Name    string  `json:"name"`
	Version string  `json:"version"`
	Seconds float64 `json:"seconds"`
	Rate    float64 `json:"rows_per_s"`
	CPU     float64 `json:"cpu_us_per_row"`
	Memory  int64   `json:"peak_memory_bytes"` // of all its processes
	State   int64   `json:"state_bytes"`       // on disk
	Lost    int     `json:"lost_pages"`
	Passed  int     `json:"passed_duplicates"`

	system system
	took   []took
}

// took is what a system took in a round.
type took struct {
	seconds, cpu  float64
	memory, state int64
}

// system finds the duplicates of a list, whose pages it writes into a folder that is not there yet.
type system interface {
	find(l *list, folder string) (took, error)
	// pages calls each with the URLs that find has written.
	pages(folder string, each func(url []byte) error) error
	close() error
}

func main() {
	o := options{rows: 2_000_000, rounds: 5, share: 0.4, python: os.Getenv("BENCH_SEEN_PYTHON")}
	if os.Getenv("QUICK") != "" {
		o.rows, o.rounds = 100_000, 1
	}
	if len(os.Args) == 4 && os.Args[1] == clientCommand {
		exit(client(os.Args[2], os.Args[3]))
	}
	flag.StringVar(&o.binary, "binary", "../bin/urlmill", "urlmill to run")
	flag.StringVar(&o.dir, "dir", "", "folder for everything, emptied in the end (default: a temporary one)")
	flag.StringVar(&o.out, "out", "", "JSON file for the result")
	flag.Int64Var(&o.rows, "rows", o.rows, "URLs")
	flag.IntVar(&o.rounds, "rounds", o.rounds, "of which the medians count")
	flag.Parse()
	exit(run(o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-seen:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(o options) (err error) {
	dir, err := os.MkdirTemp(o.dir, "urlmill-seen-*")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(dir)) }()
	l, err := newList(dir, o)
	if err != nil {
		return err
	}
	fmt.Printf("%d URLs of %d pages, %.0f MB\n", l.rows, len(l.pages), float64(l.bytes)/1e6)
	systems, err := o.systems(dir, l)
	defer func() {
		for _, e := range systems {
			err = cmp.Or(err, e.system.close())
		}
	}()
	if err != nil {
		return err
	}
	r := &report{Head: results.NewHead(), Rows: l.rows, Pages: len(l.pages), Bytes: l.bytes, Rounds: o.rounds, Systems: systems}
	for range o.rounds {
		for _, e := range systems {
			if err := e.round(l, filepath.Join(dir, "out")); err != nil {
				return fmt.Errorf("%s: %w", e.Name, err)
			}
		}
	}
	fmt.Printf("%-34s %8s %10s %9s %6s %6s %8s %8s\n", "", "s", "rows/s", "µs of CPU", "MiB", "disk", "lost", "passed")
	for _, e := range systems {
		e.summarize(l)
		fmt.Printf("%-34s %8.2f %10.0f %9.2f %6d %6d %8d %8d  %s\n", e.Name, e.Seconds, e.Rate, e.CPU, e.Memory>>20, e.State>>20, e.Lost, e.Passed, e.Version)
	}
	if o.out == "" {
		return nil
	}
	return results.Write(o.out, r)
}

// round lets a system work once, and compares what it has written with the list. Errors that differ by round are the most of all.
func (e *entry) round(l *list, folder string) error {
	t, err := e.system.find(l, folder)
	if err != nil {
		return err
	}
	found, rows := make(map[page]struct{}, len(l.pages)), 0
	if err := e.system.pages(folder, func(url []byte) error {
		rows++
		p := pageOf(url)
		if _, known := l.pages[p]; !known {
			return fmt.Errorf("it has written %q, which is not in the list", url)
		}
		found[p] = struct{}{}
		return nil
	}); err != nil {
		return err
	}
	e.took = append(e.took, t)
	e.Lost, e.Passed = max(e.Lost, len(l.pages)-len(found)), max(e.Passed, rows-len(found))
	return os.RemoveAll(folder)
}

func (e *entry) summarize(l *list) {
	e.Seconds = median(e.took, func(t took) float64 { return t.seconds })
	e.Rate = float64(l.rows) / e.Seconds
	e.CPU = median(e.took, func(t took) float64 { return t.cpu }) / float64(l.rows) * 1e6
	e.Memory = median(e.took, func(t took) int64 { return t.memory })
	e.State = median(e.took, func(t took) int64 { return t.state })
}

func median[T cmp.Ordered](all []took, of func(took) T) T {
	var values []T
	for _, t := range all {
		values = append(values, of(t))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// since returns the seconds since a moment.
func since(began time.Time) float64 { return time.Since(began).Seconds() }
