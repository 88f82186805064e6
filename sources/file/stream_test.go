package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/urlmill/urlmill/pipeline"
)

// piped runs a source on a pipe and sends every batch to the channel, which is closed at the end.
type piped struct {
	w       *io.PipeWriter
	batches chan []string
	err     chan error
}

func startPiped(t *testing.T, ctx context.Context, drain <-chan struct{}) *piped { //nolint:revive // t comes first in helpers
	t.Helper()
	r, w := io.Pipe()
	p := &piped{w: w, batches: make(chan []string, 100), err: make(chan error, 1)}
	s := newSource(t, Options{Paths: []string{Stdin}, Stdin: r, MaxRecordBytes: 1000})
	if _, total := progress(s); total != 0 {
		t.Error("a pipe has no known size")
	}
	go func() {
		last := 0
		rd := &reader{}
		rd.batch = func(pipeline.Lane, *pipeline.Batch) error {
			p.batches <- slices.Clone(rd.rows[Stdin][last:])
			last = len(rd.rows[Stdin])
			return nil
		}
		p.err <- s.Run(ctx, drain, rd.each)
		close(p.batches)
	}()
	return p
}

// write writes to the pipe; it returns once all has been read from it.
func (p *piped) write(t *testing.T, s string) {
	t.Helper()
	if _, err := p.w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
}

// wait returns the next rows, or fails when there are none for long.
func (p *piped) wait(t *testing.T, n int) (rows []string) {
	t.Helper()
	for len(rows) < n {
		select {
		case batch := <-p.batches:
			rows = append(rows, batch...)
		case <-time.After(5 * time.Minute):
			t.Fatalf("%q and then nothing", rows)
		}
	}
	return rows
}

// TestStdinPrompt checks that a line comes out when it has gone in, with nothing behind it.
func TestStdinPrompt(t *testing.T) {
	p := startPiped(t, t.Context(), nil)
	p.write(t, "B\n")
	same(t, "first", p.wait(t, 1), []string{"B"})
	p.write(t, "a\nb\nc")
	same(t, "two and a half", p.wait(t, 2), []string{"a", "b"})
	p.write(t, "c\r\n")
	same(t, "the other half", p.wait(t, 1), []string{"cc"})
	p.write(t, strings.Repeat("x", 1003)+"y")
	same(t, "cut", p.wait(t, 1), []string{strings.Repeat("x", 1000)})
	p.write(t, "y\nend")
	if err := p.w.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, "end", p.wait(t, 1), []string{"end"})
	if err := <-p.err; err != nil {
		t.Error(err)
	}
}

