package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
)

// output is a sink with the claims of the processes that share it.
type output struct {
	*chains
	claimMu  sync.Mutex
	claims   map[string]string
	requests atomic.Int64 // for claims
}

// process reads a bucket with others.
type process struct {
	*output
	name          string
	killed        atomic.Bool
	lanes, claims sync.RWMutex // held for writing while it does not come to those
	drain         chan struct{}
	done          chan error
}

func newOutput() *output { return &output{chains: newChains(), claims: map[string]string{}} }

// start starts a process.
func (o *output) start(t *testing.T, name string, c objstore.Store, change func(*Options)) *process {
	t.Helper()
	s, err := openCloud(c, func(o *Options) {
		o.Shard, o.ClaimTTL = Auto, time.Second
		change(o)
	}, "s3://b/")
	if err != nil {
		t.Fatal(err)
	}
	p := &process{output: o, name: name, drain: make(chan struct{}), done: make(chan error, 1)}
	s.Resume(p)
	go func() {
		p.done <- s.Run(t.Context(), p.drain, func(ctx context.Context, l pipeline.Lane) error {
			return o.deliver(ctx, l, func() error { return p.lives(&p.lanes) })
		})
	}()
	return p
}

// end stops the process in good order.
func (p *process) end(t *testing.T) {
	t.Helper()
	close(p.drain)
	if err := <-p.done; err != nil {
		t.Fatal(err)
	}
	if names := p.names(p.name); len(names) > 0 {
		t.Errorf("%s has left %v", p.name, names)
	}
}

func (p *process) lives(step *sync.RWMutex) error {
	step.RLock()
	defer step.RUnlock()
	if p.killed.Load() {
		return errKilled
	}
	return nil
}

// names returns the claims that say that a process lives or has a lane.
func (o *output) names(process string) (names []string) {
	o.claimMu.Lock()
	defer o.claimMu.Unlock()
	for name, content := range o.claims {
		if content == "held "+process || strings.HasPrefix(name, "process-"+process+"-") {
			names = append(names, name)
		}
	}
	return names
}

// has reports whether processes have so many lanes, in any order.
func (o *output) has(want []int, all ...*process) bool {
	var got []int
	for _, p := range all {
		got = append(got, len(slices.DeleteFunc(o.names(p.name), func(n string) bool { return !strings.HasPrefix(n, "lane-") })))
	}
	slices.Sort(got)
	return slices.Equal(got, want)
}

// committed returns the number of rows.
func (o *output) committed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.rows)
}

// Claims implements [pipeline.Claimer].
func (p *process) Claims(string) pipeline.Claims { return (*claiming)(p) }

// claiming implements [pipeline.Claims].
type claiming process

func (c *claiming) Self() string { return c.name }

func (c *claiming) request(f func(map[string]string) error) error {
	if err := (*process)(c).lives(&c.claims); err != nil {
		return err
	}
	c.requests.Add(1)
	c.claimMu.Lock()
	defer c.claimMu.Unlock()
	return f(c.output.claims)
}

func (c *claiming) Names(context.Context) (names []string, err error) {
	err = c.request(func(all map[string]string) error { names = slices.Collect(maps.Keys(all)); return nil })
	return names, err
}

func (c *claiming) Create(_ context.Context, name, content string) error {
	return c.request(func(all map[string]string) error {
		if _, there := all[name]; there {
			return fs.ErrExist
		}
		all[name] = content
		return nil
	})
}

func (c *claiming) Read(_ context.Context, name string) (content string, err error) {
	err = c.request(func(all map[string]string) error {
		var there bool
		if content, there = all[name]; !there {
			return fs.ErrNotExist
		}
		return nil
	})
	return content, err
}

func (c *claiming) Delete(_ context.Context, name string) error {
	return c.request(func(all map[string]string) error { delete(all, name); return nil })
}

// Processes come, end and die, and the lanes are divided among those that live; everything is there once.
func TestObjectsShared(t *testing.T) {
	c, o := new(cloud), newOutput()
	o.every = 1
	n := 0
	more := func() {
		for range 200 {
			c.put(fmt.Sprintf("p/%05d", n*7919%100_000), lines(fmt.Sprint(n), 1))
			n++
		}
	}
	waiting := func(op *Options) { op.Poll = 20 * time.Millisecond }
	more()
	a := o.start(t, "a", c, waiting)
	within(t, time.Minute, "the first process", func() bool { return o.has([]int{16}, a) })
	b := o.start(t, "b", c, waiting)
	within(t, time.Minute, "two processes", func() bool { return o.has([]int{8, 8}, a, b) })
	d := o.start(t, "d", c, waiting)
	within(t, time.Minute, "three processes", func() bool { return o.has([]int{5, 5, 6}, a, b, d) })
	more()
	within(t, time.Minute, "the objects of three", func() bool { return o.committed() == n })
	d.end(t) // it has left nothing behind, for which others would have to wait
	within(t, time.Minute, "the lanes of the one that has ended", func() bool { return o.has([]int{8, 8}, a, b) })
	b.killed.Store(true)
	more()
	if err := <-b.done; !errors.Is(err, errKilled) {
		t.Error(err)
	}
	within(t, time.Minute, "the lanes of the one that is dead", func() bool { return o.has([]int{0, 16}, a, b) })
	within(t, time.Minute, "its objects", func() bool { return o.committed() == n })
	within(t, time.Minute, "its last beat to be removed", func() bool { return len(o.names("b")) == 0 })
	a.end(t)
	if len(o.claims) != objectLanes {
		t.Errorf("left over: %v", o.claims)
	}
	o.holds(t, c)
}

