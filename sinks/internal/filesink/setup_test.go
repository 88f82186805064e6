package filesink

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
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
	o := Options{
		Files: Files{DeadLetters: s.dead, Delivery: delivery},
		Path:  s.rows, Format: format, Log: slog.New(slog.DiscardHandler), Stream: stream,
	}
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

// eachVisible calls each with the visible files below a directory: the directory of the file, below the first one, and what
// is in the file, line by line.
func eachVisible(t *testing.T, dir string, each func(in string, lines []string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), "_"):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		in, err := filepath.Rel(dir, filepath.Dir(path))
		if err == nil {
			each(in, strings.Split(strings.TrimSpace(string(content)), "\n"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// deliveries runs a test with each kind of delivery.
func deliveries(t *testing.T, test func(t *testing.T, d commit.Delivery)) {
	t.Helper()
	for _, d := range []commit.Delivery{commit.ExactlyOnce, commit.AtLeastOnce} {
		t.Run(string(d), func(t *testing.T) { test(t, d) })
	}
}
