package main

import (
	"fmt"
	"io"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
)

// dollars is the price of an hour of a core.
const dollars = 0.04

// result is a form. A GB is one of records, uncompressed; MB and GB are 10^6 and 10^9.
type result struct {
	Form          string  `json:"form"`
	RowsPerCore   float64 `json:"rows_per_cpu_s"`
	MBPerCore     float64 `json:"mb_per_cpu_s"`
	CPUPerMillion float64 `json:"cpu_s_per_million_rows"`
	MBPassed      float64 `json:"mb_per_s"`
	Commits       float64 `json:"commits_per_gb"`
	Files         float64 `json:"files_per_gb"`
	RequestsPerGB float64 `json:"http_requests_per_gb"`
	OutMBPerGB    float64 `json:"out_mb_per_gb"`
	DollarsPerTB  float64 `json:"dollars_per_tb"`
	Fresh         *fresh  `json:"fresh"`
}

// fresh is how long records take until they can be seen, in seconds.
type fresh struct {
	P50      float64 `json:"p50_s"`
	P99      float64 `json:"p99_s"`
	Most     float64 `json:"max_s"`
	CPUShare float64 `json:"cpu"` // cores that the process used meanwhile
}

// report is the JSON file.
type report struct {
	results.Head
	Rows               int64    `json:"rows"`
	RecordBytes        float64  `json:"record_bytes"`
	Rounds             int      `json:"rounds"`
	Rate               int      `json:"rate"`
	DollarsPerVCPUHour float64  `json:"dollars_per_vcpu_hour"`
	Results            []result `json:"results"`
}

func (x *result) print() {
	fmt.Printf("  %-20s %.0f MB/s a core: 10^6 MB / %.1f MB/s / 3600 s x %.2f dollars = %.3f dollars a TB\n", x.Form, x.MBPerCore, x.MBPerCore, dollars, x.DollarsPerTB)
}

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "\n%d records of %.0f bytes\n%-20s %10s %9s %9s %9s %9s %9s %9s %8s %8s\n", r.Rows, r.RecordBytes, "form", "rows/s/core", "MB/s/core", "CPU s/M", "commits/GB",
		"req/GB", "MB out/GB", "$/TB", "p50 s", "p99 s")
	for _, x := range r.Results {
		fmt.Fprintf(w, "%-20s %11.0f %9.1f %9.2f %9.1f %9.0f %9.0f %9.3f %8.2f %8.2f\n", x.Form, x.RowsPerCore, x.MBPerCore, x.CPUPerMillion, x.Commits, x.RequestsPerGB, x.OutMBPerGB,
			x.DollarsPerTB, x.Fresh.P50, x.Fresh.P99)
	}
}
