package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/internal/kindtest"
)

func TestSection(t *testing.T) {
	o, err := kindtest.Parse(Kind, "{url: 'postgres://u:geheim@h:5/db?sslmode=disable', table: public.clicks, dead_letters: dead, batch_bytes: 2MiB, retry_for: 7s, dial_timeout: 3s}")
	if err != nil {
		t.Fatal(err)
	}
	got := o.(*Options)
	if got.Table != "public.clicks" || got.DeadLetters != "dead" || got.BatchBytes != 2<<20 || got.RetryFor != 7*time.Second || got.DialTimeout != 3*time.Second {
		t.Errorf("%+v", got)
	}
	if a := o.Asks(); a.Place != "postgres://h:5/db public.clicks" || !a.Positions || !a.DeadLetters.Given || a.DeadLetters.Want != "the table for the dead letters there" {
		t.Errorf("%+v", a)
	}
	for text, want := range map[string]string{
		"{url: 'postgres://u:geheim@h:5/db', table: clicks}": "",
		"{url: 'postgres://u:geheim@h:5:5/db', table: a}":    "postgres.url: it is not a connection string; give one such as postgres://user@host:5432/database",
		"{url: 'postgres://h', table: a b}":                  "postgres.table: table is not the name of a table; use letters, digits and _, with the schema or database before a dot, such as public.clicks",
		"{url: 'postgres://h', table: a, dead_letters: a}":   "postgres.dead_letters: dead_letters is the table of the rows; give another, as the two have different columns",
		"{table: a}": `postgres.url: postgres has no "url"; add it, such as url: ${DATABASE_URL}`,
	} {
		if got := kindtest.Problems(Kind, text, sinks.Env{}); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// TestPlace: nobody logs in with what is stored and shown.
func TestPlace(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://u:geheim@h/db":                            "postgres://h/db clicks",
		"host=h port=7 user=u password=geheim dbname=db":      "postgres://h:7/db clicks",
		"password=geheim something that cannot be read":       "clicks",
		"postgres://u:geheim@h:port/db?password=geheim":       "clicks",
		"postgres:///db?host=/var/run&user=u&password=geheim": "postgres:///db clicks",
	} {
		o, err := kindtest.Parse(Kind, "{table: clicks, url: '"+url+"'}")
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Asks().Place; got != want || strings.Contains(got, "geheim") {
			t.Errorf("%s: %s", url, got)
		}
	}
}
