package generate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/leaktest"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

var errStop = errors.New("stop")

func TestMain(m *testing.M) { leaktest.Main(m) }

// reader does what the loop does and keeps the records by lane.
type reader struct {
	start map[int32]int64
	batch func(lane pipeline.Lane, b *pipeline.Batch) error

	mu      sync.Mutex
	records map[int32][]string
	next    map[int32]int64
}

func (r *reader) each(ctx context.Context, lane pipeline.Lane) error {
	id := lane.ID()
	r.mu.Lock()
	next, ok := r.start[id.Partition]
	r.mu.Unlock()
	if !ok {
		next = pipeline.Unknown
	}
	if err := lane.Start(ctx, next); err != nil {
		return err
	}
	next = max(next, 0)
	b := &pipeline.Batch{MaxRows: 100, MaxBytes: 1 << 20}
	for {
		err := lane.Next(ctx, b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if b.First != next || b.Next <= b.First || b.Lane != id || len(b.Timestamps) != b.Len() || b.URLs.Len() != b.Len() || b.Len() > 100 {
			return fmt.Errorf("batch %d-%d of %s after %d with %d rows", b.First, b.Next, b.Lane, next, b.Len())
		}
		next = b.Next
		r.keep(id.Partition, b)
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

func (r *reader) keep(lane int32, b *pipeline.Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.records == nil {
		r.records, r.next = map[int32][]string{}, map[int32]int64{}
	}
	for i := range b.Len() {
		raw, _ := b.Raw(i)
		r.records[lane] = append(r.records[lane], string(raw))
	}
	r.next[lane] = b.Next
}

// TestSource reads all lanes and compares with the generator.
func TestSource(t *testing.T) {
	o := Options{Records: 10001, Lanes: 4, Seed: 3}
	s, err := New(o, clicks(t))
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{}
	if err := s.Run(t.Context(), nil, r.each); err != nil {
		t.Fatal(err)
	}
	g := newGenerator(t, o)
	for i := range o.Records {
		want := string(g.Append(nil))
		lane := r.records[int32(i%4)]
		if int64(len(lane)) <= i/4 || lane[i/4] != want {
			t.Fatalf("record %d is missing or another", i)
		}
	}
	if len(r.records[0]) != 2501 || len(r.records[1]) != 2500 || len(r.records[3]) != 2500 {
		t.Errorf("%d, %d, … records", len(r.records[0]), len(r.records[1]))
	}
	if done, total := progress(s); done != 10001 || total != 10001 {
		t.Errorf("%d of %d", done, total)
	}
}

// TestDrain drains in the middle and goes on from there, in another source.
func TestDrain(t *testing.T) {
	o := Options{Records: 20000, Lanes: 2, Profile: Crawl, Format: Lines}
	s, err := New(o, codec.NewLines(codec.LinesOptions{SkipEmpty: true}))
	if err != nil {
		t.Fatal(err)
	}
	drain := make(chan struct{})
	var once sync.Once
	r := &reader{batch: func(_ pipeline.Lane, b *pipeline.Batch) error {
		if b.Next >= 500 {
			once.Do(func() { close(drain) })
		}
		return nil
	}}
	if err := s.Run(t.Context(), drain, r.each); err != nil {
		t.Fatal(err)
	}
	if done, _ := progress(s); done < 500 || done >= 20000 {
		t.Errorf("%d records before the drain", done)
	}
	s, err = New(o, codec.NewLines(codec.LinesOptions{SkipEmpty: true}))
	if err != nil {
		t.Fatal(err)
	}
	rest := &reader{start: r.next}
	if err := s.Run(t.Context(), nil, rest.each); err != nil {
		t.Fatal(err)
	}
	if done, total := progress(s); done != total {
		t.Errorf("%d of %d", done, total)
	}
	g := newGenerator(t, o)
	var want [2][]string
	for i := range o.Records {
		if url := string(g.Append(nil)); url != "" { // which the codec leaves out
			want[i%2] = append(want[i%2], url)
		}
	}
	for lane := range int32(2) {
		if got := append(r.records[lane], rest.records[lane]...); !slices.Equal(got, want[lane]) {
			t.Errorf("lane %d: %d records are not the %d of the generator", lane, len(got), len(want[lane]))
		}
	}
	if err := s.Run(t.Context(), drain, r.each); err != nil {
		t.Error("drained from the start:", err)
	}
}

// TestEndless stops a source without end by its context, by an error of each, and by a drain.
func TestEndless(t *testing.T) {
	s, err := New(Options{Lanes: 3}, clicks(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := s.Run(ctx, nil, (&reader{batch: func(pipeline.Lane, *pipeline.Batch) error {
		cancel(errStop)
		return nil
	}}).each); !errors.Is(err, errStop) {
		t.Error(err)
	}
	full := errors.New("disk full")
	if err := s.Run(t.Context(), nil, (&reader{batch: func(l pipeline.Lane, _ *pipeline.Batch) error {
		if l.ID().Partition == 1 {
			return full
		}
		return nil
	}}).each); !errors.Is(err, full) {
		t.Error(err)
	}
	if _, total := progress(s); total != 0 {
		t.Error("an endless source has an end")
	}
}

// TestRate checks that a rate is kept over all lanes, whatever the machine is busy with: never above it, and that a
// drain and a cancellation end the waiting.
func TestRate(t *testing.T) {
	s, err := New(Options{Lanes: 2, Rate: 4000, Records: 800}, clicks(t))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := s.Run(t.Context(), nil, (&reader{}).each); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 190*time.Millisecond {
		t.Errorf("800 records at 4000 a second took %v", took)
	}
	s, err = New(Options{Rate: 0.001}, clicks(t))
	if err != nil {
		t.Fatal(err)
	}
	drain := make(chan struct{})
	time.AfterFunc(20*time.Millisecond, func() { close(drain) })
	if err := s.Run(t.Context(), drain, (&reader{}).each); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(errStop) })
	if err := s.Run(ctx, nil, (&reader{}).each); !errors.Is(err, errStop) {
		t.Error(err)
	}
}

// TestSetRate checks that a lane that waits for its next record for hours takes over another rate.
func TestSetRate(t *testing.T) {
	s, err := New(Options{Rate: 1e-4}, clicks(t))
	if err != nil {
		t.Fatal(err)
	}
	l := &lane{source: s}
	time.AfterFunc(10*time.Millisecond, func() { s.SetRate(1e6) })
	if due, err := l.wait(t.Context()); err != nil || due < 1 {
		t.Errorf("%d records, %v", due, err)
	}
}

// TestRateAfterWait checks that what a pipeline missed while it waited is made up for only in part.
func TestRateAfterWait(t *testing.T) {
	s, err := New(Options{Rate: 1000}, clicks(t))
	if err != nil {
		t.Fatal(err)
	}
	l := &lane{source: s, rate: 1000, began: time.Now().Add(-time.Hour), paid: 10}
	due, err := l.wait(t.Context())
	if err != nil || due < 900 || due > 1100 {
		t.Errorf("%d records due after an hour, %v", due, err)
	}
}

func Example() {
	g, err := NewGenerator(Options{Format: Lines, Mix: map[string]float64{"port-not-a-number": 0.5}})
	if err != nil {
		panic(err)
	}
	for range 3 {
		url := g.Append(nil)
		fmt.Printf("%s\n%s (%s)\n", url, g.Truth().Class, g.Truth().Code)
	}
	// Output:
	// https://www.kejaja.com:80:80/?category=6738&p=225743&_=2026-05-14
	// port-not-a-number (port-invalid)
	// https://www.vosonpi.org:8０/events/?id=1717
	// port-not-a-number (port-invalid)
	// https://rexgonormi.com:-1/tag/?q=cc843eb3a7d2677a147a267dec17113f&redirect=mountain
	// port-not-a-number (port-invalid)
}

// progress returns how far a source is.
func progress(s *Source) (done, total int64) {
	p := pipeline.CountsOf(s, nil).Progress
	return p.Done, p.Total
}

// TestMadeByAnotherProcess checks what is said where another process has committed the positions of the same records.
func TestMadeByAnotherProcess(t *testing.T) {
	s, err := New(Options{Records: 3}, clicks(t))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Run(t.Context(), nil, func(context.Context, pipeline.Lane) error {
		return fmt.Errorf("position 0 was committed: %w", pipeline.ErrLaneLost)
	})
	if err == nil || !strings.HasPrefix(err.Error(), "source.generate: another process is making the same records into the same output; ") {
		t.Error(err)
	}
}
