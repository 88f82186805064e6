package readers

import (
	_ "embed"
	"encoding/json"
	"testing"
)

//go:embed sql.py
var sqlScript string

// SQL is what an engine made of statements.
type SQL struct {
	Version string `json:"version"`
	// Rows are the numbers of rows of the table and of the view, Lacks the number of rows of the table that the view lacks, and More the first
	// that it has instead.
	Rows    []int    `json:"rows"`
	Columns []string `json:"columns"`
	Lacks   int      `json:"lacks"`
	More    []string `json:"more"`
	// Statements is the number of statements that were parsed, and Unknown are those with a syntax that the parser does not know.
	Statements  int      `json:"statements"`
	Unknown     []string `json:"unknown"`
	Unavailable string   `json:"unavailable"`
}

// RunSQL runs files of statements in an engine, one of clickhouse, polars and spark, and compares a table with a view. Those for trino,
// bigquery and snowflake are parsed alone, and have neither.
func RunSQL(tb testing.TB, engine string, files []string, tableAndView ...string) SQL {
	tb.Helper()
	args := append([]string{engine}, files...)
	if len(tableAndView) > 0 {
		args = append(append(args, "--"), tableAndView...)
	}
	var r SQL
	runPython(tb, &r, sqlScript, args...)
	if r.Unavailable != "" {
		without(tb, engine, r.Unavailable)
	}
	return r
}

//go:embed evolve.py
var evolveScript string

// Evolved is what a library made of files whose columns have changed.
type Evolved struct {
	Version     string  `json:"version"`
	Rows        [][]any `json:"rows"`    // by the column record, with the columns that were asked for
	Refused     string  `json:"refused"` // its error
	Unavailable string  `json:"unavailable"`
}

// Evolve has a library read the Parquet files of a folder as one table: one of pyarrow, polars, datafusion, clickhouse and spark, as it does by
// itself, or with "-merged" behind as the documentation says.
func Evolve(tb testing.TB, reader, folder string, columns []string) Evolved {
	tb.Helper()
	names, err := json.Marshal(columns)
	if err != nil {
		tb.Fatal(err)
	}
	var r Evolved
	runPython(tb, &r, evolveScript, reader, folder, string(names))
	if r.Unavailable != "" {
		without(tb, reader, r.Unavailable)
	}
	return r
}
