package itest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
)

// sqlOf returns the query of docs/sessions.md behind a mark.
func sqlOf(t *testing.T, engine, mark string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "sessions.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, query, found := strings.Cut(string(text), "<!-- "+engine+": "+mark+" -->\n```sql\n")
	query, _, ended := strings.Cut(query, "```")
	if !found || !ended {
		t.Fatalf("docs/sessions.md has no query %s of %s", mark, engine)
	}
	return query
}

// knownClicks are rows whose sessions and touches are known.
const knownClicks = `SELECT user_id::BIGINT AS user_id, ('2026-01-' || minute || ':00+00')::TIMESTAMPTZ AS ts, path, channel, source, bot, url_error FROM (VALUES
	(1, '01 10:00', '/', 'Organic Search', 'google', NULL, NULL),
	(1, '01 10:30', '/a', NULL, NULL, NULL, NULL), -- exactly 30 minutes go on
	(1, '01 11:01', '/b', 'Direct', '(direct)', NULL, NULL),
	(1, '03 09:00', '/', 'Email', 'news', NULL, NULL),
	(1, '03 09:01', '/c', 'Paid Search', 'bing', NULL, NULL),
	(1, '04 09:00', '/', 'Direct', '(direct)', NULL, NULL),
	(1, '04 09:05', '/checkout/thanks', NULL, NULL, NULL, NULL),
	(2, '01 10:00', '/', 'Direct', '(direct)', 'search', NULL),
	(2, '01 10:01', '/x', NULL, NULL, NULL, NULL),
	(2, '01 10:02', '/checkout/thanks', NULL, NULL, NULL, 'host-missing')) AS t (user_id, minute, path, channel, source, bot, url_error)`

// manyClicks are 5,000 rows of 40 users in 40 days, no two of a user at the same second.
const manyClicks = `SELECT (hash(i) % 40)::BIGINT AS user_id, '2026-02-01 00:00:00+00'::TIMESTAMPTZ + to_seconds((hash(i, 1) % 60 * 57600 + hash(i, 2) % 5400)::BIGINT) AS ts,
	CASE WHEN hash(i, 3) % 20 = 0 THEN '/checkout/thanks' ELSE '/p/' || (hash(i, 3) % 50) END AS path,
	CASE hash(i, 4) % 6 WHEN 0 THEN 'Direct' WHEN 1 THEN 'Email' WHEN 2 THEN 'Paid Search' END AS channel,
	CASE WHEN hash(i, 4) % 6 < 2 THEN 's' || (hash(i, 5) % 7) END AS source,
	CASE WHEN hash(i, 6) % 9 = 0 THEN 'search' END AS bot, CASE WHEN hash(i, 7) % 11 = 0 THEN 'host-missing' END AS url_error
	FROM range(5000) AS r (i) QUALIFY row_number() OVER (PARTITION BY user_id, ts ORDER BY i) = 1`

// questions are what the queries are looked at by: the sessions, and the touches before conversions. SECONDS(x) stands for x as seconds
// since 1970, in the words of an engine.
func questions(t *testing.T, engine, seconds string) []string {
	in := func(query string) string { return strings.ReplaceAll(query, "SECONDS", seconds) }
	return []string{
		sqlOf(t, engine, "sessions"),
		in("SELECT user_id, session_number, SECONDS(began), SECONDS(ended), pages, channel, coalesce(source, '-'), landing_page FROM sessions ORDER BY user_id, began"),
		in("SELECT user_id, SECONDS(ts), first_touch, last_touch, last_non_direct FROM (" + sqlOf(t, engine, "attribution") + ") AS touches ORDER BY user_id, ts"),
	}
}

// TestSessions runs the queries of docs/sessions.md in DuckDB, ClickHouse and Spark, on rows whose sessions and touches are known and on
// many, of which all three say the same.
func TestSessions(t *testing.T) {
	for name, c := range map[string]struct {
		rows string
		want []string
		more int // answers at least
	}{
		"known": {knownClicks, []string{
			`[1,1,1767261600,1767263400,2,"Organic Search","google","/"]`, `[1,2,1767265260,1767265260,1,"Direct","(direct)","/b"]`,
			`[1,3,1767430800,1767430860,2,"Email","news","/"]`, `[1,4,1767517200,1767517500,2,"Direct","(direct)","/"]`,
			`[2,1,1767261660,1767261660,1,"Unassigned","-","/x"]`,
			`[1,1767517500,"Organic Search","Direct","Email"]`,
		}, 0},
		"many": {manyClicks, nil, 1500},
	} {
		t.Run(name, func(t *testing.T) {
			db := readers.Duck(t)
			path := filepath.Join(t.TempDir(), "clicks.parquet")
			for _, query := range []string{"CREATE TABLE clicks AS " + c.rows, "COPY clicks TO '" + path + "' (FORMAT parquet)"} {
				if _, err := db.ExecContext(t.Context(), query); err != nil {
					t.Fatal(err)
				}
			}
			asked := questions(t, "duckdb", "epoch_s")
			if _, err := db.ExecContext(t.Context(), "CREATE MACRO epoch_s(x) AS epoch(x)::BIGINT; "+asked[0]); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, query := range asked[1:] {
				got = append(got, readers.DuckLines(t, db, query)...)
			}
			if c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("DuckDB: %s, want %s", got, c.want)
			}
			if len(got) < c.more {
				t.Errorf("%d answers", len(got))
			}
			t.Logf("%d answers", len(got))
			for engine, seconds := range map[string]string{"clickhouse": "toUnixTimestamp", "spark": "unix_timestamp"} {
				t.Run(engine, func(t *testing.T) {
					others := readers.Clicks(t, engine, path, questions(t, engine, seconds))
					for i := range max(len(got), len(others)) {
						if i >= len(got) || i >= len(others) || got[i] != others[i] {
							t.Fatalf("answer %d of %d and %d: DuckDB %s, %s %s", i, len(got), len(others), got[min(i, len(got)-1)], engine, strings.Join(others[min(i, len(others)):min(i+1, len(others))], ""))
						}
					}
				})
			}
		})
	}
}
