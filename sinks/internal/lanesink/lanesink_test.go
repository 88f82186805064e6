package lanesink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

var (
	numbers = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	letters = arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.BinaryTypes.String}}, nil)
)

func number(n ...int64) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, numbers)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(n, nil)
	return b.NewRecord()
}

func letter(l ...string) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, letters)
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues(l, nil)
	return b.NewRecord()
}

// text is a format of one value a line that ends with the provenance.
type text struct {
	check, new, write, finish error
	mu                        sync.Mutex
	open                      int // encoders not yet finished or discarded
}

func (*text) Ext() string                 { return "txt" }
func (f *text) Check(*arrow.Schema) error { return f.check }
func (f *text) count(n int)               { f.mu.Lock(); f.open += n; f.mu.Unlock() }
func (f *text) NewEncoder(w io.Writer, _ *arrow.Schema) (Encoder, error) {
	if f.new != nil {
		return nil, f.new
	}
	f.count(1)
	return &textEncoder{f: f, w: w}, nil
}

type textEncoder struct {
	f    *text
	w    io.Writer
	held strings.Builder
}

func (e *textEncoder) Write(r arrow.Record) error {
	for i := range int(r.NumRows()) {
		fmt.Fprintln(&e.held, r.Column(0).ValueStr(i))
	}
	return e.f.write
}
func (e *textEncoder) Buffered() int64 { return int64(e.held.Len()) }
func (e *textEncoder) Memory() int64   { return int64(e.held.Cap()) }
func (e *textEncoder) Flush() error {
	_, err := io.WriteString(e.w, e.held.String())
	e.held.Reset()
	return err
}
func (e *textEncoder) Discard() { e.f.count(-1) }
func (e *textEncoder) Finish(p Provenance) error {
	e.f.count(-1)
	// The error is dropped on purpose: encoders do that.
	_, _ = fmt.Fprintf(e.w, "%s%s %s %d:%d %d rows\n", e.held.String(), p.Table, p.Lane, p.Span.First, p.Span.Next, p.Rows)
	return e.f.finish
}

type setup struct {
	*Sink
	format     *text
	rows, dead string
}

// newSink returns a sink. sys may be nil for the system itself, and stream for files.
func newSink(t *testing.T, format *text, delivery commit.Delivery, sys store.FS, stream Stream) setup {
	t.Helper()
	dir := t.TempDir()
	s := setup{format: format, rows: filepath.Join(dir, "rows"), dead: filepath.Join(dir, "dead")}
	o := Options{Path: s.rows, DeadLetters: s.dead, Format: format, Delivery: delivery, Log: slog.New(slog.DiscardHandler), Stream: stream}
	if sys != nil {
		o.Stores = func(path string, log *slog.Logger) (store.Store, error) { return store.NewLocal(path, sys, log), nil }
	}
	if stream != nil {
		o.Path = ""
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	s.Sink = New(o)
	return s
}

func (s setup) start(t *testing.T, id pipeline.LaneID) pipeline.Writer {
	t.Helper()
	if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); err != nil {
		t.Fatal(err)
	}
	w, next, err := s.Open(t.Context(), id)
	if err != nil || next != pipeline.Unknown {
		t.Fatal(next, err)
	}
	return w
}

func (s setup) close(t *testing.T) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s.format.open != 0 {
		t.Errorf("%d encoders were neither finished nor discarded", s.format.open)
	}
	for _, dir := range []string{s.rows, s.dead} {
		if _, err := os.Stat(filepath.Join(dir, "_tmp")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: unfinished files are left: %v", dir, err)
		}
	}
}

