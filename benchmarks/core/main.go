// Command core measures the batch engine beside other parsers, all in one run and in turns, so that a busy machine
// is busy for everyone, and writes what it found as a table and as JSON.
//
// Environment: QUICK=1 measures the two clean lists only, in less time. CORPUS=FILE[,FILE...] adds lists of URLs,
// one a line. PEERS is the native program (see ../native); without it the native peers are left out.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urlmill/urlmill/benchmarks/corpus"
)

const seed = 20261121

// list is a list of URLs as text and as a batch.
type list struct {
	name string
	urls []string
	data []byte
	ends []int32
}

func newList(name string, urls []string) *list {
	l := &list{name: name, urls: urls}
	for _, u := range urls {
		l.data = append(l.data, u...)
		l.ends = append(l.ends, int32(len(l.data)))
	}
	return l
}

func (l *list) meanBytes() float64 { return float64(len(l.data)) / float64(len(l.urls)) }

// text is the list with one URL a line.
func (l *list) text() []byte { return append([]byte(strings.Join(l.urls, "\n")), '\n') }

// readList reads a list with one URL a line, at most max of them.
func readList(path string, max int) (*list, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var urls []string
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 && len(urls) < max {
			urls = append(urls, string(line))
		}
	}
	if len(urls) == 0 {
		return nil, fmt.Errorf("%s: no URLs", path)
	}
	return newList(filepath.Base(path), urls), nil
}

func lists(quick bool, rows int) ([]*list, error) {
	var all []*list
	for _, kind := range corpus.Kinds() {
		if !quick || kind == corpus.Web || kind == corpus.Browser {
			all = append(all, newList(string(kind), corpus.Generate(kind, rows, seed)))
		}
	}
	for _, path := range strings.FieldsFunc(os.Getenv("CORPUS"), func(r rune) bool { return r == ',' }) {
		l, err := readList(path, rows)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

func main() {
	quick := os.Getenv("QUICK") == "1"
	rows, repetitions := 200_000, 7
	if quick {
		rows, repetitions = 100_000, 5
	}
	out := flag.String("out", "results/core.json", "where to write the results")
	sweepOut := flag.String("sweep", "", "measure batch sizes and cores instead, and write SVG plots into this folder")
	flag.Parse()
	var err error
	if *sweepOut != "" {
		err = sweep(*sweepOut, rows)
	} else {
		err = run(*out, quick, rows, repetitions)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-core:", err)
		os.Exit(1)
	}
}

func run(out string, quick bool, rows, repetitions int) error {
	all, err := lists(quick, rows)
	if err != nil {
		return err
	}
	report := newReport(repetitions)
	for _, l := range all {
		peers, done, err := peersFor(l)
		if err != nil {
			return err
		}
		results := measure(l, peers, repetitions)
		done()
		report.add(l, results)
		printTable(os.Stdout, l, results)
	}
	return report.write(out)
}
