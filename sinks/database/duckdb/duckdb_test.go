//go:build duckdb

package duckdb

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/database"
	"github.com/urlmill/urlmill/sinks/database/databasetest"
)

// telling tells of each load on standard output, before and after it, and goes on after it when it has read a line.
type telling struct {
	*Driver
	goOn *bufio.Reader
}

func (t telling) Load(ctx context.Context, l database.Load) error {
	fmt.Println("begin")
	err := t.Driver.Load(ctx, l)
	fmt.Println("end")
	_, reading := t.goOn.ReadString('\n')
	return errors.Join(err, reading)
}

func TestMain(m *testing.M) {
	databasetest.IfChild(func(path string) *database.Sink { return newSink(telling{New(path), bufio.NewReader(os.Stdin)}) })
	os.Exit(m.Run())
}

func newSink(d database.Driver) *database.Sink {
	return database.New(database.Options{Table: "clicks", DeadLetters: "dead", Log: slog.New(slog.DiscardHandler)}, d)
}

func ask(t *testing.T, path, query string) (text string) {
	t.Helper()
	db, err := sql.Open("duckdb", path)
	if err == nil {
		err = errors.Join(db.QueryRowContext(t.Context(), query).Scan(&text), db.Close())
	}
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

// TestKilled kills a process with SIGKILL when a load begins, so within it, and when it has ended, and has another go on. A
// process waits after each load, however late the one is that kills it.
func TestKilled(t *testing.T) {
	for nth := 1; nth <= 12; nth++ {
		path := filepath.Join(t.TempDir(), "web.db")
		run := func(kill int) error {
			cmd := databasetest.Child(path)
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err != nil {
				return err
			}
			in, err := cmd.StdinPipe()
			if err != nil {
				return err
			}
			if err := cmd.Start(); err != nil {
				return err
			}
			lines := bufio.NewScanner(out)
			for seen := 1; lines.Scan(); seen++ {
				if seen == kill {
					_ = cmd.Process.Kill()
				} else if lines.Text() == "end" {
					_, _ = io.WriteString(in, "\n") // one that was killed does not read it
				}
			}
			return cmd.Wait()
		}
		if err := run(nth); err == nil {
			t.Fatalf("%d: the process was not killed", nth)
		}
		if err := run(0); err != nil {
			t.Fatalf("%d: %v", nth, err)
		}
		databasetest.Complete(t, fmt.Sprint(nth), ask(t, path, "SELECT count(*) || ' ' || count(DISTINCT (lane, n)) FROM clicks"))
	}
}

// TestRows loads all kinds of columns, refuses a lane that has moved, and a table with other columns.
func TestRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "web.db")
	r := databasetest.Clicks(t)
	s := newSink(New(path))
	if err := s.Start(t.Context(), pipeline.Schemas{r.Schema()}); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
		if err != nil {
			t.Fatal(err)
		}
		other, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
		if err != nil {
			t.Fatal(err)
		}
		databasetest.Contend(t, n, r, w, other)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, path, "SELECT count(*) || ' ' || sum(\"offset\") || ' ' || count(port) || ' ' || count(*) FILTER (params LIKE '%utm_source%') FROM clicks"); got != "20 90 0 20" {
		t.Errorf("%s", got)
	}
	databasetest.Refused(t, "another table", newSink(New(path)), "and the rows need (lane BIGINT, n BIGINT, text VARCHAR)")
}

// TestRowGroups makes several full loads of records whose rows do not add up to row groups: what the loads have written stays
// where it is when the file is closed, since no row group is so small that a checkpoint would merge it with others.
func TestRowGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "web.db")
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	const batch = 7_000
	b.Field(0).(*array.Int64Builder).AppendValues(make([]int64, batch), nil)
	r := b.NewRecord()
	s := database.New(database.Options{Table: "clicks", BatchRows: 250_000, Log: slog.New(slog.DiscardHandler)}, New(path))
	if err := s.Start(t.Context(), pipeline.Schemas{schema}); err != nil {
		t.Fatal(err)
	}
	w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
	if err != nil {
		t.Fatal(err)
	}
	for n, loads := int64(0), 0; loads < 3; n++ {
		if err := w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{First: n, Next: n + 1}); err != nil {
			t.Fatal(err)
		}
		if w.Size().Full {
			if _, err := w.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			loads++
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	last := 2*rowGroup/batch*batch - rowGroup // rows of a load's second row group
	want := strings.TrimSpace(strings.Repeat(fmt.Sprintf("%d %d ", rowGroup, last), 3))
	got := ask(t, path, "SELECT string_agg(rows::VARCHAR, ' ' ORDER BY row_group_id) FROM "+
		"(SELECT row_group_id, sum(count) AS rows FROM pragma_storage_info('clicks') WHERE segment_type <> 'VALIDITY' GROUP BY ALL)")
	if got != want {
		t.Errorf("row groups of %s rows, want %s", got, want)
	}
}

