package itest

import (
	"bufio"
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/internal/dev/testproc"
	"github.com/urlmill/urlmill/sources/generate"
	"github.com/urlmill/urlmill/urlcore"
)

// The three uses, as "make examples" runs them: their own configurations on made-up data whose truth is known.
const (
	useRecords = 60_000
	useSeed    = 11
)

// demo runs a use into a folder.
func demo(t *testing.T, use string) (out string) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "out")
	said, err := exec.CommandContext(t.Context(), testproc.Urlmill(t), "demo", "--use", use, "--out", out,
		"--records", fmt.Sprint(useRecords), "--seed", fmt.Sprint(useSeed)).CombinedOutput()
	if err != nil {
		t.Fatalf("urlmill demo --use %s: %v\n%s", use, err, said)
	}
	return out
}

// click is a record as it was made, and what the parser of single URLs has to say about it.
type click struct {
	TS       string `json:"ts"`
	UserID   int64  `json:"user_id"`
	URL      string `json:"url"`
	Domain   string `json:"domain"`
	Campaign string `json:"campaign"` // empty if there is none
	text     bool   // URL is what the record has, byte by byte
}

// clicks are the records with a URL.
func clicks(t *testing.T, start time.Time) (list []click) {
	t.Helper()
	g, err := generate.NewGenerator(generate.Options{Seed: useSeed, Start: start})
	if err != nil {
		t.Fatal(err)
	}
	for range useRecords {
		record := g.Append(nil)
		if g.Truth().Code != "" {
			continue
		}
		var made struct {
			TS      string
			UserID  int64 `json:"user_id"`
			URL     string
			Referer string
		}
		if err := json.Unmarshal(record, &made); err != nil {
			t.Fatalf("%s: %v", record, err)
		}
		base, _ := urlcore.Parse(made.Referer)
		u, err := urlcore.ParseRef(made.URL, base)
		if err != nil {
			t.Fatalf("%s: %v", record, err)
		}
		campaign, _ := u.SearchParams().Get("utm_campaign")
		list = append(list, click{
			TS: made.TS, UserID: made.UserID, URL: made.URL, Domain: u.RegistrableDomain(), Campaign: campaign,
			text: !strings.ContainsRune(made.URL, utf8.RuneError),
		}) // what is not UTF-8 was replaced
	}
	return list
}

// most returns how often the values of a list are there, the most frequent ones first.
func most(values []string, n int) (lines []string) {
	counts := map[string]int{}
	for _, v := range values {
		counts[v]++
	}
	order := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, v := range order[:min(n, len(order))] {
		lines = append(lines, fmt.Sprintf("%s %d", v, counts[v]))
	}
	return lines
}

// counted is the same by DuckDB, of a column of files.
func counted(t *testing.T, db *sql.DB, files, column string, n int) (lines []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), fmt.Sprintf(`SELECT %[1]s || ' ' || count(*) FROM '%[2]s'
		WHERE %[1]s IS NOT NULL AND url_error IS NULL GROUP BY %[1]s ORDER BY count(*) DESC, %[1]s COLLATE C LIMIT %[3]d`, column, files, n))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// Counts by registrable domain and by campaign are those of the records that were made.
func TestUseClickstream(t *testing.T) {
	db, files := readers.Duck(t), demo(t, "clickstream")+"/*.parquet"
	list := clicks(t, time.Time{})
	var domains, campaigns []string
	for _, c := range list {
		if c.Domain != "" {
			domains = append(domains, c.Domain)
		}
		if c.Campaign != "" {
			campaigns = append(campaigns, c.Campaign)
		}
	}
	if len(domains) < useRecords/2 || len(campaigns) < useRecords/50 {
		t.Fatalf("%d domains, %d campaigns", len(domains), len(campaigns))
	}
	const all = 1 << 20
	if got, want := counted(t, db, files, "registrable_domain", all), most(domains, all); !slices.Equal(got, want) {
		t.Errorf("registrable domains: %d, want %d; first %v, want %v", len(got), len(want), got[:min(5, len(got))], want[:5])
	}
	if got, want := counted(t, db, files, "nullif(utm_campaign, '')", all), most(campaigns, all); !slices.Equal(got, want) {
		t.Errorf("campaigns: %v, want %v", got, want)
	}
	if rows := number(t, db, "SELECT count(*) FROM '"+files+"'"); rows != useRecords {
		t.Errorf("%v rows", rows)
	}
}

