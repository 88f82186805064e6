package doctest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// parquetReport is parquet.json: what make bench-parquet has measured.
type parquetReport struct {
	Results []struct {
		Profile string  `json:"profile"`
		System  string  `json:"system"`
		Codec   string  `json:"codec"`
		Cores   int     `json:"cores"`
		Rate    float64 `json:"rows_per_s"`
		Bytes   float64 `json:"bytes_per_row"`
		Version string  `json:"version"`
	} `json:"results"`
	Ratios []struct {
		Profile  string  `json:"profile"`
		Codec    string  `json:"codec"`
		Speed    float64 `json:"speed_to_best"`
		Best     string  `json:"best"`
		Size     float64 `json:"size_to_smallest"`
		Smallest string  `json:"smallest"`
	} `json:"ratios"`
}

// TestParquet compares the tables of docs/performance.md with the results of make bench-parquet.
func TestParquet(t *testing.T) {
	report := results[parquetReport](t, "parquet.json")
	cells, rows := map[string][]string{}, []string{}
	for _, r := range report.Results {
		row := fmt.Sprintf("| %s | `%s`", r.Profile, r.System)
		if r.Version != "" {
			row += " " + r.Version
		}
		if r.Cores != 1 {
			continue
		}
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
		cells[row] = append(cells[row], fmt.Sprintf("%.2f, %.1f B", r.Rate/1e6, r.Bytes))
	}
	for _, row := range rows {
		if len(cells[row]) == 1 { // of zstd alone
			cells[row] = []string{"", "", cells[row][0]}
		}
		says(t, "docs/performance.md", strings.Join(strings.Fields(row+" | "+strings.Join(cells[row], " | ")+" |"), " "))
	}
	for _, r := range report.Ratios {
		says(t, "docs/performance.md", fmt.Sprintf("| %s, %s | %.2f, `%s` | %.2f, `%s` |", r.Profile, r.Codec, r.Speed, r.Best, r.Size, r.Smallest))
	}
}
