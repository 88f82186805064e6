package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/leaktest"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// testLines is the content of the files in testdata: lines lo to hi of it, which were compressed by the usual
// command line tools, in two streams each.
func testLines(lo, hi int) []byte {
	var b bytes.Buffer
	x := uint64(1)
	for i := range hi {
		x = (x*1103515245 + 12345) % (1 << 31)
		if i >= lo {
			fmt.Fprintf(&b, "https://host%d.example/%x?n=%d\n", x>>20, x, i)
		}
	}
	return b.Bytes()
}

// write makes a file in a folder of the test and returns its path.
func write(tb testing.TB, name string, data []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	put(tb, path, data)
	return path
}

func put(tb testing.TB, path string, data []byte) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		tb.Fatal(err)
	}
}

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func newSource(tb testing.TB, o Options) *Source {
	tb.Helper()
	s, err := New(o, codec.NewLines(codec.LinesOptions{}), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// reader does what the loop does with lanes and keeps what comes out.
type reader struct {
	start   map[string]int64 // positions to begin at
	maxRows int
	batch   func(lane pipeline.Lane, b *pipeline.Batch) error // called for every batch

	mu   sync.Mutex
	rows map[string][]string // url per path
	next map[string]int64    // position after the last batch per path
}

func (r *reader) each(ctx context.Context, lane pipeline.Lane) error {
	path := lane.ID().Stream
	r.mu.Lock()
	start, ok := r.start[path]
	r.mu.Unlock()
	if !ok {
		start = pipeline.Unknown
	}
	if err := lane.Start(ctx, start); err != nil {
		return err
	}
	b := &pipeline.Batch{MaxRows: r.maxRows, MaxBytes: 1 << 20}
	if b.MaxRows == 0 {
		b.MaxRows = 100
	}
	next := max(start, 0)
	for {
		err := lane.Next(ctx, b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lane %s: %w", lane.ID(), err)
		}
		if b.First != next || b.Next <= b.First || b.Len() > b.MaxRows || b.Lane != lane.ID() || b.URLs.Len() != b.Len() {
			return fmt.Errorf("batch %d-%d of %s after %d with %d rows", b.First, b.Next, b.Lane, next, b.Len())
		}
		next = b.Next
		r.keep(path, b)
		if r.batch != nil {
			if err := r.batch(lane, b); err != nil {
				return err
			}
		}
		if err := lane.Acknowledge(ctx, next); err != nil {
			return err
		}
	}
}

func (r *reader) keep(path string, b *pipeline.Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		r.rows, r.next = map[string][]string{}, map[string]int64{}
	}
	for i := range b.Len() {
		r.rows[path] = append(r.rows[path], string(b.URLs.At(i)))
	}
	r.next[path] = b.Next
}

// all returns the rows of all files, sorted.
func (r *reader) all() (rows []string) {
	for _, urls := range r.rows {
		rows = append(rows, urls...)
	}
	slices.Sort(rows)
	return rows
}

// run reads a source to its end.
func run(tb testing.TB, s *Source) (*reader, error) {
	tb.Helper()
	r := &reader{}
	err := s.Run(tb.Context(), nil, r.each)
	return r, err
}

// readAll reads one file that is in order.
func readAll(tb testing.TB, path string) []string {
	tb.Helper()
	r, err := run(tb, newSource(tb, Options{Paths: []string{path}}))
	if err != nil {
		tb.Fatal(err)
	}
	return r.rows[path]
}

func linesOf(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func same(tb testing.TB, what string, got, want []string) {
	tb.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			tb.Fatalf("%s: row %d is %.80q, want %.80q (%d and %d rows)", what, i, got[i], want[i], len(got), len(want))
		}
	}
	tb.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
}

// progress returns how far a source is.
func progress(s *Source) (done, total int64) {
	p := pipeline.CountsOf(s, nil).Progress
	return p.Done, p.Total
}
