// Command duckcount has DuckDB read directories of Parquet files, every value of them, and compares the number of rows.
// Standard input has a JSON object for each, {"dir": "…", "rows": N}.
package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	_ "github.com/duckdb/duckdb-go/v2" // the driver
)

func main() {
	if err := count(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "duckcount:", err)
		os.Exit(1)
	}
}

func count(in io.Reader, out io.Writer) error {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer db.Close()
	total, outputs := int64(0), 0
	for dec := json.NewDecoder(in); ; outputs++ {
		var o struct {
			Dir  string
			Rows int64
		}
		if err := dec.Decode(&o); errors.Is(err, io.EOF) {
			fmt.Fprintf(out, "%d rows of %d outputs\n", total, outputs)
			return nil
		} else if err != nil {
			return err
		}
		// The hash of a row takes every value.
		var rows, hashed int64
		query := `SELECT count(*), count(nullif(hash(t), 0)) FROM read_parquet(?) t`
		if err := db.QueryRow(query, o.Dir+"/**/*.parquet").Scan(&rows, &hashed); err != nil {
			return fmt.Errorf("%s: %w", o.Dir, err)
		}
		if rows != o.Rows || hashed == 0 && rows > 0 {
			return fmt.Errorf("%s: DuckDB reads %d rows of %d", o.Dir, rows, o.Rows)
		}
		total += rows
	}
}
