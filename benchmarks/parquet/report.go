package main

import (
	"fmt"
	"io"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
)

// report is the JSON file.
type report struct {
	results.Head
	Rows         int       `json:"rows"`
	RowGroupRows int       `json:"row_group_rows"`
	Repetitions  int       `json:"repetitions"`
	Tables       []summary `json:"tables"`
	Results      []result  `json:"results"`
	Ratios       []ratio   `json:"ratios"`
}

// summary describes a table.
type summary struct {
	Profile  string  `json:"profile"`
	Columns  int     `json:"columns"`
	URLBytes float64 `json:"url_bytes_mean"`
	RowBytes float64 `json:"row_bytes_mean"`
	Params   float64 `json:"params_mean"`
}

// ratio compares urlmill with the others on one core.
type ratio struct {
	Profile  string  `json:"profile"`
	Codec    string  `json:"codec"`
	Speed    float64 `json:"speed_to_best"` // rows a second by the most of another, medians
	Best     string  `json:"best"`          // whose they are
	SizeV15  float64 `json:"size_to_arrow_v15"`
	Size     float64 `json:"size_to_smallest"` // bytes by the least of another
	Smallest string  `json:"smallest"`         // whose they are
}

func newReport(rows, repetitions int) *report {
	return &report{Head: results.NewHead(), Rows: rows, Repetitions: repetitions, RowGroupRows: groupRows}
}

func (r *report) describe(t *table) {
	rows := float64(t.rows)
	r.Tables = append(r.Tables, summary{
		Profile: t.profile, Columns: len(t.schema.Fields()),
		URLBytes: float64(t.urlBytes) / rows, RowBytes: float64(t.bytes) / rows, Params: float64(t.params) / rows,
	})
}

// add adds the results of a profile and a codec, of which urlmill's is the first.
func (r *report) add(results []result) {
	r.Results = append(r.Results, results...)
	if len(results) < 2 {
		return
	}
	own := results[0]
	var best, smallest, v15 result
	for _, x := range results[1:] {
		if x.aside {
			continue
		}
		if x.RowsPerS > best.RowsPerS {
			best = x
		}
		if smallest.OutBytes == 0 || x.OutBytes < smallest.OutBytes {
			smallest = x
		}
		if x.System == "arrow_v15" {
			v15 = x
		}
	}
	r.Ratios = append(r.Ratios, ratio{
		Profile: own.Profile, Codec: own.Codec, Speed: own.RowsPerS / best.RowsPerS, Best: best.System,
		SizeV15: float64(own.OutBytes) / float64(v15.OutBytes),
		Size:    float64(own.OutBytes) / float64(smallest.OutBytes), Smallest: smallest.System,
	})
}

func (r *report) print(w io.Writer) {
	for _, t := range r.Tables {
		fmt.Fprintf(w, "%s: %d rows, URLs of %.0f bytes, %.0f bytes a row, %.1f parameters\n", t.Profile, r.Rows, t.URLBytes, t.RowBytes, t.Params)
	}
	fmt.Fprintf(w, "%-8s %-8s %-14s %5s %9s %9s %9s %9s %11s\n", "profile", "codec", "system", "cores", "M rows/s", "at most", "ns/row", "bytes/row", "allocs/row")
	for _, x := range r.Results {
		fmt.Fprintf(w, "%-8s %-8s %-14s %5d %9.2f %9.2f %9.0f %9.1f %11.4f\n",
			x.Profile, x.Codec, x.System, x.Cores, x.RowsPerS/1e6, x.RowsPerMax/1e6, x.NsPerRow, x.BytesRow, x.AllocsRow)
	}
	for _, q := range r.Ratios {
		fmt.Fprintf(w, "%s, %s: %.2f times %s; %.3f of the bytes of arrow_v15, %.3f of those of %s\n", q.Profile, q.Codec, q.Speed, q.Best, q.SizeV15, q.Size, q.Smallest)
	}
}
