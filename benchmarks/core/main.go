// Command core measures the batch engine beside other parsers, all in one run and in turns, so that a busy machine
// is busy for everyone, and writes what it found as a table and as JSON.
//
// Environment: QUICK=1 measures the clean lists only, in less time. The list "declined"
// holds URLs that no fast path takes. CORPUS=FILE[,FILE...] adds lists of URLs,
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
	"github.com/urlmill/urlmill/benchmarks/internal/results"
	"github.com/urlmill/urlmill/urlcore"
)

const seed = 20261121

// list is a list of URLs as text and as a batch.
type list struct {
	name string
	urls []string
	data []byte
	ends []int32
	seed uint64 // of a generated list
}

func generated(name string, urls []string) *list {
	l := newList(name, urls)
	l.seed = seed
	return l
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

// declined returns at most max of the URLs that a parser cannot take as they are: their normal form is another one,
// or they are none. IDNs, whose time is that of IDNA, are left out.
func declined(urls []string, max int) []string {
	var p urlcore.Parser
	var u urlcore.URL
	var out []string
	for _, text := range urls {
		ok := p.Parse(&u, []byte(text), nil).OK()
		host := string(u.Bytes(urlcore.Host))
		if ok && (u.Href() == text || u.Href() == text+"/" || strings.Contains(host, "xn--")) || len(out) == max {
			continue
		}
		out = append(out, text)
	}
	return out
}

func lists(quick bool, rows int) ([]*list, error) {
	var all []*list
	for _, kind := range corpus.Kinds() {
		if !quick || kind != corpus.WebDirty && kind != corpus.BrowserDirty {
			all = append(all, generated(string(kind), corpus.Generate(kind, rows, seed)))
		}
	}
	if !quick {
		all = append(all, generated("declined", declined(corpus.Generate(corpus.BrowserDirty, 10*rows, seed), rows)))
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
	return results.Write(out, report)
}
