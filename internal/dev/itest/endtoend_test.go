package itest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/internal/dev/testproc"
	"github.com/urlmill/urlmill/sources/generate"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/charset"
)

const endToEndConfig = `
source:
  file: {paths: [%s]}
  codec:
    ndjson:
      url: /url
      base: /referer
      carry: [{name: user_id, pointer: /user_id, type: int64}, {name: ts, pointer: /ts, type: timestamp}]
sink:
  parquet: {path: %s}
  roll: {rows: 40000}
`

// wantRow is what a row has to hold, by the record API of urlcore and the truth of the generator. It takes none
// of the ways of the pipeline: no batches, no columns, no Arrow.
type wantRow struct {
	Record    int64               `json:"record"`
	URL       *string             `json:"url"`
	Href      *string             `json:"href"`
	Host      *string             `json:"host"`
	Port      *int                `json:"port"`
	Origin    *string             `json:"origin"`
	Domain    *string             `json:"registrable_domain"`
	Suffix    *string             `json:"public_suffix"`
	Path      *string             `json:"path"`
	Query     *string             `json:"query"`
	Params    []map[string]string `json:"params"`
	Fragment  *string             `json:"fragment"`
	URLError  *string             `json:"url_error"`
	UserID    *int64              `json:"user_id"`
	Timestamp *int64              `json:"ts"`
}

// A generated clickstream goes through the binary, from a compressed file into Parquet, and DuckDB joins the
// result with what has to be there.
func TestEndToEnd(t *testing.T) {
	const records = 100_000
	dir := t.TempDir()
	input, want, out := filepath.Join(dir, "clicks.ndjson.gz"), filepath.Join(dir, "want.ndjson"), filepath.Join(dir, "out")
	writeClicks(t, input, want, records)

	config := filepath.Join(dir, "run.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, endToEndConfig, input, out), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(testproc.Urlmill(t), "run", config).CombinedOutput(); err != nil {
		t.Fatalf("urlmill run: %v\n%s", err, text)
	}

	db := readers.Duck(t)
	exec := func(query string) {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	exec(`CREATE TABLE want AS SELECT * FROM read_json('` + want + `', format = 'newline_delimited', columns = {
		record: 'BIGINT', url: 'VARCHAR', href: 'VARCHAR', host: 'VARCHAR', port: 'INTEGER', origin: 'VARCHAR',
		registrable_domain: 'VARCHAR', public_suffix: 'VARCHAR', path: 'VARCHAR', query: 'VARCHAR',
		params: 'STRUCT(key VARCHAR, value VARCHAR)[]', fragment: 'VARCHAR', url_error: 'VARCHAR', user_id: 'BIGINT', ts: 'BIGINT'})`)
	exec(`CREATE VIEW got AS SELECT * REPLACE (epoch_us(ts) AS ts) FROM '` + out + `/*.parquet'`)
	counts := readers.DuckRows(t, db, `SELECT (SELECT count(*) FROM want) AS want, (SELECT count(*) FROM got) AS got,
		(SELECT count(*) FROM glob('`+out+`/*.parquet')) AS files`)
	t.Logf("%v", counts[0])
	if fmt.Sprint(counts[0]["want"]) != fmt.Sprint(records) || fmt.Sprint(counts[0]["got"]) != fmt.Sprint(records) {
		t.Errorf("%v rows, want %d", counts[0], records)
	}
	for _, column := range []string{
		"url", "href", "host", "port", "origin", "registrable_domain", "public_suffix", "path", "query", "params",
		"fragment", "url_error", "user_id", "ts",
	} {
		wrong := readers.DuckRows(t, db, fmt.Sprintf(`SELECT want.record, want.%[1]s AS want, got.%[1]s AS got, got.url
			FROM want FULL OUTER JOIN got USING (record) WHERE want.%[1]s IS DISTINCT FROM got.%[1]s ORDER BY 1 LIMIT 3`, column))
		for _, row := range wrong {
			t.Errorf("%s: %v", column, row)
		}
	}
}

// writeClicks writes n generated records to a compressed file, and what is expected of each to another file.
func writeClicks(t *testing.T, input, want string, n int64) {
	t.Helper()
	g, err := generate.NewGenerator(generate.Options{Records: n, Seed: 11})
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Create(input)
	if err != nil {
		t.Fatal(err)
	}
	zip := gzip.NewWriter(in)
	out, err := os.Create(want)
	if err != nil {
		t.Fatal(err)
	}
	buffered := bufio.NewWriter(out)
	lines := json.NewEncoder(buffered)
	lines.SetEscapeHTML(false)
	var record []byte
	for range n {
		record = g.Append(record[:0])
		if _, err := zip.Write(append(record, '\n')); err != nil {
			t.Fatal(err)
		}
		if err := lines.Encode(expect(record, g)); err != nil {
			t.Fatal(err)
		}
	}
	for _, done := range []func() error{zip.Close, in.Close, buffered.Flush, out.Close} {
		if err := done(); err != nil {
			t.Fatal(err)
		}
	}
}

// expect makes the row of a record, the last one of g.
func expect(record []byte, g *generate.Generator) wantRow {
	truth := g.Truth()
	row := wantRow{Record: truth.Number}
	if truth.Code != "" {
		row.URLError = &truth.Code
	}
	var click struct {
		URL     *string `json:"url"`
		Referer *string `json:"referer"`
	}
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(record, &click); err != nil && !errors.As(err, &wrongType) {
		return row // malformed: everything is null
	}
	row.UserID, row.Timestamp = &truth.UserID, &truth.Timestamp
	if click.URL == nil || wrongType != nil {
		return row
	}
	// encoding/json replaces every ill-formed byte, the standard every maximal ill-formed part.
	raw := string(g.URL())
	text := string(charset.AppendUTF8(nil, []byte(raw)))
	row.URL = &text
	var u *urlcore.URL
	var err error
	if click.Referer != nil && *click.Referer != "" {
		u, err = urlcore.ParseWithBase(raw, *click.Referer)
	} else {
		u, err = urlcore.Parse(raw)
	}
	if err != nil {
		return row
	}
	fill(&row, u)
	return row
}

// fill sets the parts of a URL.
func fill(row *wantRow, u *urlcore.URL) {
	part := func(p urlcore.Part, present bool) *string {
		if !present {
			return nil
		}
		s := string(u.Bytes(p))
		return &s
	}
	some := func(s string, present bool) *string {
		if !present {
			return nil
		}
		return &s
	}
	row.Href, row.Path = part(urlcore.Href, true), part(urlcore.Path, true)
	row.Host = part(urlcore.Host, u.HasHost())
	row.Query, row.Fragment = part(urlcore.Query, u.HasQuery()), part(urlcore.Fragment, u.HasFragment())
	row.Origin = some(u.Origin(), u.Origin() != "null")
	row.Domain = some(u.RegistrableDomain(), u.RegistrableDomain() != "")
	row.Suffix = some(u.PublicSuffix(), u.PublicSuffix() != "")
	if port, ok := u.PortNumber(); ok {
		n := int(port)
		row.Port = &n
	}
	if u.HasQuery() {
		row.Params = []map[string]string{}
		for name, value := range u.SearchParams().All() {
			row.Params = append(row.Params, map[string]string{"key": name, "value": value})
		}
	}
}
