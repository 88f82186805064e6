package readers

import (
	"database/sql"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2" // the driver
)

// Duck returns a DuckDB in memory that reads and writes no other files than queries name, and has UTC as its time
// zone. It is closed when the test ends.
func Duck(tb testing.TB) *sql.DB {
	tb.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		tb.Fatal(err)
	}
	db.SetMaxOpenConns(1) // every connection would have its own settings
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	for _, set := range []string{"SET threads = 2", "SET TimeZone = 'UTC'", "SET autoinstall_known_extensions = false"} {
		if _, err := db.ExecContext(tb.Context(), set); err != nil {
			tb.Fatal(err)
		}
	}
	return db
}

// DuckRows returns the result of a query in canonical form.
func DuckRows(tb testing.TB, db *sql.DB, query string, args ...any) []Row {
	tb.Helper()
	rows, err := db.QueryContext(tb.Context(), query, args...)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		tb.Fatal(err)
	}
	var out []Row
	for rows.Next() {
		values, targets := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			tb.Fatal(err)
		}
		row := make(Row, len(names))
		for i, name := range names {
			row[name] = Canon(values[i])
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return out
}

// DuckParquet returns all rows of the Parquet files that a pattern matches, sorted by the column order.
func DuckParquet(tb testing.TB, db *sql.DB, pattern, order string) []Row {
	tb.Helper()
	return DuckRows(tb, db, `SELECT * FROM read_parquet(?) ORDER BY "`+order+`"`, pattern)
}