// A process that was stopped for longer than its claims last, and goes on, has its commits refused. It gives up what others have
// taken over, and takes part again.
func TestObjectsSharedPaused(t *testing.T) {
	c, o := new(cloud), newOutput()
	o.every = 1
	for i := range 300 {
		c.put(fmt.Sprintf("p/%05d", i), lines(fmt.Sprint(i), 2))
	}
	waiting := func(op *Options) { op.Poll = 20 * time.Millisecond }
	a := o.start(t, "a", c, waiting)
	b := o.start(t, "b", c, waiting)
	within(t, time.Minute, "two processes", func() bool { return o.has([]int{8, 8}, a, b) })
	b.lanes.Lock()
	b.claims.Lock()
	for i := range 300 {
		c.put(fmt.Sprintf("p/%05d", 300+i), lines(fmt.Sprint(i), 2))
	}
	within(t, time.Minute, "the lanes of the one that sleeps", func() bool { return o.has([]int{0, 16}, a, b) })
	within(t, time.Minute, "its objects", func() bool { return o.committed() == 1200 })
	b.lanes.Unlock()
	within(t, time.Minute, "a commit that is refused", func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.refused > 0
	})
	b.claims.Unlock()
	within(t, time.Minute, "the one that is awake again", func() bool { return o.has([]int{8, 8}, a, b) })
	c.put("p/last", lines("last", 2))
	within(t, time.Minute, "the last object", func() bool { return o.committed() == 1202 })
	a.end(t)
	b.end(t)
	o.holds(t, c)
}

// small is a bucket of n objects of one record, which counts how often they are read.
type small struct {
	many
	gets atomic.Int64
	half atomic.Bool // no more than half of them, until it is false
}

func (s *small) Open(ctx context.Context, o objstore.Object, off, n int64) (io.ReadCloser, error) {
	s.gets.Add(1)
	for s.half.Load() && s.gets.Load() > int64(s.n/2) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return s.many.Open(ctx, o, off, n)
}

// Two processes share many small objects, until all are read; one sleeps for longer than its claims last, and a third one comes and
// is killed. URLMILL_SHARED is another number of objects: with a million, at most one in a hundred is read twice.
func TestObjectsSharedMany(t *testing.T) {
	s, o := &small{many: many{n: 5_000}}, newOutput()
	if n, err := strconv.Atoi(os.Getenv("URLMILL_SHARED")); err == nil {
		s.n = n
	}
	o.every, o.maxRows = max(1, s.n/2000), 100 // batches, and so objects, of a commit
	ending := func(op *Options) {}
	s.half.Store(true) // or one might be through before the other has slept long enough
	began := time.Now()
	a, b := o.start(t, "a", s, ending), o.start(t, "b", s, ending)
	share := func(percent int) func() bool {
		return func() bool { return o.committed() >= s.n/100*percent }
	}
	within(t, time.Hour, "a part", share(10))
	b.lanes.Lock()
	b.claims.Lock()
	within(t, time.Hour, "the lanes of the one that sleeps", func() bool { return o.has([]int{0, 16}, a, b) })
	s.half.Store(false)
	b.lanes.Unlock()
	b.claims.Unlock()
	within(t, time.Hour, "a part", share(30))
	d := o.start(t, "d", s, ending)
	within(t, time.Hour, "a part", share(60))
	d.killed.Store(true)
	for _, p := range []*process{a, b} {
		if err := <-p.done; err != nil {
			t.Fatal(err)
		}
	}
	<-d.done
	took := time.Since(began)
	seen := map[string]bool{}
	for _, row := range o.rows {
		seen[row] = true
	}
	if len(seen) != s.n || len(o.rows) != s.n {
		t.Errorf("%d rows, %d different ones, of %d objects", len(o.rows), len(seen), s.n)
	}
	twice := float64(s.gets.Load()-int64(s.n)) / float64(s.n)
	if s.n >= 1_000_000 && twice > 0.01 {
		t.Errorf("%.2f %% of the objects were read twice", 100*twice)
	}
	t.Logf("%d objects in %v: %.3f %% read twice, %d commits refused, %d listings, %d requests for claims",
		s.n, took, 100*twice, o.refused, s.lists.Load(), o.requests.Load())
}

func TestFairShare(t *testing.T) {
	for _, tc := range []struct {
		has   map[string]int
		lanes int
		want  map[string]int
	}{
		{map[string]int{"a": 0}, 16, map[string]int{"a": 16}},
		{map[string]int{"a": 16, "b": 0}, 16, map[string]int{"a": 8, "b": 8}},
		{map[string]int{"a": 5, "b": 5, "c": 6}, 16, map[string]int{"a": 5, "b": 5, "c": 6}},
		{map[string]int{"a": 4, "b": 4, "c": 4, "d": 4, "e": 0}, 16, map[string]int{"a": 4, "b": 3, "c": 3, "d": 3, "e": 3}},
		{map[string]int{"a": 0, "b": 1}, 1, map[string]int{"a": 0, "b": 1}}, // the last lane does not move
	} {
		for id, want := range tc.want {
			if got := fairShare(tc.has, id, tc.lanes); got != want {
				t.Errorf("%v, %d lanes: %s has %d, want %d", tc.has, tc.lanes, id, got, want)
			}
		}
	}
}

func TestCutClaim(t *testing.T) {
	for name, want := range map[string]string{
		beatName("1a2b", 3): "process 1a2b 3", claimName(0, 12): "lane 1 12", claimName(15, 1): "lane 16 1",
		"lane-0-1": "  0", "lane-17-1": "  0", "lane-x-1": "  0", "lane-1": "  0", "process-a-x": "  0", "other-a-1": "  0", "": "  0",
	} {
		if kind, of, n := cutClaim(name); fmt.Sprint(kind, " ", of, " ", n) != want {
			t.Errorf("%s: %s %s %d, want %s", name, kind, of, n, want)
		}
	}
}
