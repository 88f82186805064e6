package clickhouse

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/config"
)

// mustClient returns a client of a server that answers so.
func mustClient(t *testing.T, answer http.HandlerFunc) *client {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	c, err := newClient(Options{URL: config.Secret(strings.Replace(s.URL, "//", "//u:s3cret@", 1))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

// TestEndlessAnswer: an answer without end is given up at a length, and an error's is not printed as a whole.
func TestEndlessAnswer(t *testing.T) {
	for status, most := range map[int]int{http.StatusOK: 200, http.StatusInternalServerError: 200} {
		sent := 0
		c := mustClient(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			for piece := bytes.Repeat([]byte("x"), 1<<20); sent < 16*maxAnswer; sent += len(piece) {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		})
		if _, err := c.query(t.Context(), "SELECT 1", nil, nil); err == nil || len(err.Error()) > most {
			t.Errorf("%d: %.300v", status, err)
		}
		c.close()
	}
	c := mustClient(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
	})
	if _, err := c.query(t.Context(), "SELECT 1", nil, nil); err == nil || len(err.Error()) > 2*maxMessage {
		t.Errorf("%.300v", err)
	}
}

// TestRedirect: no redirect is followed, since user and password would go with it.
func TestRedirect(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			t.Errorf("%d: the other host was asked, with the password %q", status, r.Header.Get("X-ClickHouse-Key"))
		}))
		t.Cleanup(other.Close)
		at := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
		c := mustClient(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, at+r.URL.Path+"?password=s3cret", status)
		})
		_, err := c.query(t.Context(), "SELECT 1", nil, nil)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("answers %d and leads elsewhere (%q)", status, at)) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// TestQuoted: names and texts cannot end their quotes.
func TestQuoted(t *testing.T) {
	for in, want := range map[string][2]string{
		"a":       {"`a`", "'a'"},
		"a`b":     {"`a\\`b`", "'a\\`b'"},
		`a'b`:     {"`a\\'b`", `'a\'b'`},
		`a\`:      {"`a\\\\`", `'a\\'`},
		"`; x --": {"`\\`; x --`", "'\\`; x --'"},
	} {
		if got := [2]string{name(in), quote(in)}; got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