// contents returns the contents of the visible files in the order of their names.
func contents(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

// deliveries runs a test with each kind of delivery.
func deliveries(t *testing.T, test func(t *testing.T, d commit.Delivery)) {
	t.Helper()
	for _, d := range []commit.Delivery{commit.ExactlyOnce, commit.AtLeastOnce} {
		t.Run(string(d), func(t *testing.T) { test(t, d) })
	}
}

func TestCommits(t *testing.T) { deliveries(t, testCommits) }

func testCommits(t *testing.T, d commit.Delivery) {
	s := newSink(t, &text{}, d, nil, nil)
	ctx, id := t.Context(), pipeline.LaneID{Stream: "clicks", Partition: 7}
	w := s.start(t, id)
	if next, err := w.Commit(ctx); next != pipeline.Unknown || err != nil {
		t.Errorf("an empty commit gave %d, %v", next, err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Write(ctx, pipeline.DeadLetters, letter("a"), pipeline.Span{First: 10, Next: 13}))
	must(w.Write(ctx, pipeline.Rows, number(1, 2), pipeline.Span{First: 10, Next: 13}))
	must(w.Write(ctx, pipeline.Rows, number(3), pipeline.Span{First: 13, Next: 14}))
	must(w.Write(ctx, pipeline.Rows, nil, pipeline.Span{First: 14, Next: 20}))
	if got := w.Size(); got != (pipeline.Size{Rows: 4, Bytes: 8}) {
		t.Errorf("size %+v", got)
	}
	if got := append(contents(t, s.rows), contents(t, s.dead)...); got != nil {
		t.Errorf("visible before the commit: %q", got)
	}
	if next, err := w.Commit(ctx); next != 20 || err != nil {
		t.Fatalf("commit gave %d, %v", next, err)
	}
	if got := w.Size(); got != (pipeline.Size{}) {
		t.Errorf("size after the commit %+v", got)
	}
	// A span without rows moves the position and makes no file.
	must(w.Write(ctx, pipeline.Rows, nil, pipeline.Span{First: 20, Next: 25}))
	if next, err := w.Commit(ctx); next != 25 || err != nil {
		t.Errorf("commit gave %d, %v", next, err)
	}
	must(w.Write(ctx, pipeline.Rows, number(4), pipeline.Span{First: 25, Next: 26}))
	if next, err := w.Commit(ctx); next != 26 || err != nil {
		t.Errorf("commit gave %d, %v", next, err)
	}
	must(w.Abandon())
	s.close(t)
	if files, bytes := s.Written(); files != 3 || bytes != 33+28+38 {
		t.Errorf("written: %d files, %d bytes", files, bytes)
	}
	if got, want := contents(t, s.rows), []string{"1\n2\n3\nrows clicks/7 10:20 3 rows\n", "4\nrows clicks/7 25:26 1 rows\n"}; !slices.Equal(got, want) {
		t.Errorf("rows %q", got)
	}
	if got, want := contents(t, s.dead), []string{"a\ndead_letters clicks/7 10:20 1 rows\n"}; !slices.Equal(got, want) {
		t.Errorf("dead letters %q", got)
	}
}

func TestAbandon(t *testing.T) { deliveries(t, testAbandon) }

func testAbandon(t *testing.T, d commit.Delivery) {
	s := newSink(t, &text{}, d, nil, nil)
	w := s.start(t, pipeline.LaneID{Stream: "clicks"})
	for _, err := range []error{
		w.Write(t.Context(), pipeline.Rows, number(1), pipeline.Span{First: 0, Next: 1}),
		w.Write(t.Context(), pipeline.DeadLetters, letter("a"), pipeline.Span{First: 0, Next: 1}),
		w.Abandon(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.close(t)
	if got := append(contents(t, s.rows), contents(t, s.dead)...); got != nil {
		t.Errorf("visible: %q", got)
	}
}

// failing is the system with a fault in the calls with the given name on paths with the given part.
func failing(op, part string, err error) store.FS {
	return storetest.Wrap(store.System, func(c storetest.Call) error {
		if c.Op == op && strings.Contains(c.Path, part) {
			return err
		}
		return nil
	})
}

// TestFaults has every step of a commit fail. Nothing may be visible then, unless it is committed, and nothing
// acknowledged.
func TestFaults(t *testing.T) { deliveries(t, testFaults) }

func testFaults(t *testing.T, d commit.Delivery) {
	tests := map[string]struct {
		format *text
		sys    store.FS
		want   error
		// published says that the commit has been made already, and stays, where there is a record of it.
		published bool
	}{
		"disk full":      {&text{}, failing("write", ".txt", syscall.ENOSPC), syscall.ENOSPC, false},
		"new encoder":    {&text{new: syscall.EIO}, nil, syscall.EIO, false},
		"encoder write":  {&text{write: syscall.EIO}, nil, syscall.EIO, false},
		"encoder finish": {&text{finish: syscall.EIO}, nil, syscall.EIO, false},
		"sync of a file": {&text{}, failing("sync", ".txt", syscall.EIO), syscall.EIO, false},
		"rename dead":    {&text{}, failing("rename", "dead/clicks", syscall.EIO), syscall.EIO, true},
		"rename rows":    {&text{}, failing("rename", "rows/clicks", syscall.EIO), syscall.EIO, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSink(t, tc.format, d, tc.sys, nil)
			ctx := t.Context()
			w := s.start(t, pipeline.LaneID{Stream: "clicks"})
			err := w.Write(ctx, pipeline.DeadLetters, letter("a"), pipeline.Span{First: 0, Next: 2})
			if err == nil {
				err = w.Write(ctx, pipeline.Rows, number(1), pipeline.Span{First: 0, Next: 2})
			}
			if err == nil {
				_, err = w.Commit(ctx)
			}
			if !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if _, again := w.Commit(ctx); !errors.Is(again, tc.want) {
				t.Errorf("the commit after it gave %v", again)
			}
			if again := w.Write(ctx, pipeline.Rows, number(1), pipeline.Span{First: 2, Next: 3}); !errors.Is(again, tc.want) {
				t.Errorf("the write after it gave %v", again)
			}
			if err := w.Abandon(); err != nil {
				t.Error(err)
			}
			if d == commit.ExactlyOnce && tc.published {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				s.recovers(t)
				return
			}
			s.close(t)
			if got := append(contents(t, s.rows), contents(t, s.dead)...); got != nil {
				t.Errorf("visible: %q", got)
			}
		})
	}
}

// recovers starts the sink again, without its faults: what was committed is published then, and nothing is left.
func (s setup) recovers(t *testing.T) {
	t.Helper()
	s.opts.Stores = store.Open
	s.Sink = New(s.opts)
	if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); err != nil {
		t.Fatal(err)
	}
	if _, next, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"}); next != 2 || err != nil {
		t.Errorf("opened at %d, %v", next, err)
	}
	s.close(t)
	if rows, dead := contents(t, s.rows), contents(t, s.dead); len(rows) != 1 || len(dead) != 1 {
		t.Errorf("visible: %q, %q", rows, dead)
	}
}

func TestCancelled(t *testing.T) { deliveries(t, testCancelled) }

func testCancelled(t *testing.T, d commit.Delivery) {
	s := newSink(t, &text{}, d, nil, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	w := s.start(t, pipeline.LaneID{Stream: "clicks"})
	if err := w.Write(ctx, pipeline.Rows, number(1), pipeline.Span{First: 0, Next: 1}); err != nil {
		t.Fatal(err)
	}
	cancel(pipeline.ErrLaneLost)
	if err := w.Write(ctx, pipeline.Rows, number(1), pipeline.Span{First: 1, Next: 2}); !errors.Is(err, pipeline.ErrLaneLost) {
		t.Errorf("write gave %v", err)
	}
	if _, err := w.Commit(ctx); !errors.Is(err, pipeline.ErrLaneLost) {
		t.Errorf("commit gave %v", err)
	}
	if err := w.Abandon(); err != nil {
		t.Error(err)
	}
	s.close(t)
	if got := contents(t, s.rows); got != nil {
		t.Errorf("visible: %q", got)
	}
}

func TestRefusals(t *testing.T) {
	s := newSink(t, &text{check: errors.New("cannot hold that")}, "", nil, nil)
	if err := s.Start(t.Context(), pipeline.Schemas{numbers}); err == nil || !strings.Contains(err.Error(), "rows: cannot hold that") {
		t.Errorf("got %v", err)
	}
	s = newSink(t, &text{}, "", nil, nil)
	s.opts.DeadLetters = ""
	if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); err == nil || !strings.Contains(err.Error(), "set dead_letters") {
		t.Errorf("got %v", err)
	}
	s = newSink(t, &text{}, "", nil, nil)
	s.opts.DeadLetters = "/nonexistent/urlmill/dead"
	if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); err == nil || !strings.Contains(err.Error(), "mkdir -p") {
		t.Errorf("got %v", err)
	}
	s.close(t)

	s = newSink(t, &text{}, "", nil, nil)
	w := s.start(t, pipeline.LaneID{Stream: "clicks"})
	if err := w.Write(t.Context(), pipeline.Rows, letter("a"), pipeline.Span{}); !errors.Is(err, errSchema) {
		t.Errorf("got %v", err)
	}
	s.close(t)

	for want, o := range map[string]Options{
		"Path: missing":                   {},
		"Path: cannot be given together":  {Path: "x", Stream: &memStream{}},
		"DeadLetters: is the same direct": {Path: "x", DeadLetters: "./x/"},
		`Delivery: "twice" is not known; use exactly_once or at_least_once`: {Path: "x", Delivery: "twice"},
		"Delivery: what went to standard output":                            {Stream: &memStream{}, Delivery: commit.ExactlyOnce},
	} {
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// memStream is a stream of lines.
type memStream struct {
	mu              sync.Mutex
	out             []string
	flushed, closed bool
	start, write    error
}

func (s *memStream) Start(context.Context, *arrow.Schema) error { return s.start }
func (s *memStream) Write(_ context.Context, r arrow.Record) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = append(s.out, r.Column(0).String())
	return 5, s.write
}
func (s *memStream) Commit() error { s.flushed = true; return nil }
func (s *memStream) Close() error  { s.closed = true; return nil }

func TestStream(t *testing.T) {
	out := &memStream{}
	s := newSink(t, &text{}, "", nil, out)
	w := s.start(t, pipeline.LaneID{Stream: "-"})
	for _, err := range []error{
		w.Write(t.Context(), pipeline.Rows, number(1), pipeline.Span{First: 0, Next: 2}),
		w.Write(t.Context(), pipeline.DeadLetters, letter("a"), pipeline.Span{First: 0, Next: 2}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := w.Size(); got != (pipeline.Size{Rows: 2, Bytes: 7}) {
		t.Errorf("size %+v", got)
	}
	if next, err := w.Commit(t.Context()); next != 2 || err != nil || !out.flushed {
		t.Errorf("commit gave %d, %v", next, err)
	}
	if got := w.Size(); got != (pipeline.Size{}) {
		t.Errorf("size after the commit %+v", got)
	}
	out.write = syscall.EPIPE
	if err := w.Write(t.Context(), pipeline.Rows, number(2), pipeline.Span{First: 2, Next: 3}); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v", err)
	}
	if err := w.Abandon(); err != nil {
		t.Error(err)
	}
	s.close(t)
	if !out.closed || !slices.Equal(out.out, []string{"[1]", "[2]"}) {
		t.Errorf("got %v, closed %t", out.out, out.closed)
	}
	if got := contents(t, s.dead); len(got) != 1 {
		t.Errorf("dead letters %q", got)
	}
}

// TestDeadLetterStream has the rows in files, exactly once, and the dead letters in a stream, which has them before the
// rows are committed.
func TestDeadLetterStream(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rows")
	out := &memStream{}
	s := New(Options{Path: dir, DeadLetterStream: out, Format: &text{}, Log: slog.New(slog.DiscardHandler)})
	if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); err != nil {
		t.Fatal(err)
	}
	id := pipeline.LaneID{Stream: "clicks"}
	w, _, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	span := pipeline.Span{First: 0, Next: 2}
	if err := errors.Join(
		w.Write(t.Context(), pipeline.DeadLetters, letter("a"), span),
		w.Write(t.Context(), pipeline.Rows, number(1), span),
	); err != nil {
		t.Fatal(err)
	}
	if len(out.out) != 1 || len(contents(t, dir)) != 0 {
		t.Errorf("before the commit: %q in the stream, %q in files", out.out, contents(t, dir))
	}
	if next, err := w.Commit(t.Context()); next != 2 || err != nil {
		t.Errorf("commit gave %d, %v", next, err)
	}
	out.write = syscall.EPIPE
	if err := w.Write(t.Context(), pipeline.DeadLetters, letter("b"), pipeline.Span{First: 2, Next: 3}); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v", err)
	}
	if err := w.Abandon(); err != nil {
		t.Error(err)
	}
	if _, next, err := s.Open(t.Context(), id); next != 2 || err != nil {
		t.Errorf("opened at %d, %v", next, err)
	}
	if err := s.Close(); err != nil || !out.closed || len(contents(t, dir)) != 1 {
		t.Errorf("%v, closed %t, files %q", err, out.closed, contents(t, dir))
	}
	both := Options{Path: dir, DeadLetters: dir + ".dead", DeadLetterStream: out, Format: &text{}}
	if err := both.Validate(); err == nil || !strings.Contains(err.Error(), "DeadLetters: names a directory") {
		t.Errorf("both: %v", err)
	}
}

