package throttle

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

// endless is a source of lanes that always have records.
type endless struct {
	lanes  int
	read   atomic.Int64
	ending chan struct{}
}

func (s *endless) Run(ctx context.Context, drain <-chan struct{}, each func(context.Context, pipeline.Lane) error) error {
	done := make(chan error)
	for range s.lanes {
		go func() { done <- each(ctx, &endlessLane{source: s, drain: drain}) }()
	}
	var err error
	for range s.lanes {
		err = <-done
	}
	return err
}

type endlessLane struct {
	pipeline.Lane
	source *endless
	drain  <-chan struct{}
}

func (l *endlessLane) Ending() <-chan struct{} { return l.source.ending }

func (l *endlessLane) Next(_ context.Context, b *pipeline.Batch) error {
	b.Reset()
	select {
	case <-l.drain:
		return io.EOF
	case <-l.source.ending:
		return io.EOF
	default:
	}
	for !b.Full() {
		b.URLs.Append([]byte("https://example.com/"))
		b.Offsets = append(b.Offsets, 0)
	}
	l.source.read.Add(int64(b.Len()))
	return nil
}

// pump reads all lanes of a source until they end.
func pump(ctx context.Context, s pipeline.Source, drain <-chan struct{}) chan error {
	done := make(chan error, 1)
	go func() {
		done <- s.Run(ctx, drain, func(ctx context.Context, l pipeline.Lane) error {
			b := &pipeline.Batch{MaxRows: 1000, MaxBytes: 1 << 20}
			for {
				l.(pipeline.Waiter).Wait(ctx)
				if err := l.Next(ctx, b); err != nil {
					return err
				}
			}
		})
	}()
	return done
}

// eventually waits as long as a slow machine needs.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestRate checks that no more is read than the rate allows, which is a lot less than there is; and that a new rate
// counts for those who wait for the old one.
func TestRate(t *testing.T) {
	const rate, lanes = 400, 8
	source := &endless{lanes: lanes, ending: make(chan struct{})}
	limiter := New(rate)
	drain := make(chan struct{})
	began := time.Now()
	done := pump(t.Context(), NewSource(source, limiter), drain)
	eventually(t, "turns", func() bool { return source.read.Load() >= rate })
	read, elapsed := float64(source.read.Load()), time.Since(began).Seconds()
	if most := rate * (elapsed + 2*turn.Seconds()); read > most {
		t.Errorf("%.0f records in %.2f s, more than %.0f", read, elapsed, most)
	}
	limiter.SetRate(0.001) // a record takes a quarter of an hour
	read = float64(source.read.Load())
	limiter.SetRate(0)
	eventually(t, "records without a limit", func() bool { return float64(source.read.Load()) > read+1e6 })
	close(drain)
	if err := <-done; !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestLetGo checks that nobody waits for a turn when lanes end.
func TestLetGo(t *testing.T) {
	for name, end := range map[string]func(s *endless, drain chan struct{}, cancel func()){
		"drain":  func(_ *endless, drain chan struct{}, _ func()) { close(drain) },
		"ending": func(s *endless, _ chan struct{}, _ func()) { close(s.ending) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			source := &endless{lanes: 4, ending: make(chan struct{})}
			drain := make(chan struct{})
			done := pump(ctx, NewSource(source, New(1e-6)), drain)
			eventually(t, "the first turn", func() bool { return source.read.Load() == 1 })
			end(source, drain, cancel)
			if err := <-done; !errors.Is(err, io.EOF) {
				t.Error(err)
			}
		})
	}
}

// TestGiveBack checks that what a lane does not have costs nothing.
func TestGiveBack(t *testing.T) {
	l := New(1000)
	never := make(chan struct{})
	for range 1000 {
		n := l.take(never, never, never)
		if n != 250 {
			t.Fatalf("a turn of %d records", n)
		}
		l.giveBack(n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if ahead := time.Until(l.free); ahead > turn || ahead < -time.Minute {
		t.Errorf("the next turn is in %v", ahead)
	}
}