// TestStdinCompressed does the same with gzip.
func TestStdinCompressed(t *testing.T) {
	p := startPiped(t, t.Context(), nil)
	z := gzip.NewWriter(p.w)
	for _, line := range []string{"a", "b"} {
		if _, err := io.WriteString(z, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
		same(t, line, p.wait(t, 1), []string{line})
	}
	if err := p.w.Close(); err != nil {
		t.Fatal(err)
	}
	var read *ReadError
	if err := <-p.err; !errors.As(err, &read) || !strings.Contains(err.Error(), "-: the gzip data ends too early at byte ") {
		t.Error(err)
	}
}

// TestStdinDrain drains while the source waits for input, with half a line read.
func TestStdinDrain(t *testing.T) {
	drain := make(chan struct{})
	p := startPiped(t, t.Context(), drain)
	p.write(t, "a\nhal")
	same(t, "before", p.wait(t, 1), []string{"a"})
	close(drain)
	if err := <-p.err; err != nil {
		t.Error(err)
	}
	if batch, open := <-p.batches; open {
		t.Errorf("half a line became %q", batch)
	}
	p.end(t)
}

// end gives the goroutine that is left behind what it waits for.
func (p *piped) end(t *testing.T) {
	t.Helper()
	if err := p.w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStdinDrainKeeps checks that what has been read from a pipe before the drain comes out: nobody can read it
// again.
func TestStdinDrainKeeps(t *testing.T) {
	r, w := io.Pipe()
	drain := make(chan struct{})
	s := newSource(t, Options{Paths: []string{Stdin}, Stdin: r})
	rd := &reader{maxRows: 10}
	err := s.Run(t.Context(), drain, func(ctx context.Context, handed pipeline.Lane) error {
		l := handed.(*lane)
		if err := l.Start(ctx, pipeline.Unknown); err != nil {
			return err
		}
		if _, err := w.Write(testLines(0, 1000)); err != nil {
			return err
		}
		for !l.stream.poll() {
			time.Sleep(time.Millisecond)
		}
		close(drain)
		b := &pipeline.Batch{MaxRows: 10, MaxBytes: 1 << 20}
		for {
			if err := l.Next(ctx, b); err != nil {
				return nil
			}
			rd.keep(Stdin, b)
		}
	})
	if err != nil {
		t.Error(err)
	}
	same(t, "rows", rd.rows[Stdin], linesOf(testLines(0, 1000)))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestWaitEnds ends a wait, which is no end of the lane: it reads on with another context.
func TestWaitEnds(t *testing.T) {
	r, w := io.Pipe()
	s := newSource(t, Options{Paths: []string{Stdin}, Stdin: r})
	err := s.Run(t.Context(), nil, func(ctx context.Context, l pipeline.Lane) error {
		if err := l.Start(ctx, pipeline.Unknown); err != nil {
			return err
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		b := &pipeline.Batch{MaxRows: 10, MaxBytes: 1 << 20}
		l.(pipeline.Waiter).Wait(ended)
		if err := l.Next(ended, b); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
		go func() { _, _ = io.WriteString(w, "a\n") }()
		if err := l.Next(ctx, b); err != nil || b.Len() != 1 || string(b.URLs.At(0)) != "a" {
			t.Errorf("with another context: %d rows, %v", b.Len(), err)
		}
		go func() { _ = w.Close() }()
		if err := l.Next(ctx, b); !errors.Is(err, io.EOF) {
			t.Errorf("at the end: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestStdinCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p := startPiped(t, ctx, nil)
	p.write(t, "a\n")
	p.wait(t, 1)
	stop := errors.New("stop")
	cancel(stop)
	if err := <-p.err; !errors.Is(err, stop) {
		t.Error(err)
	}
	p.end(t)
}

func TestStdinFails(t *testing.T) {
	p := startPiped(t, t.Context(), nil)
	p.write(t, "a\nb")
	if err := p.w.CloseWithError(errors.New("connection reset")); err != nil {
		t.Fatal(err)
	}
	err := <-p.err
	if err == nil || !strings.Contains(err.Error(), "-: reading failed at byte 3: connection reset; the 1 records before it were read, the 1 bytes of") {
		t.Error(err)
	}
	p = startPiped(t, t.Context(), nil)
	if err := p.w.CloseWithError(errors.New("connection reset")); err != nil {
		t.Fatal(err)
	}
	if err := <-p.err; err == nil || !strings.Contains(err.Error(), "-: reading failed at byte 0: connection reset; the 0 records") {
		t.Error(err)
	}
}

// TestStdinFromFile redirects standard input from a file, which then has a size.
func TestStdinFromFile(t *testing.T) {
	f, err := os.Open(write(t, "urls", []byte("skipped\na\nb\n")))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(8, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	s := newSource(t, Options{Paths: []string{Stdin}, Stdin: f})
	r, err := run(t, s)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "rows", r.rows[Stdin], []string{"a", "b"})
	if done, total := progress(s); done != 4 || total != 4 {
		t.Errorf("%d of %d", done, total)
	}
}

// TestStdinLots sends more through a pipe than the buffers hold.
func TestStdinLots(t *testing.T) {
	text := bytes.Repeat(testLines(0, 2000), 20)
	p := startPiped(t, t.Context(), nil)
	go func() {
		_, _ = p.w.Write(text)
		_ = p.w.Close()
	}()
	var rows []string
	for batch := range p.batches {
		rows = append(rows, batch...)
	}
	same(t, "rows", rows, linesOf(text))
	if err := <-p.err; err != nil {
		t.Error(err)
	}
}
