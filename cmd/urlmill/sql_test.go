//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/urlmill/urlmill/internal/dev/dbtest"
)

// TestSQLPostgres: the view of a table of the profile compact in PostgreSQL has every row as the same rows in the profile default have it.
func TestSQLPostgres(t *testing.T) {
	address, database := dbtest.Postgres(t)
	url := "postgres://urlmill@" + address + database
	dir := t.TempDir()
	traps, err := filepath.Abs("../../pipeline/urlcols/testdata/traps.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(t.Context()) }()
	for _, tracking := range []string{"keep", "separate"} {
		for _, profile := range []string{"default", "compact"} {
			config := filepath.Join(dir, profile+".yaml")
			text := fmt.Sprintf(`
source: {file: {paths: [%q]}, codec: {ndjson: {url: /url, base: /base}}}
columns: {profile: %s, tracking: %s, promote: [{param: id, name: ids, take: all}], rename: {path: pfad}}
sink: {postgres: {url: %q, table: public.%s_%[3]s}}
`, traps, profile, tracking, url, profile)
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := process(t, "run", config).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		statements, err := process(t, "sql", "--for", "postgres", filepath.Join(dir, "compact.yaml")).Output()
		if err != nil {
			t.Fatal(err)
		}
		differences := func(statements string) (rows, differ int) {
			if _, err := db.Exec(t.Context(), statements); err != nil {
				t.Fatalf("%v\n%s", err, statements)
			}
			query := strings.NewReplacer("$1", "TABLE default_"+tracking, "$2", "TABLE compact_"+tracking+"_full").Replace(
				"SELECT (SELECT count(*) FROM ($2) b), (SELECT count(*) FROM (($1 EXCEPT ALL $2) UNION ALL ($2 EXCEPT ALL $1)) d)")
			if err := db.QueryRow(t.Context(), query).Scan(&rows, &differ); err != nil {
				t.Fatalf("%v\n%s", err, query)
			}
			return rows, differ
		}
		if rows, differ := differences(string(statements)); rows < 50 || differ != 0 {
			t.Errorf("%s: %d rows, of which %d differ", tracking, rows, differ)
		}
		if _, differ := differences(strings.ReplaceAll(string(statements), "'/.'", "''")); differ == 0 {
			t.Errorf("%s: a view that is wrong is not found", tracking)
		}
	}
}
