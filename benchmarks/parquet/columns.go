package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/benchmarks/parquet/pass"
	"github.com/urlmill/urlmill/sinks/parquet"
)

// columns prints what each column costs when it is written alone, with each codec.
func columns(w io.Writer, profile string, rows, repetitions int, codecs []string) error {
	t, err := newTable(profile, rows)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	fmt.Fprintf(w, "%-20s", "column")
	for _, codec := range codecs {
		fmt.Fprintf(w, "  %7s ns/row bytes/row", codec)
	}
	fmt.Fprintln(w)
	for i, f := range t.schema.Fields() {
		u := &urlmill{table: t.column(i), files: map[string]*parquet.File{}}
		fmt.Fprintf(w, "%-20s", f.Name)
		for _, codec := range codecs {
			times := make([]float64, 0, repetitions)
			var p pass.Result
			for range repetitions + 1 {
				if p, err = pass.Run(u.encode, codec); err != nil {
					return err
				}
				times = append(times, float64(p.CPU.Nanoseconds())/float64(rows))
			}
			slices.Sort(times)
			fmt.Fprintf(w, "  %14.1f %9.2f", times[len(times)/2], float64(p.Bytes)/float64(rows))
		}
		fmt.Fprintln(w)
	}
	return nil
}

// column returns the table with one of its columns.
func (t *table) column(i int) *table {
	one := &table{schema: arrow.NewSchema([]arrow.Field{t.schema.Field(i)}, nil), rows: t.rows}
	for _, r := range t.records {
		one.records = append(one.records, array.NewRecord(one.schema, []arrow.Array{r.Column(i)}, r.NumRows()))
	}
	return one
}
