package readers

import (
	"bytes"
	"database/sql"
	_ "embed"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

//go:embed clicks.py
var clicksScript string

// Clicks runs statements in ClickHouse or Spark over the rows of a Parquet file, the table clicks, and returns the rows of the queries
// among them as JSON. Without the engine the test is skipped, or fails with URLMILL_REQUIRE_ENGINES: "make compat" has both.
func Clicks(tb testing.TB, engine, path string, statements []string) (rows []string) {
	tb.Helper()
	module := map[string]string{"clickhouse": "chdb", "spark": "pyspark"}[engine]
	if err := exec.Command(python(), "-c", "import "+module).Run(); err != nil {
		testproc.Missing(tb, "URLMILL_REQUIRE_ENGINES", "no "+module+" in "+python()+": name a Python that has it by URLMILL_PYTHON")
	}
	text, err := json.Marshal(statements)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), python(), "-c", clicksScript, engine, path)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%s: %v\n%.4000s", engine, err, stderr.String())
	}
	for line := range strings.Lines(string(out)) {
		rows = append(rows, compactRow(tb, []byte(line)))
	}
	return rows
}

// compactRow returns a row that is a list in JSON without spaces.
func compactRow(tb testing.TB, line []byte) string {
	tb.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, bytes.TrimSpace(line)); err != nil {
		tb.Fatalf("%v: %s", err, line)
	}
	return b.String()
}

// DuckLines returns the rows of a query as JSON.
func DuckLines(tb testing.TB, db *sql.DB, query string) (lines []string) {
	tb.Helper()
	rows, err := db.QueryContext(tb.Context(), query)
	if err != nil {
		tb.Fatalf("%v\n%s", err, query)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		tb.Fatal(err)
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			tb.Fatal(err)
		}
		line, err := json.Marshal(values)
		if err != nil {
			tb.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return lines
}
