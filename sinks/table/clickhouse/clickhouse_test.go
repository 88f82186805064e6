package clickhouse

import (
	"context"
	"log/slog"
	"testing"

	"github.com/urlmill/urlmill/internal/dbtest"
	"github.com/urlmill/urlmill/internal/leaktest"
	"github.com/urlmill/urlmill/sinks/table"
	"github.com/urlmill/urlmill/sinks/table/tabletest"
)

func TestMain(m *testing.M) {
	tabletest.IfChild(newSink)
	leaktest.Main(m)
}

func newSink(url string) *table.Sink {
	return table.New(table.Options{Table: "clicks", Log: slog.New(slog.DiscardHandler)}, New(Options{URL: url}))
}

// asker returns what runs a query.
func asker(t *testing.T, url string) func(string) string {
	t.Helper()
	c, err := newClient(Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return func(q string) string {
		t.Helper()
		text, err := c.query(context.Background(), q, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		return text
	}
}

// TestKilled kills a process with SIGKILL before an insert, when half of it has reached the server, and when the server has
// answered and the process does not know. In the end every row is there once.
func TestKilled(t *testing.T) {
	address := dbtest.ClickHouse(t)
	proxy := dbtest.NewProxy(t, address)
	ask := asker(t, "http://"+address)
	insert := []byte("INSERT+INTO+%60clicks")
	tabletest.Killed{
		Proxy: proxy, Where: "http://default@" + proxy.Address + "/default",
		Reset: func() { drop(ask) },
		Count: func() string {
			return ask("SELECT concat(toString(count()), ' ', toString(uniqExact(lane, n))) FROM clicks")
		},
		Moments: map[string]tabletest.Moment{
			"before": {Mark: insert, Verdict: dbtest.KillBefore},
			"within": {Mark: insert, Verdict: dbtest.KillWithin},
			"answer": {Mark: insert, Verdict: dbtest.KillBefore, Answer: true},
		},
	}.Run(t)
}

// drop drops the tables of former deliveries.
func drop(ask func(string) string) {
	ask("DROP TABLE IF EXISTS clicks")
	ask("DROP TABLE IF EXISTS urlmill_positions")
}

// TestFenced has two processes at one lane, and looks at what is in the columns.
func TestFenced(t *testing.T) {
	url := "http://" + dbtest.ClickHouse(t)
	tabletest.Fenced(t, "cl'ick\\s", func() *table.Sink { return newSink(url) })
	ask := asker(t, url)
	if n := ask("SELECT count(), max(_urlmill_next), any(_urlmill_lane) FROM clicks FORMAT TSVRaw"); n != "20\t20\tcl'ick\\s/0/" {
		t.Errorf("%s", n)
	}
	if n := ask("SELECT sum(match(url, '^https://www[.]site')), sum(offset), sum(port IS NULL), sum(position(params, 'utm_source') > 0) FROM clicks"); n != "20\t90\t20\t20" {
		t.Errorf("%s", n)
	}
}

// TestLanes asks for the lanes that have a session.
func TestLanes(t *testing.T) {
	url := "http://" + dbtest.ClickHouse(t)
	tabletest.Lanes(t, func() *table.Sink { return newSink(url) })
}

// TestTables refuses tables that rows do not fit into, and takes those with more columns.
func TestTables(t *testing.T) {
	url := "http://" + dbtest.ClickHouse(t)
	ask := asker(t, url)
	const own = ", _urlmill_lane String, _urlmill_next Int64, _urlmill_load String) ENGINE = MergeTree "
	create := func(table string) {
		drop(ask)
		ask("CREATE TABLE clicks " + table)
	}
	tabletest.Tables(t, create, func() *table.Sink { return newSink(url) }, []tabletest.Made{
		{Table: "(more String, lane Int32, n Int64, text Nullable(String)" + own + "ORDER BY n", Want: ""},
		{Table: "(lane Int32, n Int32, text Nullable(String)" + own + "ORDER BY n", Want: "its column n is of type Int32, and the rows need Int64: ALTER TABLE `clicks` MODIFY COLUMN `n` Int64"},
		{Table: "(lane Int32, n Int64, text Nullable(String)) ENGINE = MergeTree ORDER BY n", Want: "it has no column _urlmill_lane: ALTER TABLE `clicks` ADD COLUMN `_urlmill_lane` String"},
		{Table: "(lane Int32, n Int64, text Nullable(String)" + own + "PARTITION BY lane ORDER BY n", Want: "it is partitioned by lane"},
	})
}