// The duplicates are those that were made.
func TestUseDedupe(t *testing.T) {
	db, files := readers.Duck(t), demo(t, "dedupe")+"/*.parquet"
	mix := generate.Distinct()
	mix["empty"] = 0
	g, err := generate.NewGenerator(generate.Options{
		Seed: useSeed, Format: generate.Lines, Profile: generate.Crawl,
		Mix: mix, Repeats: 0.3, RepeatsWithin: 1 << 32,
	})
	if err != nil {
		t.Fatal(err)
	}
	planted := 0
	for range useRecords {
		g.Append(nil)
		if g.Truth().Repeat != generate.NoRepeat {
			planted++
		}
	}
	if found := number(t, db, "SELECT count(*) FROM '"+files+"' WHERE is_duplicate"); found != float64(planted) || planted < useRecords/10 {
		t.Errorf("%v duplicates were found, %d made", found, planted)
	}
	none(t, db, "pages without exactly one first row", `SELECT canonical_url, count(*) AS rows FROM '`+files+`'
		WHERE canonical_url IS NOT NULL GROUP BY ALL HAVING count(*) FILTER (NOT is_duplicate) <> 1`)
}

// The rows of the Iceberg table are the records that were made.
func TestUseWarehouse(t *testing.T) {
	out := demo(t, "warehouse")
	list := clicks(t, generate.DefaultStart.Add(-useRecords/2*time.Millisecond))
	domain := slices.IndexFunc(list, func(c click) bool { return c.Domain != "" })
	got := readers.Pyiceberg(t, filepath.Join(out, "_catalog.db"), "web.clicks", "offset", "registrable_domain = '"+list[domain].Domain+"'")
	const each = useRecords / 4 // of 4 partitions
	if got.Rows != useRecords || got.Distinct != each || got.Sum != 4*each*(each-1)/2 {
		t.Errorf("%d rows, %d offsets that add up to %d", got.Rows, got.Distinct, got.Sum)
	}
	if got.Filtered == 0 || got.Filtered == got.Rows {
		t.Errorf("a filter leaves %d rows of %d", got.Filtered, got.Rows)
	}
	made := filepath.Join(t.TempDir(), "made.ndjson")
	text := slices.DeleteFunc(slices.Clone(list), func(c click) bool { return !c.text })
	writeLines(t, made, text)
	names := make([]string, len(got.Files))
	for i, f := range got.Files {
		names[i] = "'" + strings.TrimPrefix(f, "file://") + "'"
	}
	db := readers.Duck(t)
	for name, query := range map[string]string{
		"made": "SELECT ts::TIMESTAMPTZ AS ts, user_id, url, nullif(domain, '') AS domain FROM read_json('" + made + "', columns = {ts: 'VARCHAR', user_id: 'BIGINT', url: 'VARCHAR', domain: 'VARCHAR'})",
		"held": "SELECT ts, user_id, url, registrable_domain AS domain FROM read_parquet([" + strings.Join(names, ", ") + "]) WHERE url_error IS NULL",
	} {
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE "+name+" AS "+query); err != nil {
			t.Fatal(name, err)
		}
	}
	none(t, db, "made, and not in the table", "FROM made EXCEPT ALL FROM held")
	if held := number(t, db, "SELECT count(*) FROM held"); held != float64(len(list)) || len(text) < useRecords*9/10 {
		t.Errorf("%v rows with a URL, %d made", held, len(list))
	}
}

// writeLines writes values as NDJSON.
func writeLines[T any](t *testing.T, name string, values []T) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	lines := json.NewEncoder(w)
	for _, v := range values {
		if err := lines.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
