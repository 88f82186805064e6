package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/accesslog"
)

// TestBadInput sends everything through that files of URLs are known to hold.
func TestBadInput(t *testing.T) {
	long := "http://example.com/" + strings.Repeat("x", 1<<20)
	text := "\ufeffhttp://a/\r\n\r\n" + "b\x00c\n" + "\xff\xfe\n" + "\n" + long + "\n" + " d \r\n" + "last"
	same(t, "rows", readAll(t, write(t, "urls", []byte(text))),
		[]string{"http://a/", "", "b\x00c", "\xff\xfe", "", long, " d ", "last"})
}

func TestTooLong(t *testing.T) {
	path := write(t, "urls", []byte("1234567890\n12345678901\n12345678901234567890\nx\n"))
	s := newSource(t, Options{Paths: []string{path}, MaxRecordBytes: 10})
	var faults []pipeline.Fault
	r := &reader{batch: func(_ pipeline.Lane, b *pipeline.Batch) error {
		faults = append(faults, b.Faults...)
		return nil
	}}
	if err := s.Run(t.Context(), nil, r.each); err != nil {
		t.Fatal(err)
	}
	same(t, "rows", r.rows[path], []string{"1234567890", "1234567890", "1234567890", "x"})
	want := []pipeline.Fault{{Row: 1, Code: pipeline.FaultTooLarge, Pos: 10}, {Row: 2, Code: pipeline.FaultTooLarge, Pos: 10}}
	if len(faults) != 2 || faults[0] != want[0] || faults[1] != want[1] {
		t.Error(faults)
	}
}

// TestNDJSON reads records of which some are broken; each is a row, with all that was received.
func TestNDJSON(t *testing.T) {
	f, err := codec.NewNDJSON(codec.NDJSONOptions{URL: "/url", SkipEmpty: true})
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, "clicks", []byte("\ufeff{\"url\":\"a\"}\r\n\n{\"url\":\n \r\n{}\n{\"url\":\"b\"}"))
	s, err := New(Options{Paths: []string{path}}, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	each := func(_ pipeline.Lane, b *pipeline.Batch) error {
		for i := range b.Len() {
			raw, _ := b.Raw(i)
			got = append(got, fmt.Sprintf("%d %s %s", b.Offsets[i], raw, b.URLs.At(i)))
		}
		for _, f := range b.Faults {
			got = append(got, fmt.Sprintf("%d %s %d", f.Row, f.Code, f.Pos))
		}
		return nil
	}
	if err := s.Run(t.Context(), nil, (&reader{batch: each}).each); err != nil {
		t.Fatal(err)
	}
	same(t, "rows", got, []string{
		`0 {"url":"a"} a`, `2 {"url": `, `4 {} `, `5 {"url":"b"} b`,
		"1 record-malformed 7", "2 record-field-missing -1",
	})
}

// TestElements reads the elements of an array as lines, and reads on from each of them.
func TestElements(t *testing.T) {
	f, err := accesslog.New(accesslog.Options{Format: accesslog.AzureFrontDoor})
	if err != nil {
		t.Fatal(err)
	}
	document := "{\"records\": [\n {\"properties\":\n {\"requestUri\":\"https://a/\"}},{\"properties\":{\"requestUri\":\"https://b/],[\"}},\n7]}\n"
	for _, data := range [][]byte{[]byte(document), compress(t, "gzip", []byte(document))} {
		path := write(t, "PT1H.json", data)
		s, err := New(Options{Paths: []string{path}}, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"https://a/", "https://b/],[", ""}
		for start := range want {
			r := &reader{start: map[string]int64{path: int64(start)}, maxRows: 1}
			if err := s.Run(t.Context(), nil, r.each); err != nil {
				t.Fatal(err)
			}
			same(t, "rows", r.rows[path], want[start:])
		}
	}
}

