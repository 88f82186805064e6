package duckdb

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/internal/kindtest"
)

// TestSection: the options are known in every binary, and the sink opens in those that have it.
func TestSection(t *testing.T) {
	o, err := kindtest.Parse(Kind, "{path: web.duckdb, table: clicks, dead_letters: dead}")
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs("web.duckdb")
	if err != nil {
		t.Fatal(err)
	}
	if a := o.Asks(); a.Place != path+" clicks" || !a.Positions || !a.DeadLetters.Given {
		t.Errorf("%+v", a)
	}
	if _, err := o.With(sinks.Env{Log: slog.New(slog.DiscardHandler)}).Open(); (err == nil) != (Kind.Missing == "") || err != nil && err.Error() != Kind.Missing {
		t.Errorf("%v, with %q missing", err, Kind.Missing)
	}
	for text, want := range map[string]string{
		"{path: a, table: main.clicks}":      "",
		"{path: a, table: b, retry_for: 1s}": `duckdb.retry_for: unknown key "retry_for" in duckdb; the keys here are path, table, dead_letters and batch_bytes`,
	} {
		if got := kindtest.Problems(Kind, text, sinks.Env{}); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}
