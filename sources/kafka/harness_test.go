package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// waitLimit is how long a test waits for what has to come, on the busiest machine.
const waitLimit = 5 * time.Minute

// noLeaks fails the test if it leaves goroutines behind that its own clean-up functions do not end. It has to be
// called before anything that registers one.
func noLeaks(t *testing.T) {
	t.Helper()
	// The imitation allocates whatever size the first bytes of a request say, and TLS says 369 MB.
	leaktest.Check(t, goleak.IgnoreAnyFunction("github.com/twmb/franz-go/pkg/kfake.(*clientConn).read.func1"))
}

// row is a record as a test compares it; "-" stands for null.
type row struct {
	lane    pipeline.LaneID
	offset  int64
	time    int64
	key     string
	value   string
	headers string
	fault   string
}

func show(v []byte, valid bool) string {
	if !valid {
		return "-"
	}
	return string(v)
}

// collector runs lanes as the pipeline does, with a sink that keeps rows in memory.
type collector struct {
	t        *testing.T
	maxRows  int
	maxBytes int
	// marks, if not nil, are the sink's positions, which it keeps then; it goes before start.
	marks map[pipeline.LaneID]pipeline.Mark
	// start, if not nil, is the sink's position of a lane.
	start func(pipeline.LaneID) int64
	// gaps allows batches to begin behind where the one before has ended.
	gaps bool
	// hold, if not nil, is called before every acknowledgement.
	hold func(ctx context.Context, id pipeline.LaneID)

	mu     sync.Mutex
	rows   []row           // acknowledged or not
	spans  []pipeline.Span // of the batches, of all lanes
	active map[pipeline.LaneID]int
	lanes  int   // handed out so far
	ended  error // of a run that has
	wake   chan struct{}
}

func newCollector(t *testing.T) *collector {
	return &collector{t: t, maxRows: 1000, maxBytes: 1 << 20, active: make(map[pipeline.LaneID]int), wake: make(chan struct{}, 1)}
}

func (c *collector) each(ctx context.Context, l pipeline.Lane) error {
	id := l.ID()
	c.mu.Lock()
	c.lanes++
	c.active[id]++
	if c.active[id] > 1 {
		c.t.Errorf("%s is handed out twice at the same time", id)
	}
	c.mu.Unlock()
	c.signal()
	defer func() {
		c.mu.Lock()
		c.active[id]--
		c.mu.Unlock()
		c.signal()
	}()
	next := pipeline.Unknown
	if c.start != nil {
		next = c.start(id)
	}
	if c.marks != nil {
		m, _ := c.Position(ctx, id)
		next = m.Next
	}
	if err := l.Start(ctx, next); err != nil {
		return err
	}
	return c.read(ctx, l)
}

// Position implements [pipeline.Positions].
func (c *collector) Position(_ context.Context, id pipeline.LaneID) (pipeline.Mark, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.marks[id]; ok {
		return m, nil
	}
	return pipeline.Mark{Next: pipeline.Unknown}, nil
}

func (c *collector) read(ctx context.Context, l pipeline.Lane) error {
	b := &pipeline.Batch{MaxRows: c.maxRows, MaxBytes: c.maxBytes}
	position := int64(-1)
	for {
		err := l.Next(ctx, b)
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
		if position >= 0 && b.First != position && (!c.gaps || b.First < position) {
			c.t.Errorf("%s: a batch from %d after one to %d", l.ID(), b.First, position)
		}
		if b.Next <= b.First {
			c.t.Errorf("%s: a batch from %d to %d", l.ID(), b.First, b.Next)
		}
		position = b.Next
		c.add(b)
		if c.hold != nil {
			c.hold(ctx, l.ID())
		}
		if err := l.Acknowledge(ctx, position); err != nil && ctx.Err() == nil {
			return fmt.Errorf("acknowledging: %w", err)
		}
	}
}

func (c *collector) add(b *pipeline.Batch) {
	c.mu.Lock()
	c.spans = append(c.spans, pipeline.Span{First: b.First, Next: b.Next, Of: b.Of})
	if c.marks != nil {
		c.marks[b.Lane] = pipeline.Mark{Next: b.Next, Of: b.Of}
	}
	faults := b.Faults
	header := 0
	for i := range b.Len() {
		r := row{lane: b.Lane, offset: b.Offsets[i], time: b.Timestamps[i]}
		r.key = show(b.Keys.At(i), b.Keys.Valid[i])
		r.value = show(b.Raw(i))
		for ; header < int(b.Headers.Ends[i]); header++ {
			r.headers += string(b.Headers.Keys.At(header)) + "=" + show(b.Headers.Values.At(header), b.Headers.Values.Valid[header]) + ";"
		}
		if len(faults) > 0 && int(faults[0].Row) == i {
			r.fault = faults[0].Code.String()
			faults = faults[1:]
		}
		if r.offset < b.First || r.offset >= b.Next {
			c.t.Errorf("%s: offset %d in a batch from %d to %d", b.Lane, r.offset, b.First, b.Next)
		}
		c.rows = append(c.rows, r)
	}
	c.mu.Unlock()
	c.signal()
}

