package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// report is the JSON file.
type report struct {
	Machine     machine            `json:"machine"`
	Commit      string             `json:"commit"`
	Repetitions int                `json:"repetitions"`
	Corpora     []corpusInfo       `json:"corpora"`
	Results     []row              `json:"results"`
	Ratios      map[string]ratioOf `json:"ratios"`
}

type machine struct {
	CPU   string `json:"cpu"`
	Cores int    `json:"cores"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	Go    string `json:"go"`
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
	commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	return &report{
		Machine:     machine{cpuName(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version()},
		Commit:      strings.TrimSpace(string(commit)),
		Repetitions: repetitions,
		Ratios:      map[string]ratioOf{},
	}
}

// cpuName returns the model name that Linux tells.
func cpuName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
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

func (r *report) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
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
