// Package databasetest has the tests that drivers of tables have in common: loads that a process is killed in, two processes
// at one lane, tables that rows do not fit into, and values that a database cannot hold.
package databasetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/dev/dbtest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/database"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

// childVariable tells a process that it is to load, and where: the processes of one package are all of one driver.
const childVariable = "URLMILL_TEST_TABLE_CHILD"

// IfChild loads what [dbtest.Deliver] loads and ends the process, in one that [Child] has made. It is the first thing that
// TestMain does. open returns the sink of a database.
func IfChild(open func(where string) *database.Sink) {
	where := os.Getenv(childVariable)
	if where == "" {
		return
	}
	if err := dbtest.Deliver(context.Background(), open(where)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Child returns a process that is yet to be started and loads into a database.
func Child(where string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+where)
	return cmd
}

// Complete checks what the database says about the rows of [dbtest.Deliver]: how many there are, and how many different
// ones, with a space between them. what names the case.
func Complete(tb testing.TB, what, got string) {
	tb.Helper()
	if want := fmt.Sprint(dbtest.Lanes*dbtest.Rows, " ", dbtest.Lanes*dbtest.Rows); got != want {
		tb.Errorf("%s: rows and different ones: %s, want %s", what, got, want)
	}
}

// whole checks that what the database says is of whole loads.
func whole(tb testing.TB, what, got string) {
	tb.Helper()
	var rows, different int
	if _, err := fmt.Sscan(got, &rows, &different); err != nil || rows%dbtest.PerLoad != 0 || rows != different {
		tb.Errorf("%s: rows and different ones: %s, want those of whole loads of %d (%v)", what, got, dbtest.PerLoad, err)
	}
}

// Killed kills processes with SIGKILL in the middle of their loads, and has others go on. No part of a load can be seen alone, and in the end
// every row is there once.
type Killed struct {
	Proxy *dbtest.Proxy
	// Where is the database behind the proxy, as a [Child] gets it.
	Where string
	// Reset drops the tables, and Count returns what [Complete] checks.
	Reset func()
	Count func() string
	// Moments are when a process is killed, at each of its first four loads.
	Moments map[string]Moment
}

// Moment is a point in a load.
type Moment struct {
	// Mark is in what passes to the server once in each load, and Before times before the first one.
	Mark   []byte
	Before int
	// Answer has the process killed by what the server says next, so that the server has done what it was told to.
	Answer  bool
	Verdict dbtest.Verdict
}

// watch is for the proxy, and passes the verdict at the nth load.
func (m Moment) watch(nth int) func(toServer bool, data []byte) dbtest.Verdict {
	seen := 0
	return func(toServer bool, data []byte) dbtest.Verdict {
		marked := toServer && bytes.Contains(data, m.Mark)
		if marked {
			seen++
		}
		if seen == m.Before+nth && (m.Answer && !toServer || !m.Answer && marked) {
			return m.Verdict
		}
		return dbtest.Pass
	}
}

// Run runs the test.
func (k Killed) Run(t *testing.T) {
	t.Helper()
	for nth := 1; nth <= 4; nth++ {
		for name, moment := range k.Moments {
			what := fmt.Sprint(name, " ", nth)
			k.Reset()
			killed, err := k.Proxy.Run(Child(k.Where), moment.watch(nth))
			if !killed || err != nil {
				t.Fatalf("%s: killed %v, %v", what, killed, err)
			}
			whole(t, what, k.Count())
			if _, err := k.Proxy.Run(Child(k.Where), nil); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			Complete(t, what, k.Count())
		}
	}
}

// Clicks returns ten rows with columns of all kinds, until the test ends.
func Clicks(tb testing.TB) arrow.Record {
	tb.Helper()
	r := sinktest.RandomClicks(memory.DefaultAllocator, 10, 0, 1)
	tb.Cleanup(r.Release)
	return r
}

// Contend has writers of one lane load the same rows one after the other, in one round after another: those of the first
// one are loaded, and the others lose the lane.
func Contend(tb testing.TB, round int, r arrow.Record, writers ...pipeline.Writer) {
	tb.Helper()
	rows := int(r.NumRows())
	for n, w := range writers {
		err := w.Write(tb.Context(), pipeline.Rows, r, pipeline.Span{First: int64(rows * round), Next: int64(rows * (round + 1))})
		if err == nil {
			_, err = w.Commit(tb.Context())
		}
		if n == 0 && err != nil || n > 0 && !errors.Is(err, pipeline.ErrLaneLost) {
			tb.Fatalf("round %d, writer %d: %v", round, n, err)
		}
	}
}

// Fenced has two processes at one lane that load [Clicks] twice: the second one loses it, the first one's 20 rows are there.
func Fenced(t *testing.T, stream string, open func() *database.Sink) {
	t.Helper()
	r := Clicks(t)
	var writers []pipeline.Writer
	for range 2 {
		s := open()
		if err := s.Start(t.Context(), pipeline.Schemas{r.Schema()}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		w, next, err := s.Open(t.Context(), pipeline.LaneID{Stream: stream})
		if err != nil || next != pipeline.Unknown {
			t.Fatal(next, err)
		}
		writers = append(writers, w)
	}
	for round := range 2 {
		Contend(t, round, r, writers...)
	}
}

// Lanes loads into lanes with and without a session, and checks that those with one are told, once each.
func Lanes(t *testing.T, open func() *database.Sink) {
	t.Helper()
	r := Clicks(t)
	s := open()
	if err := s.Start(t.Context(), pipeline.Schemas{r.Schema()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	want := []pipeline.LaneID{{Stream: "logs/a 'b'\\\xff%.gz", Session: "m0123"}, {Stream: "logs/a", Session: "z"}}
	for _, id := range append(want, pipeline.LaneID{Stream: "clicks"}) {
		w, _, err := s.Open(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for round := range 2 {
			Contend(t, round, r, w)
		}
	}
	got, err := s.Lanes(t.Context())
	slices.SortFunc(got, func(a, b pipeline.LaneID) int { return strings.Compare(a.Stream, b.Stream) })
	slices.SortFunc(want, func(a, b pipeline.LaneID) int { return strings.Compare(a.Stream, b.Stream) })
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, want %q, %v", got, want, err)
	}
}

// Made is a table that is there before a sink starts.
type Made struct {
	Table string // as create gets it
	Want  string // in the error, "" if the rows fit
}

// Tables delivers into tables that create makes in place of others, and checks which are refused, and why.
func Tables(t *testing.T, create func(table string), open func() *database.Sink, tests []Made) {
	t.Helper()
	for _, test := range tests {
		create(test.Table)
		Refused(t, test.Table, open(), test.Want)
	}
}

// Refused delivers, and checks that the sink refuses its table for what is wanted, or takes it if that is "".
func Refused(tb testing.TB, what string, s *database.Sink, want string) {
	tb.Helper()
	err := dbtest.Deliver(tb.Context(), s)
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		tb.Errorf("%s: %v, want %q", what, err, want)
	}
}

// Unfit has rows, by their n, of which a database may not be able to hold ts or text.
//
//	0 and 1  nothing special, and one with an error of its own
//	2 to 5   the least and the greatest time that there are, and the years -7537 and 10000
//	6, 7     texts with NUL, and with 65 MiB
func Unfit(t *testing.T, s *database.Sink) {
	t.Helper()
	null := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		null("text", arrow.BinaryTypes.String), null("ts", arrow.FixedWidthTypes.Timestamp_us),
		null("url_error", arrow.BinaryTypes.String), null("params", sinktest.Params(false)),
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for n, ts := range []int64{0, 1, math.MinInt64, math.MaxInt64, -300_000_000_000_000_000, 253_402_300_800_000_000, 6, 7} {
		b.Field(0).(*array.Int64Builder).Append(int64(n))
		text := map[int]string{6: "a\x00b", 7: strings.Repeat("long ", 13<<20)}[n]
		b.Field(1).(*array.StringBuilder).Append(text)
		b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(ts))
		if n == 1 {
			b.Field(3).(*array.StringBuilder).Append("host-missing")
		} else {
			b.Field(3).AppendNull()
		}
		b.Field(4).AppendNull()
	}
	r := b.NewRecord()
	err := s.Start(t.Context(), pipeline.Schemas{schema})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
	if err == nil {
		err = w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{First: 0, Next: r.NumRows()})
	}
	if err == nil {
		_, err = w.Commit(t.Context())
	}
	if err != nil {
		t.Fatalf("some values keep all rows out: %.300v", err)
	}
}