// TestUnfit loads values that DuckDB does not hold: they are null, and their rows say so.
func TestUnfit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "web.db")
	s := newSink(New(path))
	databasetest.Unfit(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := "0 0  0, 1 1 host-missing 0, 2 - value-out-of-range 0, 3 - value-out-of-range 0, 4 -300000000000000000  0, 5 253402300800000000  0, 6 6  3, 7 7  68157440"
	got := ask(t, path, "SELECT string_agg(concat_ws(' ', n, coalesce(epoch_us(ts)::VARCHAR, '-'), coalesce(url_error, ''), length(text)), ', ' ORDER BY n) FROM clicks")
	if got != want {
		t.Errorf("got  %.1000s\nwant %s", got, want)
	}
}

// TestLanes asks for the lanes that have a session.
func TestLanes(t *testing.T) {
	databasetest.Lanes(t, func() *database.Sink { return newSink(New(filepath.Join(t.TempDir(), "web.db"))) })
}

// TestQuoted: names of tables and columns cannot end their quotes.
func TestQuoted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "web.db")
	const table, column = `a"b; DROP TABLE x; --`, `c"); DROP TABLE x; --`
	schema := arrow.NewSchema([]arrow.Field{{Name: column, Type: arrow.PrimitiveTypes.Int64}, {Name: `'"`, Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Int64Builder).Append(7)
	b.Field(1).(*array.Int64Builder).Append(8)
	for n := range int64(2) { // the table is made, and is there
		s := database.New(database.Options{Table: table, Log: slog.New(slog.DiscardHandler)}, New(path))
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
		b.Field(0).(*array.Int64Builder).Append(7)
		b.Field(1).(*array.Int64Builder).Append(8)
	}
	if got := ask(t, path, `SELECT sum("c""); DROP TABLE x; --") || ' ' || sum("'""") FROM "a""b; DROP TABLE x; --"`); got != "14 16" {
		t.Errorf("the table has %s", got)
	}
}

// TestKinds loads columns of all kinds.
func TestKinds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "web.db")
	s := newSink(New(path))
	databasetest.Kinds(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got := ask(t, path, "SELECT string_agg(line, chr(10) ORDER BY line) FROM (SELECT count(*) || ' ' || to_json(c)::VARCHAR AS line FROM clicks c GROUP BY c)")
	want := strings.Join([]string{
		`6000 {"n":0,"b":true,"i8":1,"i16":2,"i32":3,"i64":4,"u8":5,"u16":6,"u32":7,"f32":1.5,"f64":2.5,"s":"ü","l":"text that is longer than twelve bytes","bin":"\\x01\\x02","fix":"abcd",` +
			`"day":"1970-01-02","ts_s":"1970-01-01 00:00:01+00","ts_ms":"1970-01-01 00:00:01.001+00","ts":"1970-01-01 00:00:01.000001+00","ts_ns":"1970-01-01 00:00:01.000001+00",` +
			`"ts_local":"1970-01-01 00:00:00.000005","texts":["a","","text that is longer than twelve bytes"],"params":"[{\"key\":\"k\",\"value\":\"v\\\"\\u0001\"},{\"key\":\"\",\"value\":null}]",` +
			`"map":"{\"b\":\"2\",\"a\":\"3\"}","struct":"{\"x\":-1,\"y\":\"z\"}","numbers":"[1,null]"}`,
		`6000 {"n":1,"b":false,"i8":-128,"i16":-32768,"i32":-2147483648,"i64":-9223372036854775808,"u8":255,"u16":65535,"u32":4294967295,"f32":-0.5,"f64":-1000000000.0,"s":"","l":"","bin":"",` +
			`"fix":"\\x00\\x00\\x00\\x00","day":"1970-01-01","ts_s":"1969-12-31 23:59:59+00","ts_ms":"1969-12-31 23:59:59.999+00","ts":"1969-12-31 23:59:59.999999+00",` +
			`"ts_ns":"1969-12-31 23:59:59.999999+00","ts_local":"1969-12-31 23:59:59.999999","texts":[],"params":"[]","map":"{}","struct":"{\"x\":null,\"y\":\"\"}","numbers":"[]"}`,
		`6000 {"n":2,` + `"` + strings.Join(databasetest.Columns, `":null,"`) + `":null}`,
	}, "\n")
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
