package clickhouse

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

	"github.com/urlmill/urlmill/internal/dbtest"
	"github.com/urlmill/urlmill/internal/leaktest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/sinktest"
	"github.com/urlmill/urlmill/sinks/table"
)

const childVariable = "URLMILL_TEST_CLICKHOUSE_CHILD"

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
	child := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childVariable+"=http://default@"+proxy.Address+"/default")
		return cmd
	}
	insert := []byte("INSERT+INTO+%60clicks")
	for nth := 1; nth <= 4; nth++ {
		for _, how := range []string{"before", "within", "answer"} {
			ask("DROP TABLE IF EXISTS clicks")
			ask("DROP TABLE IF EXISTS urlmill_positions")
			seen := 0
			killed, err := proxy.Run(child(), func(toServer bool, data []byte) dbtest.Verdict {
				if !toServer {
					if how == "answer" && seen == nth {
						return dbtest.KillBefore
					}
					return dbtest.Pass
				}
				if !bytes.Contains(data, insert) {
					return dbtest.Pass
				}
				seen++
				switch {
				case seen != nth || how == "answer":
					return dbtest.Pass
				case how == "within":
					return dbtest.KillWithin
				}
				return dbtest.KillBefore
			})
			if !killed || err != nil {
				t.Fatalf("%s %d: killed %v, %v", how, nth, killed, err)
			}
			if _, err := proxy.Run(child(), nil); err != nil {
				t.Fatalf("%s %d: %v", how, nth, err)
			}
			got := ask("SELECT count(), uniqExact(lane, n) FROM clicks")
			if want := fmt.Sprintf("%d\t%d", dbtest.Lanes*dbtest.Rows, dbtest.Lanes*dbtest.Rows); got != want {
				t.Errorf("%s %d: rows and different ones: %s, want %s", how, nth, got, want)
			}
		}
	}
}

// TestFenced has two processes at one lane, and looks at what is in the columns.
func TestFenced(t *testing.T) {
	url := "http://" + dbtest.ClickHouse(t)
	r := sinktest.RandomClicks(memory.DefaultAllocator, 10, 0, 1)
	defer r.Release()
	var writers []pipeline.Writer
	for range 2 {
		s := newSink(url)
		if err := s.Start(t.Context(), pipeline.Schemas{r.Schema()}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		w, next, err := s.Open(t.Context(), pipeline.LaneID{Stream: "cl'ick\\s"})
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
	ask := asker(t, url)
	if n := ask("SELECT count(), max(_urlmill_next), any(_urlmill_lane) FROM clicks FORMAT TSVRaw"); n != "20\t20\tcl'ick\\s/0/" {
		t.Errorf("%s", n)
	}
	if n := ask("SELECT sum(match(url, '^https://www[.]site')), sum(offset), sum(port IS NULL), sum(position(params, 'utm_source') > 0) FROM clicks"); n != "20\t90\t20\t20" {
		t.Errorf("%s", n)
	}
}

// TestTables refuses tables that rows do not fit into, and takes those with more columns.
func TestTables(t *testing.T) {
	url := "http://" + dbtest.ClickHouse(t)
	ask := asker(t, url)
	const own = ", _urlmill_lane String, _urlmill_next Int64, _urlmill_load String) ENGINE = MergeTree "
	for _, test := range []struct{ table, want string }{
		{"(more String, lane Int32, n Int64, text Nullable(String)" + own + "ORDER BY n", ""},
		{"(lane Int32, n Int32, text Nullable(String)" + own + "ORDER BY n", "its column n is of type Int32, and the rows need Int64: ALTER TABLE `clicks` MODIFY COLUMN `n` Int64"},
		{"(lane Int32, n Int64, text Nullable(String)) ENGINE = MergeTree ORDER BY n", "it has no column _urlmill_lane: ALTER TABLE `clicks` ADD COLUMN `_urlmill_lane` String"},
		{"(lane Int32, n Int64, text Nullable(String)" + own + "PARTITION BY lane ORDER BY n", "it is partitioned by lane"},
	} {
		ask("DROP TABLE IF EXISTS clicks")
		ask("DROP TABLE IF EXISTS urlmill_positions")
		ask("CREATE TABLE clicks " + test.table)
		err := dbtest.Deliver(t.Context(), newSink(url))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.table, err, test.want)
		}
	}
}