// TestPositions reads on from every position, also within lines that are no rows.
func TestPositions(t *testing.T) {
	lines := []string{"0", "", "", "3", "4", "", ""}
	for _, data := range [][]byte{[]byte(strings.Join(lines, "\n") + "\n"), compress(t, "gzip", []byte(strings.Join(lines, "\n")+"\n"))} {
		path := write(t, "urls", data)
		s, err := New(Options{Paths: []string{path}}, codec.NewLines(codec.LinesOptions{SkipEmpty: true}), nil)
		if err != nil {
			t.Fatal(err)
		}
		for start := range len(lines) + 1 {
			for maxRows := 1; maxRows < 4; maxRows++ {
				r := &reader{start: map[string]int64{path: int64(start)}, maxRows: maxRows}
				r.batch = func(_ pipeline.Lane, b *pipeline.Batch) error {
					for i, offset := range b.Offsets {
						if string(b.URLs.At(i)) != fmt.Sprint(offset) {
							return fmt.Errorf("%q at %d", b.URLs.At(i), offset)
						}
					}
					return nil
				}
				if err := s.Run(t.Context(), nil, r.each); err != nil {
					t.Fatal(err)
				}
				want := strings.Fields(strings.Join(lines[start:], " "))
				same(t, fmt.Sprintf("from %d", start), r.rows[path], want)
				if next, read := r.next[path]; read && next != int64(len(lines)) || !read && start < len(lines) {
					t.Errorf("from %d: ends at %d", start, next)
				}
			}
		}
		r := &reader{start: map[string]int64{path: 9}}
		var short *TooShortError
		if err := s.Run(t.Context(), nil, r.each); !errors.As(err, &short) || *short != (TooShortError{path, 9, 7}) || !strings.Contains(err.Error(), "replaced") {
			t.Error(err)
		}
	}
}

