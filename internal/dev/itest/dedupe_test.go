package itest

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/internal/dev/testproc"
	"github.com/urlmill/urlmill/sources/generate"
)

// writeCrawl writes records with the URLs of a crawl as NDJSON, a second apart, into files of so many. It returns how many
// repeat the page of an earlier one.
func writeCrawl(t *testing.T, dir string, records, perFile int, o generate.Options) (planted int64) {
	t.Helper()
	o.Profile, o.Format, o.Mix = generate.Crawl, generate.Lines, generate.Distinct()
	g, err := generate.NewGenerator(o)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for first := 0; first < records; first += perFile {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("crawl-%09d.ndjson", first)))
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriter(f)
		lines := json.NewEncoder(w)
		lines.SetEscapeHTML(false)
		for range min(perFile, records-first) {
			url := g.Append(nil)
			if g.Truth().Repeat != generate.NoRepeat {
				planted++
			}
			if err := lines.Encode(map[string]string{"url": string(url), "fetched_at": at.Format(time.RFC3339)}); err != nil {
				t.Fatal(err)
			}
			at = at.Add(time.Second)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return planted
}

// dedupeRun runs a configuration over the files of a folder, one after the other, and returns a view of what came out
// and what the process has said.
func dedupeRun(t *testing.T, db *sql.DB, dir, dedupe, more string) (said []byte) {
	t.Helper()
	config, out := filepath.Join(dir, "dedupe.yaml"), filepath.Join(dir, "out")
	text := fmt.Sprintf(`
source:
  file: {paths: ["%[1]s/*.ndjson"], parallel: 1}
  codec: {ndjson: {url: /url, carry: [{name: fetched_at, pointer: /fetched_at, type: timestamp}]}}
columns: {canonical: {form: dedupe}, include: [url, canonical_url, url_key, fetched_at, file, record]}
dedupe: {path: "%[1]s/seen", mode: mark, %[2]s}
sink:
  parquet: {path: "%[3]s"}
  roll: {every: 0s%[4]s}
log: {format: json}
`, dir, dedupe, out, more)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(testproc.Urlmill(t), "run", config).CombinedOutput()
	if err != nil {
		t.Fatalf("urlmill run: %v\n%s", err, said)
	}
	if _, err := db.ExecContext(t.Context(), `CREATE OR REPLACE TABLE got AS SELECT *, row_number() OVER (ORDER BY file, record) AS n
		FROM '`+out+`/*.parquet'`); err != nil {
		t.Fatal(err)
	}
	return said
}

// number returns the only value of a query.
func number(t *testing.T, db *sql.DB, query string) (n float64) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// none fails with the first rows of a query that has to have none.
func none(t *testing.T, db *sql.DB, what, query string) {
	t.Helper()
	for _, row := range readers.DuckRows(t, db, query+" LIMIT 3") {
		t.Errorf("%s: %v", what, row)
	}
}

// TestDedupe has DuckDB find the duplicates among canonical URLs, and compares with those that were marked, row by row,
// and with the number that was planted.
func TestDedupe(t *testing.T) {
	const records = 150_000
	dir, db := t.TempDir(), readers.Duck(t)
	planted := writeCrawl(t, dir, records, 40_000, generate.Options{Seed: 5, Repeats: 0.5, RepeatsWithin: 1 << 32})
	dedupeRun(t, db, dir, "memory: 16MiB", ", rows: 7000")
	if rows := number(t, db, `SELECT count(*) FROM got`); rows != records {
		t.Errorf("%v rows, want %d", rows, records)
	}
	if found := number(t, db, `SELECT count(*) FROM got WHERE is_duplicate`); found != float64(planted) || planted < records/10 {
		t.Errorf("%v duplicates, %d were planted", found, planted)
	}
	none(t, db, "not the truth", `SELECT * FROM (SELECT *, canonical_url IS NOT NULL AND
		row_number() OVER (PARTITION BY canonical_url ORDER BY n) > 1 AS truth FROM got) WHERE is_duplicate IS DISTINCT FROM truth`)
	none(t, db, "another key", `SELECT canonical_url FROM got GROUP BY canonical_url HAVING count(DISTINCT url_key) <> if(canonical_url IS NULL, 0, 1)`)
	none(t, db, "a key of several", `SELECT url_key FROM got WHERE url_key IS NOT NULL GROUP BY url_key HAVING count(DISTINCT canonical_url) > 1`)
}

// leaned is every row with a canonical URL, and beside it the last row before it with the same that is no duplicate.
const leaned = `(SELECT *, last_value(if(is_duplicate, NULL, n) IGNORE NULLS) OVER before AS on_n,
	last_value(if(is_duplicate, NULL, epoch(fetched_at)) IGNORE NULLS) OVER before AS on_time,
	last_value(if(is_duplicate, NULL, keys) IGNORE NULLS) OVER before AS on_keys
	FROM (SELECT *, count(*) FILTER (NOT is_duplicate AND canonical_url IS NOT NULL) OVER (ORDER BY n) AS keys FROM got)
	WHERE canonical_url IS NOT NULL
	WINDOW before AS (PARTITION BY canonical_url ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))`

