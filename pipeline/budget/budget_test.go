package budget_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/pipeline/budget"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// file is a holder like an open file: it holds a part that can be let go of, and a rest that cannot.
type file struct {
	held, rest int64
	shrunk     int
	using      atomic.Int32
	total      *atomic.Int64 // of all files
}

func (f *file) shrink() int64 {
	if f.using.Add(1) != 1 {
		panic("shrunk while in use")
	}
	defer f.using.Add(-1)
	f.shrunk++
	freed := (f.held - f.rest + 1) / 2
	f.held -= freed
	f.total.Add(-freed)
	return f.held
}

// In any order of growing, finishing and ending, by any number of goroutines: nobody waits for ever, two are never at
// the same file, and the limit is kept whenever what cannot be let go of leaves room for one step.
func TestLedgerModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := rapid.IntRange(1, 12).Draw(t, "files")
		workers := rapid.IntRange(1, 6).Draw(t, "workers")
		most := int64(rapid.IntRange(1, 100).Draw(t, "largest step"))
		rest := int64(rapid.IntRange(0, 20).Draw(t, "rest"))
		limit := int64(files)*rest + most*int64(rapid.IntRange(1, 8).Draw(t, "room"))
		steps := rapid.SliceOfN(rapid.IntRange(0, 1<<20), 50, 300).Draw(t, "steps")

		l := budget.New(limit)
		var total atomic.Int64
		var lanes sync.WaitGroup
		work := make(chan struct{}, workers) // as many at a time
		for i := range files {
			lanes.Go(func() {
				f := &file{total: &total}
				h := l.Join(f.shrink)
				defer h.Close()
				for j := i; j < len(steps); j += files {
					n := int64(steps[j]) % most
					work <- struct{}{}
					if err := h.Enter(context.Background(), n); err != nil {
						panic(err)
					}
					if f.using.Add(1) != 1 {
						panic("used by two")
					}
					if steps[j]%17 == 0 { // the file is finished
						total.Add(-f.held)
						f.held, f.rest = 0, 0
					} else {
						f.held += n
						f.rest = min(rest, f.held)
						total.Add(n)
					}
					if got := total.Load(); got > limit {
						panic("beyond the limit")
					}
					f.using.Add(-1)
					h.Leave(f.held)
					<-work
				}
				if err := h.Enter(context.Background(), 0); err != nil {
					panic(err)
				}
				total.Add(-f.held)
				f.held = 0
				h.Leave(0)
			})
		}
		lanes.Wait()
		if l.Used() != 0 || l.Peak() > limit {
			t.Fatalf("%d left, at most %d of %d", l.Used(), l.Peak(), limit)
		}
	})
}

// The largest is shrunk first, and only as long as it is needed.
func TestLargestIsShrunk(t *testing.T) {
	l := budget.New(100)
	var total atomic.Int64
	hold := func(n int64) (*file, *budget.Holder) {
		f := &file{total: &total}
		h := l.Join(f.shrink)
		if err := h.Enter(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		f.held += n
		h.Leave(f.held)
		return f, h
	}
	small, _ := hold(20)
	large, _ := hold(70)
	_, _ = hold(30)
	if small.shrunk != 0 || large.shrunk != 1 || large.held != 35 {
		t.Errorf("shrunk %d and %d times, the larger to %d", small.shrunk, large.shrunk, large.held)
	}
	if l.Used() != 85 {
		t.Errorf("%d are used", l.Used())
	}
}

// A holder that cannot be helped goes beyond the limit rather than wait for ever.
func TestNobodyWaitsForNobody(t *testing.T) {
	l := budget.New(10)
	f := &file{total: new(atomic.Int64)}
	h := l.Join(f.shrink)
	if err := h.Enter(t.Context(), 50); err != nil {
		t.Fatal(err)
	}
	h.Leave(0)
	if l.Peak() != 50 {
		t.Errorf("peak %d", l.Peak())
	}
}

// Who waits for a holder that is at work gives up with its context.
func TestWaitingEnds(t *testing.T) {
	l := budget.New(10)
	a, b := l.Join(func() int64 { return 0 }), l.Join(func() int64 { return 0 })
	if err := a.Enter(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := b.Enter(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	a.Leave(0)
	if err := b.Enter(t.Context(), 10); err != nil {
		t.Error(err)
	}
	b.Leave(0)
}

func TestPool(t *testing.T) {
	p := budget.NewPool(10)
	if err := p.Take(t.Context(), 100); err != nil { // more than there is, but nobody else has any
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Take(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	p.Give(100)
	p.Give(-12) // what turned out larger
	took := make(chan error)
	go func() { took <- p.Take(t.Context(), 1) }()
	select {
	case <-took:
		t.Fatal("there is nothing to take")
	case <-time.After(10 * time.Millisecond):
	}
	p.Give(12)
	if err := <-took; err != nil {
		t.Error(err)
	}
	p.Give(1)
}

// TestTryTake: what is there is taken at once, also more than the limit by the only one, and not before those who wait.
func TestTryTake(t *testing.T) {
	p := budget.NewPool(10)
	for _, step := range []struct {
		n, give int64
		want    bool
	}{{4, 0, true}, {6, 0, true}, {1, 10, false}, {100, 0, true}, {1, 100, false}, {10, 10, true}} {
		if got := p.TryTake(step.n); got != step.want {
			t.Fatalf("%+v: got %v, with %d used", step, got, p.Used())
		}
		p.Give(step.give)
	}
	if err := p.Take(t.Context(), 8); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	took := make(chan error)
	go func() { took <- p.Take(ctx, 5) }()
	for p.TryTake(1) { // until the other waits
		p.Give(1)
		runtime.Gosched()
	}
	cancel()
	if err := <-took; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if !p.TryTake(2) || p.TryTake(1) {
		t.Errorf("%d are used of 10", p.Used())
	}
}

// Whatever is taken and given back, by any number of goroutines, nobody waits for ever and the limit is kept.
func TestPoolModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := int64(rapid.IntRange(1, 50).Draw(t, "limit"))
		steps := rapid.SliceOfN(rapid.IntRange(1, 60), 20, 200).Draw(t, "steps")
		p := budget.NewPool(limit)
		var users sync.WaitGroup
		for i := range 5 {
			users.Go(func() {
				for j := i; j < len(steps); j += 5 {
					n := int64(steps[j])
					ctx, cancel := context.WithCancel(context.Background())
					if j%7 == 0 {
						cancel()
					}
					if p.Take(ctx, n) == nil {
						p.Give(n)
					}
					cancel()
				}
			})
		}
		users.Wait()
		if p.Peak() > max(limit, 60) {
			t.Fatalf("%d were lent of %d", p.Peak(), limit)
		}
		if err := p.Take(context.Background(), limit); err != nil {
			t.Fatal(err)
		}
	})
}