// TestBatches checks that a batch ends at MaxRows and at MaxBytes, with one record beyond at most.
func TestBatches(t *testing.T) {
	path := write(t, "urls", []byte(strings.Repeat("0123456789\n", 1000)+strings.Repeat("x", 5000)+"\n"))
	s := newSource(t, Options{Paths: []string{path}})
	err := s.Run(t.Context(), nil, func(ctx context.Context, lane pipeline.Lane) error {
		if err := lane.Start(ctx, 0); err != nil {
			return err
		}
		b := &pipeline.Batch{MaxRows: 64, MaxBytes: 1 << 20}
		if err := lane.Next(ctx, b); err != nil || b.Len() != 64 || b.First != 0 || b.Next != 64 {
			t.Errorf("%d rows, %d-%d, %v", b.Len(), b.First, b.Next, err)
		}
		b.MaxRows, b.MaxBytes = 10000, 95
		if err := lane.Next(ctx, b); err != nil || b.Len() != 10 || b.Next != 74 {
			t.Errorf("%d rows up to %d, %v", b.Len(), b.Next, err)
		}
		b.MaxBytes = 9500
		for {
			if err := lane.Next(ctx, b); err != nil {
				break
			}
		}
		if last := b.URLs.Len(); last != 0 {
			t.Errorf("%d rows with the end", last)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestErrorsJoined checks that all damaged files are named in the end, and that the others are read.
func TestErrorsJoined(t *testing.T) {
	good, gz := write(t, "good", []byte("a\n")), fixture(t, "lines.gz")
	cut, zip := write(t, "cut", gz[:len(gz)-1]), write(t, "zip", []byte("PK\x03\x04"))
	gone := write(t, "gone", []byte("gone\n"))
	s := newSource(t, Options{Paths: []string{cut, zip, gone, good}})
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	r, err := run(t, s)
	for _, path := range []string{cut, zip, gone} {
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s is missing in %v", path, err)
		}
	}
	if !errors.Is(err, os.ErrNotExist) || len(r.rows[cut]) != 2000 {
		t.Errorf("%v, %d rows", err, len(r.rows[cut]))
	}
	same(t, "the good file", r.rows[good], []string{"a"})
	if done, total := progress(s); done != total || total != int64(len(gz)-1+4+5+2) {
		t.Errorf("progress %d of %d", done, total)
	}
}

// TestEachFails checks that an error that is not the source's stops the other lanes and is returned.
func TestEachFails(t *testing.T) {
	full := errors.New("disk full")
	var paths []string
	for i := range 5 {
		paths = append(paths, write(t, fmt.Sprint(i), testLines(0, 2000)))
	}
	s := newSource(t, Options{Paths: paths, Parallel: 2})
	var lanes, cancelled atomic.Int32
	err := s.Run(t.Context(), nil, func(ctx context.Context, lane pipeline.Lane) error {
		if lanes.Add(1) == 1 {
			if err := lane.Start(ctx, 0); err != nil {
				return err
			}
			<-ctx.Done()
			cancelled.Add(1)
			if !errors.Is(context.Cause(ctx), full) {
				t.Error(context.Cause(ctx))
			}
			return lane.Next(ctx, &pipeline.Batch{MaxRows: 1})
		}
		return full
	})
	if !errors.Is(err, full) || lanes.Load() != 2 || cancelled.Load() != 1 {
		t.Errorf("%v, %d lanes, %d cancelled", err, lanes.Load(), cancelled.Load())
	}
}

func TestParallel(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		put(t, filepath.Join(dir, fmt.Sprintf("%02d", i)), testLines(0, 100))
	}
	s := newSource(t, Options{Paths: []string{dir}, Parallel: 3})
	var now, most atomic.Int32
	r := &reader{}
	err := s.Run(t.Context(), nil, func(ctx context.Context, lane pipeline.Lane) error {
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		time.Sleep(time.Millisecond)
		return r.each(ctx, lane)
	})
	if err != nil || len(r.all()) != 2000 || most.Load() > 3 {
		t.Errorf("%v, %d rows, %d at a time", err, len(r.all()), most.Load())
	}
}

// TestDrain drains in the middle of several files: each lane ends with io.EOF, and no further one is handed out.
func TestDrain(t *testing.T) {
	var paths []string
	for i := range 6 {
		paths = append(paths, write(t, fmt.Sprint(i), testLines(0, 2000)))
	}
	s := newSource(t, Options{Paths: paths, Parallel: 2})
	drain := make(chan struct{})
	var mu sync.Mutex // so that no lane reads on between the third batch and the drain
	batches := 0
	r := &reader{batch: func(pipeline.Lane, *pipeline.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		if batches++; batches == 3 {
			close(drain)
		}
		return nil
	}}
	if err := s.Run(t.Context(), drain, r.each); err != nil {
		t.Fatal(err)
	}
	if batches < 3 || batches > 4 || len(r.rows) > 2 {
		t.Errorf("%d batches of %d files", batches, len(r.rows))
	}
	// Going on from there gives the rest.
	s = newSource(t, Options{Paths: paths})
	rest := &reader{start: r.next}
	if err := s.Run(t.Context(), nil, rest.each); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		same(t, path, append(r.rows[path], rest.rows[path]...), linesOf(testLines(0, 2000)))
	}
	if err := s.Run(t.Context(), drain, r.each); err != nil {
		t.Error("drained from the start:", err)
	}
}

// TestDrainSkipping drains while a lane reads over lines: those before its position, and those that are no rows.
func TestDrainSkipping(t *testing.T) {
	path := write(t, "urls", []byte(strings.Repeat("\n", 100000)))
	s, err := New(Options{Paths: []string{path}}, codec.NewLines(codec.LinesOptions{SkipEmpty: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range []int64{0, 99999} {
		drain := make(chan struct{})
		err := s.Run(t.Context(), drain, func(ctx context.Context, lane pipeline.Lane) error {
			if err := lane.Start(ctx, start); err != nil {
				return err
			}
			close(drain)
			b := &pipeline.Batch{MaxRows: 10, MaxBytes: 10}
			if err := lane.Next(ctx, b); err == nil {
				t.Errorf("from %d: a batch %d-%d after the drain", start, b.First, b.Next)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestDrainWithinNext drains while Next reads lines that are no rows.
func TestDrainWithinNext(t *testing.T) {
	path := write(t, "urls", []byte(strings.Repeat("\n", 5*checkEvery/2)))
	drain := make(chan struct{})
	s, err := New(Options{Paths: []string{path}}, drainer{codec.NewLines(codec.LinesOptions{SkipEmpty: true}), drain, new(int)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{}
	if err := s.Run(t.Context(), drain, r.each); err != nil || r.next[path] != checkEvery {
		t.Errorf("%v, read up to %d", err, r.next[path])
	}
}

// drainer is a codec that begins a drain with its tenth record.
type drainer struct {
	codec.Factory
	drain chan struct{}
	n     *int
}

func (d drainer) New() codec.Codec { return drainerCodec{d.Factory.New(), d} }

type drainerCodec struct {
	codec.Codec
	d drainer
}

func (c drainerCodec) Decode(b *pipeline.Batch, record []byte) bool {
	if *c.d.n++; *c.d.n == 10 {
		close(c.d.drain)
	}
	return c.Codec.Decode(b, record)
}

func TestCancel(t *testing.T) {
	path := write(t, "urls", testLines(0, 2000))
	s := newSource(t, Options{Paths: []string{path}})
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	r := &reader{batch: func(pipeline.Lane, *pipeline.Batch) error {
		cancel(stop)
		return nil
	}}
	if err := s.Run(ctx, nil, r.each); !errors.Is(err, stop) {
		t.Error(err)
	}
	if err := s.Run(ctx, nil, r.each); !errors.Is(err, stop) {
		t.Error("cancelled from the start:", err)
	}
}

func TestProgress(t *testing.T) {
	a, b := write(t, "a", testLines(0, 2000)), write(t, "b", fixture(t, "lines.xz"))
	s := newSource(t, Options{Paths: []string{a, b}, Parallel: 1})
	last := int64(-1)
	r := &reader{batch: func(pipeline.Lane, *pipeline.Batch) error {
		done, total := progress(s)
		if done < last || done > total {
			t.Errorf("%d after %d of %d", done, last, total)
		}
		last = done
		return nil
	}}
	if done, total := progress(s); done != 0 || total != int64(len(testLines(0, 2000))+len(fixture(t, "lines.xz"))) {
		t.Errorf("%d of %d before the start", done, total)
	}
	if err := s.Run(t.Context(), nil, r.each); err != nil {
		t.Fatal(err)
	}
	if done, total := progress(s); done != total {
		t.Errorf("%d of %d at the end", done, total)
	}
}

// TestAllocations checks that a lane allocates nothing for its records, once its memory is there.
func TestAllocations(t *testing.T) {
	path := write(t, "urls", []byte(strings.Repeat("https://www.example.com/a/path?with=query\n", 200000)))
	s := newSource(t, Options{Paths: []string{path}})
	err := s.Run(t.Context(), nil, func(ctx context.Context, lane pipeline.Lane) error {
		if err := lane.Start(ctx, 0); err != nil {
			return err
		}
		b := &pipeline.Batch{MaxRows: 1000, MaxBytes: 1 << 20}
		if n := testing.AllocsPerRun(100, func() {
			if err := lane.Next(ctx, b); err != nil {
				t.Error(err)
			}
		}); n > 0 {
			t.Errorf("%v allocations per batch of 1000", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkFile(b *testing.B) {
	for _, format := range []string{"text", "gzip", "zstd", "LZ4", "snappy"} {
		data := []byte(strings.Repeat(string(testLines(0, 2000)), 100))
		size := len(data)
		if format != "text" {
			data = compress(b, format, data)
		}
		path := write(b, "urls", data)
		b.Run(format, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				rows := 0
				err := newSource(b, Options{Paths: []string{path}}).Run(b.Context(), nil, func(ctx context.Context, lane pipeline.Lane) error {
					if err := lane.Start(ctx, 0); err != nil {
						return err
					}
					batch := &pipeline.Batch{MaxRows: 4096, MaxBytes: 1 << 20}
					for lane.Next(ctx, batch) == nil {
						rows += batch.Len()
					}
					return nil
				})
				if err != nil || rows != 200000 {
					b.Fatal(rows, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200000, "ns/record")
		})
	}
}

// TestReadByAnotherProcess checks what is said of a file whose positions another process has committed meanwhile.
func TestReadByAnotherProcess(t *testing.T) {
	path := write(t, "urls", testLines(0, 3))
	err := newSource(t, Options{Paths: []string{path}}).Run(t.Context(), nil, func(context.Context, pipeline.Lane) error {
		return fmt.Errorf("position 0 was committed: %w", pipeline.ErrLaneLost)
	})
	if err == nil || !strings.HasPrefix(err.Error(), path+": another process is reading this file into the same output; ") {
		t.Error(err)
	}
}
