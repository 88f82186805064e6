package top

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/internal/admin"
)

// serve returns a client of a listener that answers by handler.
func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	base, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &Client{HTTP: s.Client(), Base: base, Token: "secret"}
}

func status() admin.Status {
	began := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	behind := int64(12345)
	return admin.Status{
		Now: began.Add(90 * time.Second), Began: began, Rows: 1_000_000, Bytes: 2_500_000, Committed: 900_000, Invalid: 30, Dead: 4, Dropped: 5,
		HasLag: true, Lag: 12345, Files: 7, FileBytes: 8_000, Memory: 64_000_000, MemoryMax: 1_000_000_000,
		Errors:   map[string]int64{"host-missing": 10, "port-invalid": 20},
		Problems: []admin.Problem{{Code: "stuck", Detail: "clicks/0\x1b[2J", Advice: "Look."}},
		Lanes: []admin.Lane{
			{Name: "clicks/0\u202e", Rows: 600_000, Written: 700_000, Committed: 650_000, Behind: &behind, Oldest: 3.21, Stuck: true},
			{Name: "clicks/1", Rows: 400_000, Written: 400_000, Committed: 400_000},
		},
		LaneCount: 1002, History: []admin.Point{{Rows: 10, Errors: 1}, {Rows: 20_000.9, Errors: 2}}, Build: admin.Build{Version: "v1.2.3"},
		Name: "clicks\x1b[2J, group g",
	}
}

func TestLines(t *testing.T) {
	s := status()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/status" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("%s, %v", r.URL, r.Header)
		}
		if err := json.NewEncoder(w).Encode(s); err != nil {
			t.Error(err)
		}
	})
	check := func(want ...string) {
		t.Helper()
		if err := c.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, c.Lines()); diff != "" {
			t.Error(diff)
		}
	}
	first := `clicks\x1b[2J, group g: urlmill v1.2.3 at ` + c.Base.Host + ", up 1m30s"
	problem := `NOT READY  stuck: clicks/0\x1b[2J. Look.`
	check(first, problem,
		"rows 1,000,000 (20,000/s)  committed 900,000  read 2.5 MB  lag 12,345  files 7 with 8.0 kB  memory 64.0 MB of 1.0 GB",
		"errors 30 (2/s)  dead letters 4  dropped 5  port-invalid 20  host-missing 10", "",
		"LANE              ROWS     ROWS/S  WRITTEN  COMMITTED  BEHIND  OLDEST",
		`clicks/0\u{202e}  600,000          700000   650000     12,345  3.2s    stuck`,
		"clicks/1          400,000          400000   400000             0s",
		"and 1,000 more")
	// Two seconds later.
	s.Now, s.Rows, s.Invalid, s.Lanes, s.LaneCount, s.HasLag, s.Files, s.MemoryMax = s.Now.Add(2*time.Second), 1_003_000, 40, s.Lanes[1:], 1, false, 0, 0
	s.Lanes[0].Rows += 3000
	s.Name = ""
	check("urlmill v1.2.3 at "+c.Base.Host+", up 1m32s", problem,
		"rows 1,003,000 (1,500/s)  committed 900,000  read 2.5 MB  memory 64.0 MB",
		"errors 40 (5/s)  dead letters 4  dropped 5  port-invalid 20  host-missing 10", "",
		"LANE      ROWS     ROWS/S  WRITTEN  COMMITTED  BEHIND  OLDEST",
		"clicks/1  403,000  1,500   400000   400000             0s")
	// It has been started again: its first rows are not fewer than those before.
	s.Began, s.Now, s.Rows, s.Invalid, s.Errors, s.Problems, s.Lanes, s.LaneCount, s.History = s.Now, s.Now.Add(time.Second), 5, 0, nil, nil, nil, 0, nil
	check("urlmill v1.2.3 at "+c.Base.Host+", up 1s",
		"rows 5 (0/s)  committed 900,000  read 2.5 MB  memory 64.0 MB", "errors 0 (0/s)  dead letters 4  dropped 5", "",
		"LANE  ROWS  ROWS/S  WRITTEN  COMMITTED  BEHIND  OLDEST")
}

// TestNoUrlmill has something else listen, which must not be believed.
func TestNoUrlmill(t *testing.T) {
	for want, handler := range map[string]http.HandlerFunc{
		"asks for the token of admin.token; give --token-file": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"answers 404 Not Found; give the address":              http.NotFound,
		"does not answer as urlmill does":                      func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"a":1}`)) },
		"does not answer as urlmill does; give the address that admin.listen names\nunexpected EOF": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"bad":[` + strings.Repeat(" ", mostBytes)))
		},
	} {
		c := serve(t, handler)
		if err := c.Update(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	c := serve(t, nil)
	c.Base.Host = "127.0.0.1:1"
	if err := c.Update(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "; is it running, with admin in its configuration?") {
		t.Error(err)
	}
}

func TestFrame(t *testing.T) {
	if got, want := Frame([]string{"abcdef", "g", "h"}, 4, 2), "\x1b[Habc…\x1b[K\r\ng\x1b[K\x1b[J"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
