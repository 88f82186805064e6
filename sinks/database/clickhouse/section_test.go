package clickhouse

import (
	"testing"

	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/internal/kindtest"
)

func TestSection(t *testing.T) {
	o, err := kindtest.Parse(Kind, "{url: 'http://u:geheim@h:8123/web', table: clicks}")
	if err != nil {
		t.Fatal(err)
	}
	if a := o.Asks(); a.Place != "http://h:8123/web clicks" || !a.Positions || a.DeadLetters != (sinks.DeadLetters{Never: "ClickHouse cannot load two tables at once"}) {
		t.Errorf("%+v", a)
	}
	for text, want := range map[string]string{
		"{url: 'http://h:8123', table: web.clicks}":    "",
		"{url: 'tcp://u:geheim@h', table: a}":          "clickhouse.url: it is not the address of a server; give that of the HTTP interface, such as http://user@localhost:8123/database",
		"{url: 'http://h', table: a, dead_letters: b}": `clickhouse.dead_letters: unknown key "dead_letters" in clickhouse; the keys here are url, table, batch_bytes and retry_for`,
		"{url: 'http://h', table: a-b}":                "clickhouse.table: table is not the name of a table; use letters, digits and _, with the schema or database before a dot, such as web.clicks",
	} {
		if got := kindtest.Problems(Kind, text, sinks.Env{}); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}
