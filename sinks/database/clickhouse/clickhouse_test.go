package clickhouse

import (
	"bytes"
	"context"
	"fmt"
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
	url := "http://" + dbtest.ClickHouse(t) + "/?allow_experimental_low_cardinality_type=1"
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
		{Table: "(lane Int32, n Int64, text LowCardinality(Nullable(String))" + own + "ORDER BY n", Want: "its column text is of type LowCardinality(Nullable(String))"},
		{Table: "(lane Int32, n Int64, text Nullable(String)" + own + "PARTITION BY lane ORDER BY n", Want: "it is partitioned by lane, and a load of several partitions is not all or nothing"},
		{Table: "(lane Int32, n Int64, text Nullable(String)" + own + "PARTITION BY (_urlmill_lane, n) ORDER BY n", Want: "it is partitioned by"},
		{Table: "(lane Int32, n Int64, text Nullable(String)" + own + "PARTITION BY (_urlmill_lane, intDiv(_urlmill_next, 1000)) ORDER BY n", Want: ""},
		{Table: "(lane Int32, n Int64, text Nullable(String), _urlmill_lane String, _urlmill_next Int64, _urlmill_load String) ENGINE = Memory", Want: "its engine is Memory"},
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

// TestKinds loads columns of all kinds.
func TestKinds(t *testing.T) {
	url := "http://" + dbtest.ClickHouse(t)
	ask := asker(t, url)
	columns := strings.Join(databasetest.Columns, ", ")
	want := strings.Join([]string{
		"0\t6000\t1\t1\t2\t3\t4\t5\t6\t7\t1.5\t2.5\tü\ttext that is longer than twelve bytes\t\x01\x02\tabcd\t1970-01-02\t1000000\t1001000\t1000001\t1000001\t5\t" +
			`['a','','text that is longer than twelve bytes']` + "\t" + `[{"key":"k","value":"v\"\u0001"},{"key":"","value":null}]` + "\t" + `{"b":"2","a":"3"}` + "\t" + `{"x":-1,"y":"z"}` + "\t[1,null]",
		"1\t6000\t0\t-128\t-32768\t-2147483648\t-9223372036854775808\t255\t65535\t4294967295\t-0.5\t-1000000000\t\t\t\t\x00\x00\x00\x00\t0000-00-00\t-1000000\t-1000\t-1\t-1\t-1\t" +
			"[]\t[]\t{}\t" + `{"x":null,"y":""}` + "\t[]",
		"2\t6000\t" + strings.Repeat("ᴺᵁᴸᴸ\t", 20) + "[]" + strings.Repeat("\tᴺᵁᴸᴸ", 4),
	}, "\n")
	if !strings.HasPrefix(ask("SELECT version()"), "18.") {
		t.Skip("this server has timestamps of its own")
	}
	databasetest.Kinds(t, newSink(url))
	if got := ask("SELECT n, count(), " + columns + " FROM clicks GROUP BY n, " + columns + " ORDER BY n FORMAT TSVRaw"); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := ask("SELECT count() FROM clicks WHERE _urlmill_lane = 'clicks/0/' AND _urlmill_next = 3 AND _urlmill_load != ''"); got != "18000" {
		t.Errorf("%s rows say where they are from", got)
	}
}

// TestReplicated kills processes in the middle of their loads into a replicated table, and others go on at another replica: all have every
// row once, and none is dropped for looking like another.
func TestReplicated(t *testing.T) {
	servers := dbtest.ClickHouseReplicas(t, 2)
	var asks []func(string) string
	for i, address := range servers {
		ask := asker(t, "http://"+address)
		ask(fmt.Sprintf("CREATE TABLE clicks (lane Int32, n Int64, text Nullable(String), _urlmill_lane String, _urlmill_next Int64, _urlmill_load String) "+
			"ENGINE = ReplicatedMergeTree('/clicks', '%d') ORDER BY n", i))
		ask(fmt.Sprintf("CREATE TABLE urlmill_positions (target String, _urlmill_lane String, _urlmill_next Int64, _urlmill_load String) "+
			"ENGINE = ReplicatedMergeTree('/positions', '%d') ORDER BY _urlmill_next", i))
		asks = append(asks, ask)
	}
	// A process waits for what others have left at its own replica alone. What the dead have sent is a query only when the server has read
	// it, and until then there is their connection, beside the one that asks.
	synced := func(i int) {
		for _, ask := range asks {
			for ask("SELECT value FROM system.metrics WHERE metric = 'HTTPConnection'") != "1" {
				time.Sleep(10 * time.Millisecond)
			}
		}
		asks[i]("SYSTEM SYNC REPLICA clicks")
		asks[i]("SYSTEM SYNC REPLICA urlmill_positions")
	}
	insert, loads := []byte("INSERT+INTO+%60clicks"), 0
	for i, verdict := range []dbtest.Verdict{dbtest.KillBefore, dbtest.KillWithin, dbtest.KillAfter} {
		proxy := dbtest.NewProxy(t, servers[i%2])
		synced(i % 2)
		loads = 0
		killed, err := proxy.Run(databasetest.Child("http://"+proxy.Address), func(toServer bool, data []byte) dbtest.Verdict {
			if toServer && bytes.Contains(data, insert) {
				if loads++; loads == 3 {
					return verdict
				}
			}
			return dbtest.Pass
		})
		if !killed || err != nil {
			t.Fatalf("%d: killed %v, %v", i, killed, err)
		}
	}
	synced(1)
	if err := dbtest.Deliver(t.Context(), newSink("http://"+servers[1])); err != nil {
		t.Fatal(err)
	}
	synced(0)
	for i, ask := range asks {
		databasetest.Complete(t, fmt.Sprint("replica ", i), ask("SELECT concat(toString(count()), ' ', toString(uniqExact(lane, n))) FROM clicks"))
	}
}