func TestStreamThatCannotStart(t *testing.T) {
	s := newSink(t, &text{}, "", nil, &memStream{start: syscall.EBADF})
	if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); !errors.Is(err, syscall.EBADF) {
		t.Errorf("got %v", err)
	}
	s.close(t)
}

// A sink goes on where the last one stopped, and leaves what that one had not committed.
func TestGoesOn(t *testing.T) {
	s := newSink(t, &text{}, commit.ExactlyOnce, nil, nil)
	id := pipeline.LaneID{Stream: "clicks", Partition: 7}
	w := s.start(t, id)
	if err := w.Write(t.Context(), pipeline.Rows, number(1), pipeline.Span{First: 10, Next: 11}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), pipeline.Rows, number(2), pipeline.Span{First: 11, Next: 12}); err != nil {
		t.Fatal(err)
	}
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	s.close(t)
	for lane, want := range map[pipeline.LaneID]int64{id: 11, {Stream: "clicks"}: pipeline.Unknown} {
		s.Sink = New(s.opts)
		if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); err != nil {
			t.Fatal(err)
		}
		if _, next, err := s.Open(t.Context(), lane); next != want || err != nil {
			t.Errorf("%s: opened at %d, %v", lane, next, err)
		}
		s.close(t)
	}
}

// Of two writers of a lane, the one that commits second has lost it.
func TestFenced(t *testing.T) {
	s := newSink(t, &text{}, commit.ExactlyOnce, nil, nil)
	id := pipeline.LaneID{Stream: "clicks"}
	first := s.start(t, id)
	second, _, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []pipeline.Writer{first, second} {
		if err := w.Write(t.Context(), pipeline.Rows, number(1), pipeline.Span{First: 0, Next: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := first.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Commit(t.Context()); !errors.Is(err, pipeline.ErrLaneLost) {
		t.Errorf("got %v", err)
	}
	if err := second.Abandon(); err != nil {
		t.Error(err)
	}
	s.close(t)
	if got := contents(t, s.rows); len(got) != 1 {
		t.Errorf("rows %q", got)
	}
}

// The two kinds of delivery do not go into one directory.
func TestDeliveriesDoNotMix(t *testing.T) {
	for first, second := range map[commit.Delivery]commit.Delivery{commit.ExactlyOnce: commit.AtLeastOnce, commit.AtLeastOnce: commit.ExactlyOnce} {
		s := newSink(t, &text{}, first, nil, nil)
		w := s.start(t, pipeline.LaneID{Stream: "clicks"})
		if err := w.Write(t.Context(), pipeline.Rows, number(1), pipeline.Span{First: 0, Next: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.close(t)
		s.opts.Delivery = second
		s.Sink = New(s.opts)
		if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); err == nil || !strings.Contains(err.Error(), "give another directory") {
			t.Errorf("%s after %s: %v", second, first, err)
		}
		s.close(t)
	}
}
