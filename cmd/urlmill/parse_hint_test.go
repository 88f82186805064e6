package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

// TestLookOf checks what records that are no URLs are taken for.
func TestLookOf(t *testing.T) {
	for line, want := range map[string]string{
		`1.2.3.4 - - [22/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "curl/8"`: "try --codec combined",
		`1.2.3.4 - - [22/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 5`:              "try --codec common",
		`{"id": 1, "page": "https://e.com/"}`:                                           "try --url-field /page",
		`{"id": 1}`:                                                                     "try --url-field /url",
		`{"cut": `:                                                                      "try --url-field /url",
		"example.com/a":                                                                 "no scheme",
		"1\thttps://e.com/":                                                             "--codec tsv",
		"1,https://e.com/":                                                              "--codec csv",
		"something else, almost":                                                        "--codec csv",
		" CDX N b a m s k r M S V g":                                                    "try --codec cdx",
		`com,example)/ 20261124135500 {"url": "https://example.com/"}`: "try --codec cdx",
		"something else": "",
	} {
		if got := lookOf(line); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// TestOtherLog checks which format lines of an access log have that were read in another.
func TestOtherLog(t *testing.T) {
	const common = `1.2.3.4 - - [22/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 5`
	const combined = common + ` "-" "curl/8"`
	for _, c := range []struct{ line, codec, want string }{
		{common, "combined", "common"},
		{common, "nginx", "common"},
		{common, "w3c", "common"},
		{common, "common", ""},
		{combined, "common", "combined"},
		{combined, "squid", "combined"},
		{combined, "combined", ""},
		{combined, "main", ""},
		{combined + ` 12 "router"`, "traefik", ""},
		{"else", "combined", ""},
	} {
		got := otherLog(c.line, c.codec)
		if c.want == "" && got != "" || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s as %s: %q", c.line, c.codec, got)
		}
	}
}

// TestJudge checks when the rows of a run are an error, and when a warning.
func TestJudge(t *testing.T) {
	for _, test := range []struct {
		rows, invalid int64
		err, warning  string
	}{
		{0, 0, "", ""},
		{10, 5, "", ""},
		{10, 6, "", "most rows have an error"},
		{10, 10, "every row has an error (10 rows), mostly host-missing; if a line is not a URL", ""},
	} {
		var log bytes.Buffer
		err := parseFlags{}.judge(pipeline.Totals{Rows: test.rows, Invalid: test.invalid, Errors: map[string]int64{"host-missing": 5, "a": 1}},
			[]string{"-"}, slog.New(slog.NewTextHandler(&log, nil)))
		if (err != nil) != (test.err != "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
			t.Errorf("%d of %d: error %v, want %q", test.invalid, test.rows, err, test.err)
		}
		if (log.Len() > 0) != (test.warning != "") || !strings.Contains(log.String(), test.warning) {
			t.Errorf("%d of %d: log %q, want %q", test.invalid, test.rows, log.String(), test.warning)
		}
	}
}
