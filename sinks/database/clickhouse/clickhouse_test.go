package clickhouse

import (
	"context"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/dev/dbtest"
	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/database"
	"github.com/urlmill/urlmill/sinks/database/databasetest"
)

func TestMain(m *testing.M) {
	databasetest.IfChild(newSink)
	leaktest.Main(m)
}

func newSink(url string) *database.Sink {
	return database.New(database.Options{Table: "clicks", Log: slog.New(slog.DiscardHandler)}, New(Options{URL: config.Secret(url)}))
}

// asker returns what runs a query.
func asker(t *testing.T, url string) func(string) string {
	t.Helper()
	c, err := newClient(Options{URL: config.Secret(url)})
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
	databasetest.Killed{
		Proxy: proxy, Where: "http://default@" + proxy.Address + "/default",
		Reset: func() { drop(ask) },
		Count: func() string {
			return ask("SELECT concat(toString(count()), ' ', toString(uniqExact(lane, n))) FROM clicks")
		},
		Moments: map[string]databasetest.Moment{
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
	databasetest.Fenced(t, "cl'ick\\s", func() *database.Sink { return newSink(url) })
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
	databasetest.Lanes(t, func() *database.Sink { return newSink(url) })
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
	databasetest.Tables(t, create, func() *database.Sink { return newSink(url) }, []databasetest.Made{
		{Table: "(more String, lane Int32, n Int64, text Nullable(String)" + own + "ORDER BY n", Want: ""},
		{Table: "(lane Int32, n Int32, text Nullable(String)" + own + "ORDER BY n", Want: "its column n is of type Int32, and the rows need Int64: ALTER TABLE `clicks` MODIFY COLUMN `n` Int64"},
		{Table: "(lane Int32, n Int64, text Nullable(String)) ENGINE = MergeTree ORDER BY n", Want: "it has no column _urlmill_lane: ALTER TABLE `clicks` ADD COLUMN `_urlmill_lane` String"},
		{Table: "(lane Int32, n Int64, text Nullable(String)" + own + "PARTITION BY lane ORDER BY n", Want: "it is partitioned by lane"},
	})
}

// TestUnfit loads values that other databases do not hold. Where timestamps are integers, ClickHouse holds them all.
func TestUnfit(t *testing.T) {
	url := "http://" + dbtest.ClickHouse(t)
	databasetest.Unfit(t, newSink(url))
	got := asker(t, url)("SELECT n, toInt64(ts), length(text), url_error FROM clicks ORDER BY n FORMAT TSV")
	if !strings.HasPrefix(asker(t, url)("SELECT version()"), "18.") {
		t.Skip("this server has timestamps of its own: ", got)
	}
	want := "0\t0\t0\t\\N\n1\t1\t0\thost-missing\n2\t-9223372036854775808\t0\t\\N\n3\t9223372036854775807\t0\t\\N\n4\t-300000000000000000\t0\t\\N\n" +
		"5\t253402300800000000\t0\t\\N\n6\t6\t3\t\\N\n7\t7\t68157440\t\\N"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestLimits checks what servers are taken to hold, which take what is beyond for another time.
func TestLimits(t *testing.T) {
	for server, want := range map[string][2]string{
		"20.1": {"1970-01-01", "2105-12-31"}, "21.3": {"1970-01-01", "2105-12-31"}, "21.4": {"1925-01-01", "2282-12-31"},
		"22.7": {"1925-01-01", "2282-12-31"}, "22.8": {"1900-01-01", "2299-12-31"}, "25.3": {"1900-01-01", "2299-12-31"},
	} {
		l := limitsOf(parseVersion(server))
		got := [2]string{time.UnixMicro(l.First).UTC().Format(time.DateOnly), time.UnixMicro(l.Last).UTC().Format(time.DateOnly)}
		if got != want || l.FirstDay != 0 || l.LastDay != 65535 {
			t.Errorf("%s: %s, want %s", server, got, want)
		}
	}
	if l := limitsOf(parseVersion("18.16.1")); l.First != math.MinInt64 || l.Last != math.MaxInt64 {
		t.Errorf("integers: %+v", l)
	}
}

// TestRowsTakenBack removes all rows, as a TTL does: neither who has the lane nor who comes next reads anything again.
func TestRowsTakenBack(t *testing.T) {
	url := "http://" + dbtest.ClickHouse(t)
	r := databasetest.Clicks(t)
	open := func(want int64) pipeline.Writer {
		t.Helper()
		s := newSink(url)
		if err := s.Start(t.Context(), pipeline.Schemas{r.Schema()}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		w, next, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
		if err != nil || next != want {
			t.Fatalf("position %d, want %d, %v", next, want, err)
		}
		return w
	}
	first := open(pipeline.Unknown)
	databasetest.Contend(t, 0, r, first)
	asker(t, url)("TRUNCATE TABLE clicks")
	open(10)
	databasetest.Contend(t, 1, r, first)
	second := open(20)
	asker(t, url)("TRUNCATE TABLE clicks")
	databasetest.Contend(t, 2, r, second, first)
	if n := asker(t, url)("SELECT count(), max(_urlmill_next) FROM clicks FORMAT TSVRaw"); n != "10\t30" {
		t.Errorf("%s", n)
	}
}
