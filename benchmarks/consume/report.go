package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// What consuming may cost: see the section Consume of docs/performance.md.
const (
	budgetNs     = 250
	budgetAllocs = 0.01 // those of a fetch, spread over its thousands of records
)

// report is the JSON file.
type report struct {
	results.Head
	Records     int64    `json:"records"`
	RecordBytes int      `json:"record_bytes"`
	Repetitions int      `json:"repetitions"`
	Kafka       string   `json:"apache_kafka"`
	Results     []result `json:"results"`
	Budget      budget   `json:"budget"`
}

type budget struct {
	Ns     float64 `json:"cpu_ns_per_record"`
	Allocs float64 `json:"allocs_per_record"`
	Met    bool    `json:"met"`
}

func newReport(b bench) *report {
	return &report{
		Head: results.NewHead(), Records: b.records, RecordBytes: recordBytes, Repetitions: b.repetitions,
		Kafka: kafkatest.Version(), Budget: budget{budgetNs, budgetAllocs, true},
	}
}

// versionOf returns the version of a module of this program, "devel" for urlmill itself.
func versionOf(module string) string {
	info, ok := debug.ReadBuildInfo()
	if ok && module != "" {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return "devel"
}

// add takes the results with a broker; the first is urlmill's.
func (r *report) add(broker string, results []result) {
	for _, x := range results {
		x.Broker = broker
		r.Results = append(r.Results, x)
	}
	first := results[0]
	r.Budget.Met = r.Budget.Met && first.Ns <= budgetNs && first.Allocs <= budgetAllocs
}

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "CPU per record of %d bytes, batches with zstd, median of %d rounds\n", r.RecordBytes, r.Repetitions)
	fmt.Fprintf(w, "  %-6s %-26s %8s %8s %8s %8s %8s\n", "broker", "", "ns", "min", "max", "allocs", "ratio")
	for _, x := range r.Results {
		fmt.Fprintf(w, "  %-6s %-26s %8.0f %8.0f %8.0f %8.3f %7.1fx\n", x.Broker, x.Consumer, x.Ns, x.NsMin, x.NsMax, x.Allocs, x.Ratio)
	}
	verdict := "met"
	if !r.Budget.Met {
		verdict = "NOT met"
	}
	fmt.Fprintf(w, "budget of %d ns and no allocation per record: %s\n", budgetNs, verdict)
}