func (c *collector) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// await waits until ok is true, which is called with the collector locked.
func (c *collector) await(what string, ok func() bool) {
	c.t.Helper()
	limit := time.After(waitLimit)
	for {
		c.mu.Lock()
		done := ok()
		n, ended := len(c.rows), c.ended
		c.mu.Unlock()
		if done {
			return
		}
		if ended != nil {
			c.t.Fatalf("%s: the run has ended after %d rows: %v", what, n, ended)
		}
		select {
		case <-c.wake:
		case <-time.After(50 * time.Millisecond):
		case <-limit:
			c.t.Fatalf("%s: not after %v; %d rows so far", what, waitLimit, n)
		}
	}
}

func (c *collector) awaitRows(n int) {
	c.t.Helper()
	c.await(fmt.Sprint(n, " rows"), func() bool { return len(c.rows) >= n })
}

// values returns the distinct values of all rows, sorted, and how often rows repeat others.
func (c *collector) values() (distinct []string, repeated int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.rows {
		distinct = append(distinct, r.value)
	}
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	return distinct, len(c.rows) - len(distinct)
}

// distinct counts the distinct values of all rows. The collector is locked.
func (c *collector) distinct() int {
	seen := make(map[string]struct{}, len(c.rows))
	for _, r := range c.rows {
		seen[r.value] = struct{}{}
	}
	return len(seen)
}

// sorted returns the rows by lane and offset.
func (c *collector) sorted() []row {
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := slices.Clone(c.rows)
	slices.SortStableFunc(rows, func(a, b row) int {
		if n := strings.Compare(a.lane.String(), b.lane.String()); n != 0 {
			return n
		}
		return int(a.offset - b.offset)
	})
	return rows
}

// running is a Run on its way.
type running struct {
	t      *testing.T
	source *Source
	drain  chan struct{}
	cancel context.CancelFunc
	done   chan error
	ended  bool
}

// startRun runs a source until the test is over at the latest.
func startRun(t *testing.T, opts Options, c *collector) *running {
	t.Helper()
	return startSource(t, newSource(t, opts), c)
}

func startSource(t *testing.T, source *Source, c *collector) *running {
	t.Helper()
	if c.marks != nil {
		source.Resume(c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{t: t, source: source, drain: make(chan struct{}), cancel: cancel, done: make(chan error, 1)}
	go func() {
		err := source.Run(ctx, r.drain, c.each)
		c.mu.Lock()
		c.ended = cmp.Or(c.ended, err)
		c.mu.Unlock()
		r.done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if !r.ended {
			<-r.done
		}
	})
	return r
}

func newSource(t testing.TB, opts Options) *Source {
	t.Helper()
	s, err := New(opts, codec.NewLines(codec.LinesOptions{}), testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stop drains the run, which has to end well.
func (r *running) stop() {
	r.t.Helper()
	close(r.drain)
	if err := r.wait(); err != nil {
		r.t.Fatalf("a drained run ended with: %v", err)
	}
}

func (r *running) wait() error {
	r.t.Helper()
	select {
	case err := <-r.done:
		r.ended = true
		return err
	case <-time.After(waitLimit):
		r.t.Fatal("the run does not end")
		return nil
	}
}

// testLog shows the source's log in a failed test.
func testLog(t testing.TB) *slog.Logger {
	w := new(testproc.Log)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the source:\n%s", w)
		}
	})
	level := slog.LevelInfo
	if os.Getenv("URLMILL_TEST_DEBUG") != "" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

// quick returns options that do not make a test wait. A member that a busy machine holds up is not given up for that.
func quick(addrs []string, topics ...string) Options {
	return Options{
		Brokers: addrs, Topics: topics, Group: "g",
		SessionTimeout: time.Minute, HeartbeatInterval: 100 * time.Millisecond, RebalanceTimeout: time.Minute,
		MaxWait: 50 * time.Millisecond, TopicTimeout: 15 * time.Second,
	}
}

// numbered returns records with the values from..to-1, dealt out to the partitions in turn.
func numbered(topic string, partitions, from, to int) []*kgo.Record {
	var records []*kgo.Record
	for i := from; i < to; i++ {
		records = append(records, &kgo.Record{Topic: topic, Partition: int32(i % partitions), Value: fmt.Appendf(nil, "%s-%07d", topic, i)})
	}
	return records
}

// expectAll checks that every value of numbered is there, and returns how many rows repeat others.
func (c *collector) expectAll(topic string, n int) (repeated int) {
	c.t.Helper()
	got, repeated := c.values()
	missing := 0
	for i := range n {
		if _, ok := slices.BinarySearch(got, fmt.Sprintf("%s-%07d", topic, i)); !ok {
			if missing++; missing <= 5 {
				c.t.Errorf("record %d is lost", i)
			}
		}
	}
	if missing > 0 || len(got) != n {
		c.t.Errorf("%d of %d records are lost, %d values in all", missing, n, len(got))
	}
	return repeated
}
