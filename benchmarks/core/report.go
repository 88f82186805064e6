package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
)

// report is the JSON file.
type report struct {
	results.Head
	Repetitions int                `json:"repetitions"`
	Corpora     []corpusInfo       `json:"corpora"`
	Results     []row              `json:"results"`
	Ratios      map[string]ratioOf `json:"ratios"`
}

type corpusInfo struct {
	Name      string  `json:"name"`
	Rows      int     `json:"rows"`
	MeanBytes float64 `json:"mean_bytes"`
	Query     float64 `json:"share_with_query"`
	Seed      uint64  `json:"seed,omitempty"`
}

type row struct {
	Corpus    string  `json:"corpus"`
	MeanBytes float64 `json:"mean_bytes"`
	result
}

// ratioOf tells for a corpus how many times the time of urlmill_full each peer takes, by the minima.
type ratioOf map[string]float64

func newReport(repetitions int) *report {
	return &report{
		Head: results.NewHead(), Repetitions: repetitions,
		Ratios: map[string]ratioOf{},
	}
}

func (r *report) add(l *list, results []result) {
	query := 0
	for _, u := range l.urls {
		if strings.Contains(u, "?") {
			query++
		}
	}
	r.Corpora = append(r.Corpora, corpusInfo{l.name, len(l.urls), l.meanBytes(), float64(query) / float64(len(l.urls)), l.seed})
	ratios := ratioOf{}
	for _, x := range results {
		r.Results = append(r.Results, row{l.name, l.meanBytes(), x})
		ratios[x.Peer] = x.NsMin / results[0].NsMin
	}
	r.Ratios[l.name] = ratios
}

func printTable(w io.Writer, l *list, results []result) {
	fmt.Fprintf(w, "%s: %d URLs, %.0f bytes on average; ns per URL\n", l.name, len(l.urls), l.meanBytes())
	fmt.Fprintf(w, "  %-20s %9s %9s %9s %9s\n", "", "min", "median", "ratio", "allocs")
	for _, r := range results {
		allocs := "-"
		if r.Allocs != nil {
			allocs = fmt.Sprintf("%.3f", *r.Allocs)
		}
		fmt.Fprintf(w, "  %-20s %9.1f %9.1f %8.2fx %9s\n", r.Peer, r.NsMin, r.NsMedian, r.NsMin/results[0].NsMin, allocs)
	}
}
