package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/jackc/pgx/v5"

	"github.com/urlmill/urlmill/internal/dbtest"
	"github.com/urlmill/urlmill/internal/leaktest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/sinktest"
	"github.com/urlmill/urlmill/sinks/table"
)

const childVariable = "URLMILL_TEST_POSTGRES_CHILD"

func TestMain(m *testing.M) {
	if url := os.Getenv(childVariable); url != "" {
		if err := dbtest.Deliver(context.Background(), newSink(url)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	leaktest.Main(m)
}

func newSink(url string) *table.Sink {
	return table.New(table.Options{Table: "clicks", Log: slog.New(slog.DiscardHandler)}, New(Options{URL: url}))
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

// TestKilled kills a process with SIGKILL in the middle of its loads: while rows are on their way, before the server sees the
// end of the transaction, and when it has seen that and the process has not. In the end every row is there once.
func TestKilled(t *testing.T) {
	address, database := dbtest.Postgres(t)
	proxy := dbtest.NewProxy(t, address)
	server := connect(t, "postgres://urlmill@"+address+database)
	child := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childVariable+"=postgres://urlmill@"+proxy.Address+database)
		return cmd
	}
	commit, copying := []byte("commit\x00"), []byte("PGCOPY\n")
	for nth := 1; nth <= 4; nth++ {
		for name, rule := range map[string]struct {
			at      []byte
			verdict dbtest.Verdict
		}{"rows": {copying, dbtest.KillAfter}, "commit": {commit, dbtest.KillBefore}, "answer": {commit, dbtest.KillAfter}} {
			if _, err := server.Exec(t.Context(), "DROP TABLE IF EXISTS clicks, urlmill_positions"); err != nil {
				t.Fatal(err)
			}
			seen := 0
			killed, err := proxy.Run(child(), func(toServer bool, data []byte) dbtest.Verdict {
				if toServer && bytes.Contains(data, rule.at) {
					if seen++; seen == nth+1 { // the first commit is that of making the tables
						return rule.verdict
					}
				}
				return dbtest.Pass
			})
			if !killed || err != nil {
				t.Fatalf("%s %d: killed %v, %v", name, nth, killed, err)
			}
			if _, err := proxy.Run(child(), nil); err != nil {
				t.Fatalf("%s %d: %v", name, nth, err)
			}
			got := one[string](t, server, "SELECT count(*) || ' ' || count(DISTINCT (lane, n)) FROM clicks")
			if want := fmt.Sprint(dbtest.Lanes*dbtest.Rows, " ", dbtest.Lanes*dbtest.Rows); got != want {
				t.Errorf("%s %d: rows and different ones: %s, want %s", name, nth, got, want)
			}
		}
	}
}

// TestFenced has two processes at one lane: the second one to load loses it.
func TestFenced(t *testing.T) {
	address, database := dbtest.Postgres(t)
	url := "postgres://urlmill@" + address + database
	r := sinktest.RandomClicks(memory.DefaultAllocator, 10, 0, 1)
	defer r.Release()
	id := pipeline.LaneID{Stream: "clicks"}
	var writers []pipeline.Writer
	for range 2 {
		s := newSink(url)
		if err := s.Start(t.Context(), pipeline.Schemas{r.Schema()}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		w, next, err := s.Open(t.Context(), id)
		if err != nil || next != pipeline.Unknown {
			t.Fatal(next, err)
		}
		writers = append(writers, w)
	}
	for round := range 2 {
		for n, w := range writers {
			err := w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{First: int64(10 * round), Next: int64(10 * (round + 1))})
			if err == nil {
				_, err = w.Commit(t.Context())
			}
			if n == 0 && err != nil || n == 1 && !errors.Is(err, pipeline.ErrLaneLost) {
				t.Fatalf("round %d, writer %d: %v", round, n, err)
			}
		}
	}
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

// TestTables refuses tables that rows do not fit into, and takes those that are wide enough.
func TestTables(t *testing.T) {
	address, database := dbtest.Postgres(t)
	url := "postgres://urlmill@" + address + database
	c := connect(t, url)
	for _, test := range []struct{ table, want string }{
		{"lane bigint, n bigint, text varchar(200), more text", ""},
		{"id bigserial PRIMARY KEY, lane integer, n bigint, text text", ""},
		{"lane integer, n integer, text text", `its column "n" is of type integer, and the rows need bigint: ALTER TABLE "clicks" ALTER COLUMN "n" TYPE bigint`},
		{"lane integer, n bigint", `it has no column "text": ALTER TABLE "clicks" ADD COLUMN "text" text`},
		{"lane integer, n bigint, text text, must text NOT NULL", `its column "must" must not be null, and the rows do not have it`},
	} {
		if _, err := c.Exec(t.Context(), "DROP TABLE IF EXISTS clicks, urlmill_positions; CREATE TABLE clicks ("+test.table+")"); err != nil {
			t.Fatal(err)
		}
		err := dbtest.Deliver(t.Context(), newSink(url))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.table, err, test.want)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{`{"a":"b"}`: `{"a":"b"}`, `"\u0000x\\u0000\\\u0000"`: `"\ufffdx\\u0000\\\ufffd"`} {
		if got := string(cleanJSON([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got := clean("a\x00b"); got != "a\uFFFDb" {
		t.Errorf("%q", got)
	}
}
