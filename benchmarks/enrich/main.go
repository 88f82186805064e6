// Command enrich measures the columns that say where a visit came from, what the user agent is and where the address is, redaction, and
// a line of the Combined Log Format with all of them, beside what people use. It writes tables and JSON. Everything takes turns, and what
// counts is the time of the CPU, so that a busy machine is busy for everyone.
//
// Environment: QUICK=1 takes less time. ONLY=TEXT measures the groups that have it in their names, and writes no JSON. PEERS is the native program (see ../native); without it the Rust peer is left out.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
	"github.com/urlmill/urlmill/benchmarks/internal/turns"
)

const seed = 20261123

// report is the JSON file.
type report struct {
	results.Head
	Repetitions int               `json:"repetitions"`
	Versions    map[string]string `json:"versions"`
	Groups      []group           `json:"groups"`
}

// group are jobs that do the same, the first ours.
type group struct {
	Name    string             `json:"name"`
	Results []turns.Result     `json:"results"`
	Ratios  map[string]float64 `json:"ratios"` // how many times the time of the first each takes, by the minima
	jobs    []*turns.Job
}

func (g *group) add(name string, rows int, work func()) {
	g.jobs = append(g.jobs, &turns.Job{Result: turns.Result{Name: name}, Rows: rows, Work: work})
}

// versions are those of the peers.
func versions() map[string]string {
	v := map[string]string{"github.com/urlmill/urlmill/benchmarks/native (crate ua-parser)": "0.2.2"}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if strings.Contains(m.Path, "uap-go") || strings.Contains(m.Path, "maxmind") {
				v[m.Path] = m.Version
			}
		}
	}
	return v
}

func run(out, folder string, quick bool) error {
	r := report{Head: results.NewHead(), Repetitions: 15, Versions: versions()}
	rows, slice := 1000, 40*time.Millisecond
	if quick {
		r.Repetitions, rows, slice = 5, 200, 20*time.Millisecond
	}
	var stops []func()
	for _, make := range []func(folder string, rows int) ([]group, func(), error){agentGroups, addressGroups, pageGroups, lineGroups} {
		groups, stop, err := make(folder, rows)
		if err != nil {
			return err
		}
		r.Groups, stops = append(r.Groups, groups...), append(stops, stop)
	}
	only := os.Getenv("ONLY")
	r.Groups = slices.DeleteFunc(r.Groups, func(g group) bool { return !strings.Contains(g.Name, only) })
	var jobs []*turns.Job
	for _, g := range r.Groups {
		jobs = append(jobs, g.jobs...)
	}
	turns.Measure(jobs, r.Repetitions, slice)
	for i := range r.Groups {
		g := &r.Groups[i]
		g.Ratios = map[string]float64{}
		fmt.Printf("%-48s %9s %9s %8s %8s\n", g.Name+", ns a row", "least", "median", "ratio", "allocs")
		for _, j := range g.jobs {
			g.Results = append(g.Results, j.Result)
			g.Ratios[j.Name] = j.NsMin / g.jobs[0].NsMin
			fmt.Printf("  %-46s %9.1f %9.1f %7.2fx %8.3f\n", j.Name, j.NsMin, j.NsMedian, g.Ratios[j.Name], j.Allocs)
		}
	}
	for _, stop := range stops {
		stop()
	}
	if only != "" {
		return nil
	}
	return results.Write(out, &r)
}

func main() {
	out := flag.String("out", "results/enrich.json", "where to write the results")
	flag.Parse()
	folder, err := os.MkdirTemp("", "bench-enrich")
	if err == nil {
		err = run(*out, folder, os.Getenv("QUICK") == "1")
		_ = os.RemoveAll(folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-enrich:", err)
		os.Exit(1)
	}
}