// TestDedupeWindows checks windows by time and by count: what has to be a duplicate, and what must not be one any more.
func TestDedupeWindows(t *testing.T) {
	const records = 60_000
	dir, db := t.TempDir(), readers.Duck(t)
	writeCrawl(t, dir, records, records, generate.Options{Seed: 6, Repeats: 0.6, RepeatsWithin: 20_000})
	for _, tc := range []struct {
		name, window, within, beyond string
	}{
		// 7,200 s in eighths of 900.
		{"time", "window: {time: 2h, by: fetched_at}", "epoch(fetched_at) - on_time <= 7200", "epoch(fetched_at) - on_time > 8100"},
		// Keys are counted when they are committed, at every 1,000 rows, in batches of 500.
		{"count", "window: {keys: 4000}", "keys - on_keys <= 4000", "keys - on_keys > 4500 + 2000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, folder := range []string{"out", "seen"} {
				if err := os.RemoveAll(filepath.Join(dir, folder)); err != nil {
					t.Fatal(err)
				}
			}
			dedupeRun(t, db, dir, "memory: 16MiB, "+tc.window, ", rows: 1000}\npipeline: {batch_rows: 500")
			none(t, db, "a duplicate within the window is not marked", `SELECT * FROM `+leaned+` WHERE NOT is_duplicate AND `+tc.within)
			none(t, db, "marked beyond the window", `SELECT * FROM `+leaned+` WHERE is_duplicate AND `+tc.beyond)
			none(t, db, "marked, and the first", `SELECT * FROM `+leaned+` WHERE is_duplicate AND on_n IS NULL`)
			marked := number(t, db, `SELECT count(*) FROM got WHERE is_duplicate`)
			renewed := number(t, db, `SELECT count(*) FROM `+leaned+` WHERE NOT is_duplicate AND on_n IS NOT NULL`)
			t.Logf("%v duplicates within the window, %v pages that came again after it", marked, renewed)
			if marked < 1000 || renewed < 1000 {
				t.Error("that is too little to have tested anything")
			}
		})
	}
}

// TestDedupeApproximate measures how many new pages filters take for known ones when nearly as many keys are there as
// were said to come, and compares with what the process declares.
func TestDedupeApproximate(t *testing.T) {
	const keys, last = 850_000, 60_000
	dir, db := t.TempDir(), readers.Duck(t)
	writeCrawl(t, dir, keys, keys, generate.Options{Seed: 7, Repeats: -1})
	said := dedupeRun(t, db, dir, fmt.Sprintf("memory: 32MiB, approximate: {memory: 1MiB, keys: %d}", keys), ", rows: 50000")
	declared := -1.0
	for line := range bytes.Lines(said) {
		var entry struct {
			Msg   string
			Share float64
		}
		if json.Unmarshal(line, &entry) == nil && strings.HasPrefix(entry.Msg, "duplicates are found approximately") {
			declared = entry.Share
		}
	}
	measured := number(t, db, fmt.Sprintf(`SELECT avg(is_duplicate::int) FROM got WHERE canonical_url IS NOT NULL AND n > %d`, keys-last))
	t.Logf("%.3f %% of new pages are taken for duplicates, %.3f %% are declared for all keys", 100*measured, 100*declared)
	if declared < 0.005 || declared > 0.05 || measured > 1.15*declared || measured < 0.6*declared {
		t.Errorf("%v measured, %v declared", measured, declared)
	}
}

// TestDedupeTimes runs the query of docs/dedupe.md for when each page was seen, and compares with the rows one by one.
func TestDedupeTimes(t *testing.T) {
	const records = 20_000
	dir, db := t.TempDir(), readers.Duck(t)
	writeCrawl(t, dir, records, records, generate.Options{Seed: 7, Repeats: 0.5, RepeatsWithin: 1 << 32})
	dedupeRun(t, db, dir, "memory: 16MiB", "")
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "dedupe.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "## First seen")
	_, text, _ = strings.Cut(text, "```sql\n")
	query, _, ok := strings.Cut(text, ";\n```")
	if !ok {
		t.Fatal("docs/dedupe.md has no query")
	}
	query = strings.NewReplacer("timestamp", "fetched_at", "pages/*.parquet", filepath.Join(dir, "out", "*.parquet")).Replace(query)
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE pages AS "+query); err != nil {
		t.Fatal(err)
	}
	none(t, db, "another first row", `SELECT * FROM pages p JOIN got g USING (url_key) WHERE NOT g.is_duplicate AND (p.first_seen, p.first_url) IS DISTINCT FROM (g.fetched_at, g.url)`)
	none(t, db, "a later row", `SELECT * FROM pages p JOIN got g USING (url_key) WHERE g.fetched_at > p.last_seen`)
	if all, keyed := number(t, db, `SELECT sum(times) FROM pages`), number(t, db, `SELECT count(*) FROM got WHERE url_key IS NOT NULL`); all != keyed {
		t.Errorf("%v rows, want %v", all, keyed)
	}
	if n, want := number(t, db, `SELECT count(*) FROM pages`), number(t, db, `SELECT count(*) FROM got WHERE NOT is_duplicate AND url_key IS NOT NULL`); n != want || n == 0 {
		t.Errorf("%v pages, want %v", n, want)
	}
}
