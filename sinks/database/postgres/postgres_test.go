package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/jackc/pgx/v5"

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

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func one[T any](t *testing.T, c *pgx.Conn, query string) T {
	t.Helper()
	var v T
	if err := c.QueryRow(t.Context(), query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// drop drops the tables of former deliveries.
const drop = "DROP TABLE IF EXISTS clicks, urlmill_positions"

func run(t *testing.T, c *pgx.Conn, query string) {
	t.Helper()
	if _, err := c.Exec(t.Context(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// TestKilled kills a process with SIGKILL in the middle of its loads: while rows are on their way, before the server sees the
// end of the transaction, and when it has seen that and the process has not. In the end every row is there once.
func TestKilled(t *testing.T) {
	address, name := dbtest.Postgres(t)
	proxy := dbtest.NewProxy(t, address)
	server := connect(t, "postgres://urlmill@"+address+name)
	commit, copying := []byte("commit\x00"), []byte("PGCOPY\n")
	databasetest.Killed{
		Proxy: proxy, Where: "postgres://urlmill@" + proxy.Address + name,
		Reset: func() { run(t, server, drop) },
		Count: func() string {
			return one[string](t, server, "SELECT count(*) || ' ' || count(DISTINCT (lane, n)) FROM clicks")
		},
		Moments: map[string]databasetest.Moment{ // the first commit is that of making the tables
			"rows":   {Mark: copying, Before: 1, Verdict: dbtest.KillAfter},
			"commit": {Mark: commit, Before: 1, Verdict: dbtest.KillBefore},
			"answer": {Mark: commit, Before: 1, Verdict: dbtest.KillBefore, Answer: true},
		},
	}.Run(t)
}

// TestFenced has two processes at one lane: the second one to load loses it.
func TestFenced(t *testing.T) {
	address, name := dbtest.Postgres(t)
	url := "postgres://urlmill@" + address + name
	databasetest.Fenced(t, "clicks", func() *database.Sink { return newSink(url) })
	c := connect(t, url)
	if n := one[int64](t, c, "SELECT count(*) FROM clicks"); n != 20 {
		t.Errorf("%d rows", n)
	}
	if s := one[string](t, c, "SELECT params->0->>'key' FROM clicks LIMIT 1"); s != "utm_source" {
		t.Errorf("params: %s", s)
	}
	if n := one[int64](t, c, "SELECT next FROM urlmill_positions"); n != 20 {
		t.Errorf("position %d", n)
	}
}

// TestQuoted has names of a table and of columns that would end their quotes.
func TestQuoted(t *testing.T) {
	address, name := dbtest.Postgres(t)
	url := "postgres://urlmill@" + address + name
	const table, column = `a"b; DROP TABLE x; --`, `c"); DROP TABLE x; --`
	c := connect(t, url)
	run(t, c, `DROP TABLE IF EXISTS x, urlmill_positions, "a""b; DROP TABLE x; --"; CREATE TABLE x (n int)`)
	schema := arrow.NewSchema([]arrow.Field{{Name: column, Type: arrow.PrimitiveTypes.Int64}, {Name: `'"`, Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for n := range int64(2) { // the table is made, and is there
		b.Field(0).(*array.Int64Builder).Append(7)
		b.Field(1).(*array.Int64Builder).Append(8)
		s := database.New(database.Options{Table: table, Log: slog.New(slog.DiscardHandler)}, New(Options{URL: config.Secret(url)}))
		if err := s.Start(t.Context(), pipeline.Schemas{schema}); err != nil {
			t.Fatal(err)
		}
		w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: table})
		if err != nil {
			t.Fatal(err)
		}
		databasetest.Contend(t, int(n), b.NewRecord(), w)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := one[string](t, c, `SELECT sum("c""); DROP TABLE x; --") || ' ' || sum("'""") FROM "a""b; DROP TABLE x; --"`); got != "14 16" {
		t.Errorf("the table has %s", got)
	}
	if n := one[int64](t, c, "SELECT count(*) FROM x"); n != 0 {
		t.Errorf("%d rows", n)
	}
}

// TestLanes asks for the lanes that have a session.
func TestLanes(t *testing.T) {
	address, name := dbtest.Postgres(t)
	url := "postgres://urlmill@" + address + name
	databasetest.Lanes(t, func() *database.Sink { return newSink(url) })
}

// TestTables refuses tables that rows do not fit into, and takes those that are wide enough.
func TestTables(t *testing.T) {
	address, name := dbtest.Postgres(t)
	url := "postgres://urlmill@" + address + name
	c := connect(t, url)
	create := func(table string) { run(t, c, drop+"; CREATE TABLE clicks ("+table+")") }
	databasetest.Tables(t, create, func() *database.Sink { return newSink(url) }, []databasetest.Made{
		{Table: "lane bigint, n bigint, text varchar(200), more text", Want: ""},
		{Table: "id bigserial PRIMARY KEY, lane integer, n bigint, text text", Want: ""},
		{Table: "lane integer, n integer, text text", Want: `its column "n" is of type integer, and the rows need bigint: ALTER TABLE "clicks" ALTER COLUMN "n" TYPE bigint`},
		{Table: "lane integer, n bigint", Want: `it has no column "text": ALTER TABLE "clicks" ADD COLUMN "text" text`},
		{Table: "lane integer, n bigint, text text, must text NOT NULL", Want: `its column "must" must not be null, and the rows do not have it`},
	})
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{`{"a":"b"}`: `{"a":"b"}`, `"\u0000x\\u0000\\\u0000"`: `"\ufffdx\\u0000\\\ufffd"`} {
		if got := string(cleanJSON([]byte("u0000"+in), len(in))); got != "u0000"+want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got := putText(nil, []byte("a\x00b")); string(got) != "\x00\x00\x00\x05a\uFFFDb" {
		t.Errorf("%q", got)
	}
}

// TestUnfit loads values that PostgreSQL does not hold: they are null, and their rows say so.
func TestUnfit(t *testing.T) {
	address, name := dbtest.Postgres(t)
	url := "postgres://urlmill@" + address + name
	databasetest.Unfit(t, newSink(url))
	c := connect(t, url)
	want := "0 1970-01-01 00:00:00+00  , 1 1970-01-01 00:00:00.000001+00 host-missing , 2 - value-out-of-range , 3 294247-01-10 04:00:54.775807+00  , " +
		"4 - value-out-of-range , 5 10000-01-01 00:00:00+00  , 6 1970-01-01 00:00:00.000006+00  a\uFFFDb, 7 1970-01-01 00:00:00.000007+00 value-out-of-range -"
	got := one[string](t, c, `SELECT string_agg(concat_ws(' ', n, coalesce(ts::text, '-'), coalesce(url_error, ''), coalesce(text, '-')), ', ' ORDER BY n) FROM clicks`)
	if got != want {
		t.Errorf("got  %.1000s\nwant %s", got, want)
	}
}

// TestKinds loads columns of all kinds into a table that is made, and into one with wider types.
func TestKinds(t *testing.T) {
	address, name := dbtest.Postgres(t)
	url := "postgres://urlmill@" + address + name
	c := connect(t, url)
	for _, table := range []string{"", "i8 bigint, i16 bigint, i32 bigint, u8 integer, u16 bigint, f32 double precision, s varchar(9), map json, struct json"} {
		run(t, c, drop)
		if table != "" {
			made := "n bigint, b boolean, i64 bigint, u32 bigint, f64 double precision, l text, bin bytea, fix bytea, day date, ts_s timestamptz, ts_ms timestamptz, ts timestamptz, " +
				"ts_ns timestamptz, ts_local timestamp, texts text[], params jsonb, numbers jsonb, " + table
			run(t, c, "CREATE TABLE clicks ("+made+")")
		}
		databasetest.Kinds(t, newSink(url))
		for n, want := range []string{
			`6000 {"b": true, "l": "text that is longer than twelve bytes", "s": "ü", "i8": 1, "ts": "1970-01-01T00:00:01.000001+00:00", "u8": 5, "bin": "\\x0102", ` +
				`"day": "1970-01-02", "f32": 1.5, "f64": 2.5, "fix": "\\x61626364", "i16": 2, "i32": 3, "i64": 4, "map": {"a": "3", "b": "2"}, "u16": 6, "u32": 7, ` +
				`"ts_s": "1970-01-01T00:00:01+00:00", "texts": ["a", "", "text that is longer than twelve bytes"], "ts_ms": "1970-01-01T00:00:01.001+00:00", ` +
				`"ts_ns": "1970-01-01T00:00:01.000001+00:00", "params": [{"key": "k", "value": "v\"\u0001"}, {"key": "", "value": null}], "struct": {"x": -1, "y": "z"}, ` +
				`"numbers": [1, null], "ts_local": "1970-01-01T00:00:00.000005"}`,
			`6000 {"b": false, "l": "", "s": "", "i8": -128, "ts": "1969-12-31T23:59:59.999999+00:00", "u8": 255, "bin": "\\x", "day": "1970-01-01", "f32": -0.5, ` +
				`"f64": -1000000000, "fix": "\\x00000000", "i16": -32768, "i32": -2147483648, "i64": -9223372036854775808, "map": {}, "u16": 65535, "u32": 4294967295, ` +
				`"ts_s": "1969-12-31T23:59:59+00:00", "texts": [], "ts_ms": "1969-12-31T23:59:59.999+00:00", "ts_ns": "1969-12-31T23:59:59.999999+00:00", "params": [], ` +
				`"struct": {"x": null, "y": ""}, "numbers": [], "ts_local": "1969-12-31T23:59:59.999999"}`,
			"6000 {}",
		} {
			query := fmt.Sprintf("SELECT count(*) || ' ' || c FROM (SELECT CASE n WHEN 2 THEN jsonb_strip_nulls(to_jsonb(x) - 'n') ELSE to_jsonb(x) - 'n' END::text c FROM clicks x WHERE n = %d) r GROUP BY c", n)
			if got := one[string](t, c, query); got != want {
				t.Errorf("(%s)\ngot  %s\nwant %s", table, got, want)
			}
		}
	}
}
