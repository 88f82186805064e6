package itest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// trapsConfig is a configuration with all that changes what columns there are, and how they are called.
const trapsConfig = `
source:
  file: {paths: [%s]}
  codec: {ndjson: {url: /url, base: /base, carry: [{name: id, pointer: /id, type: int64}, {name: day, pointer: /day, type: timestamp}]}}
columns: {profile: %s, promote: [{param: utm_source}, {param: id, name: ids, take: all}], rename: {path: pfad, registrable_domain: domain}, %s}
sink: {parquet: {path: %s, partition_by: ["date(day)", "bucket(3, id)"]}}
`

// traps writes the URLs of which a part is easily lost, in the profiles default and compact, and returns the configuration of each.
func traps(t *testing.T, columns string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("../../../pipeline/urlcols/testdata/traps.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	var in strings.Builder
	i := 0
	for line := range strings.Lines(string(text)) {
		fmt.Fprintf(&in, `{"id":%d,"day":"2026-11-%02dT01:00:00Z",%s`, i, 1+i%3, strings.TrimPrefix(line, "{"))
		i++
	}
	in.WriteString(`{"id":1000,"day":null}` + "\n")
	list := filepath.Join(dir, "in.ndjson")
	configs := map[string]string{"default": filepath.Join(dir, "default.yaml"), "compact": filepath.Join(dir, "compact.yaml")}
	for profile, config := range configs {
		writeFile(t, config, fmt.Sprintf(trapsConfig, list, profile, columns, filepath.Join(dir, "rows_"+profile)))
	}
	writeFile(t, list, in.String())
	for _, config := range configs {
		if out, err := exec.Command(testproc.Urlmill(t), "run", config).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return configs
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// printed returns the file of what "urlmill sql" prints.
func printed(t *testing.T, engine, config string) string {
	t.Helper()
	cmd := exec.Command(testproc.Urlmill(t), "sql", "--for", engine, config)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", engine, err, &stderr)
	}
	name := filepath.Join(t.TempDir(), engine)
	writeFile(t, name, string(out))
	return name
}

// TestSQL: what "urlmill sql" prints for a table of the profile compact has every row as the same rows in the profile default have it, in
// every column. Spark takes part with URLMILL_SPARK=1.
func TestSQL(t *testing.T) {
	for name, columns := range map[string]string{"params": "exclude: [url_error_pos]", "tracking": "tracking: separate"} {
		configs := traps(t, columns)
		t.Run(name+"/DuckDB", func(t *testing.T) { duckViews(t, configs) })
		for _, engine := range []string{"clickhouse", "polars", "spark"} {
			t.Run(name+"/"+engine, func(t *testing.T) {
				if engine == "spark" && os.Getenv("URLMILL_SPARK") != "1" {
					t.Skip("Spark takes minutes: set URLMILL_SPARK=1")
				}
				files := []string{printed(t, engine, configs["default"]), printed(t, engine, configs["compact"])}
				r := readers.RunSQL(t, engine, files, "rows_default", "rows_compact_full")
				t.Logf("%s: %d rows, %d columns", r.Version, r.Rows, len(r.Columns))
				if r.Lacks != 0 || len(r.More) > 0 || r.Rows[0] != r.Rows[1] || r.Rows[0] < 50 || len(r.Columns) < 20 {
					t.Errorf("%+v", r)
				}
			})
		}
		if name == "params" {
			continue // the other has all syntax that this one has
		}
		for engine, want := range map[string]readers.SQL{
			"trino":     {Statements: 2, Unknown: []string{"CALL system.sync_partition_meta"}},
			"bigquery":  {Statements: 1, Unknown: []string{"CREATE OR REPLACE EXTERNAL TABL"}},
			"snowflake": {Statements: 4},
		} {
			t.Run(name+"/"+engine, func(t *testing.T) {
				r := readers.RunSQL(t, engine, []string{printed(t, engine, configs["compact"])})
				if r.Statements != want.Statements || len(r.Unknown) != len(want.Unknown) {
					t.Errorf("%+v", r)
				}
			})
		}
	}
}

// duckViews compares in DuckDB, and shows that a view that is wrong is found.
func duckViews(t *testing.T, configs map[string]string) {
	db := readers.Duck(t)
	do := func(text string) {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	text := func(profile string) string {
		b, err := os.ReadFile(printed(t, "duckdb", configs[profile]))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	do(text("default"))
	compact := text("compact")
	do(compact)
	count := func(query string) int { return int(number(t, db, "SELECT count(*) FROM "+query)) }
	if n := count("rows_default"); n < 50 || n != count("rows_compact_full") {
		t.Errorf("%d rows, and %d in the view", n, count("rows_compact_full"))
	}
	const differences = "((FROM rows_default EXCEPT ALL FROM rows_compact_full) UNION ALL (FROM rows_compact_full EXCEPT ALL FROM rows_default))"
	if n := count(differences); n != 0 {
		t.Errorf("%d rows differ: %v", n, readers.DuckRows(t, db, "FROM "+differences+" LIMIT 4"))
	}
	for part, instead := range map[string]string{
		"'/.'": "''", "'?' ||": "'' ||", "'@'": "''", "'wss', ": "", `"kept_front" ||`: `'' ||`, `"kept_origin", `: "NULL, ", "p <> ''": "true", "'+', ' '": "'+', '+'",
	} {
		do(strings.ReplaceAll(compact, part, instead))
		if count(differences) == 0 {
			t.Errorf("with %s in place of %s, nothing differs", instead, part)
		}
	}
}
