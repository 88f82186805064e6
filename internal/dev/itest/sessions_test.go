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
func sqlOf(t *testing.T, mark string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "sessions.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, query, found := strings.Cut(string(text), "<!-- duckdb: "+mark+" -->\n```sql\n")
	query, _, ended := strings.Cut(query, "```")
	if !found || !ended {
		t.Fatalf("docs/sessions.md has no query %s", mark)
	}
	return query
}

// TestSessions runs the queries of docs/sessions.md for DuckDB on rows whose sessions and touches are known.
func TestSessions(t *testing.T) {
	db := readers.Duck(t)
	for _, query := range []string{`CREATE TABLE clicks AS SELECT user_id::BIGINT AS user_id, ('2026-01-' || minute || ':00+00')::TIMESTAMPTZ AS ts, path, channel, source, bot, url_error FROM (VALUES
		(1, '01 10:00', '/', 'Organic Search', 'google', NULL, NULL),
		(1, '01 10:30', '/a', NULL, NULL, NULL, NULL), -- exactly 30 minutes go on
		(1, '01 11:01', '/b', 'Direct', '(direct)', NULL, NULL),
		(1, '03 09:00', '/', 'Email', 'news', NULL, NULL),
		(1, '03 09:01', '/c', 'Paid Search', 'bing', NULL, NULL),
		(1, '04 09:00', '/', 'Direct', '(direct)', NULL, NULL),
		(1, '04 09:05', '/checkout/thanks', NULL, NULL, NULL, NULL),
		(2, '01 10:00', '/', 'Direct', '(direct)', 'search', NULL),
		(2, '01 10:01', '/x', NULL, NULL, NULL, NULL),
		(2, '01 10:02', '/checkout/thanks', NULL, NULL, NULL, 'host-missing')) AS t (user_id, minute, path, channel, source, bot, url_error)`, sqlOf(t, "sessions")} {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"SELECT concat_ws('|', user_id, session_number, strftime(began AT TIME ZONE 'UTC', '%d %H:%M'), pages, channel, source, landing_page) FROM sessions ORDER BY user_id, began", []string{
			"1|1|01 10:00|2|Organic Search|google|/", "1|2|01 11:01|1|Direct|(direct)|/b", "1|3|03 09:00|2|Email|news|/", "1|4|04 09:00|2|Direct|(direct)|/",
			"2|1|01 10:01|1|Unassigned|/x",
		}},
		{"SELECT concat_ws('|', user_id, first_touch, last_touch, last_non_direct) FROM (" + sqlOf(t, "attribution") + ")", []string{"1|Organic Search|Direct|Email"}},
	} {
		rows, err := db.QueryContext(t.Context(), c.query)
		if err != nil {
			t.Fatalf("%v\n%s", err, c.query)
		}
		var got []string
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			got = append(got, line)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		_ = rows.Close()
		if !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
