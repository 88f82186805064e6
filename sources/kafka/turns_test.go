package kafka

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/pipeline"
)

func TestTurnsBoundFetches(t *testing.T) {
	const lanes, brokers = 300, 2
	turns := newTurns()
	turns.begin(lanes)
	var asking [brokers]atomic.Int32
	var most atomic.Int32
	var all sync.WaitGroup
	for i := range lanes {
		id := pipeline.LaneID{Stream: "t", Partition: int32(i)}
		all.Go(func() {
			for range 5 {
				done, err := turns.take(context.Background(), id)
				if err != nil {
					t.Error(err)
					return
				}
				leader := int32(i % brokers)
				if n := asking[leader].Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond)
				asking[leader].Add(-1)
				done(leader)
			}
		})
	}
	all.Wait()
	// Before its first fetch nobody knows a partition's leader.
	if n := most.Load(); n > 2*maxFetches {
		t.Errorf("%d fetches at the same time from one broker", n)
	}
}

// TestTurnsOfASilentBroker: its lanes hold up no others.
func TestTurnsOfASilentBroker(t *testing.T) {
	turns := newTurns()
	id := func(i int) pipeline.LaneID { return pipeline.LaneID{Stream: "t", Partition: int32(i)} }
	for i := range maxFetches + 2 {
		done, err := turns.take(context.Background(), id(i))
		if err != nil {
			t.Fatal(err)
		}
		done(int32(i / (maxFetches + 1))) // the last one has another leader
	}
	for i := range maxFetches {
		if _, err := turns.take(context.Background(), id(i)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done, err := turns.take(ctx, id(maxFetches+1))
	if err != nil {
		t.Fatal(err)
	}
	done(1)
	cancel()
	if _, err := turns.take(ctx, id(maxFetches)); !errors.Is(err, context.Canceled) {
		t.Errorf("a place too many: %v", err)
	}
}

func TestShares(t *testing.T) {
	turns := newTurns()
	for lanes, want := range map[int]time.Duration{0: 500, 1: 500, 64: 500, 128: 250, 1000: 32, 100_000: 10} {
		turns.begin(lanes)
		if got := turns.wait(500 * time.Millisecond); got != want*time.Millisecond {
			t.Errorf("%d lanes: brokers wait %v, want %v ms", lanes, got, int64(want))
		}
	}
	o := Options{}.withDefaults()
	for lanes, want := range map[int]int{0: 1 << 20, 1: 1 << 20, 128: 1 << 20, 256: 512 << 10, 1000: 134217, 100_000: 16 << 10} {
		if got := o.fetchBytes(lanes); got != want {
			t.Errorf("%d lanes: %d bytes each, want %d", lanes, got, want)
		}
	}
}

// bufferCounter is a fetcher that counts the buffers that it had to make.
type bufferCounter struct{ made atomic.Int32 }

func (f *bufferCounter) fetch(_ context.Context, _ pipeline.LaneID, offset int64, _ int, buf []byte) (fetched, error) {
	if cap(buf) == 0 {
		f.made.Add(1)
		buf = make([]byte, 0, 1<<10)
	}
	buf = append(buf[:0], encodeBatch(offset, 3, []byte("v"))...)
	return fetched{set: buf, buf: buf[:0]}, nil
}

// TestLaneHoldsTwoAnswers keeps what the documentation of Options.FetchMemory counts with.
func TestLaneHoldsTwoAnswers(t *testing.T) {
	noLeaks(t)
	f := new(bufferCounter)
	l := loneLane(t, Options{}, f)
	b := &pipeline.Batch{MaxRows: 2, MaxBytes: 1 << 20}
	for i := 0; i < 300 || i < 1_000_000 && f.made.Load() < 2; i++ { // the lane may be the quicker one for a while
		if err := l.Next(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
	if n := f.made.Load(); n != 2 {
		t.Errorf("%d buffers", n)
	}
}

// TestManyLanes reads more partitions than a broker is asked for at the same time, over a bounded number of
// connections.
func TestManyLanes(t *testing.T) {
	noLeaks(t)
	const partitions, n = 6 * maxFetches, 12 * maxFetches
	k := kafkatest.Fake(t, kfake.SeedTopics(partitions, "t"))
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", partitions, 0, n))
	c := newCollector(t)
	most := 0
	run := startRun(t, quick(k.ListenAddrs(), "t"), c)
	c.await(fmt.Sprint(n, " rows"), func() bool {
		run.source.mu.Lock()
		for l := range run.source.lanes {
			most = max(most, l.g.session.dialer.Open())
			break
		}
		run.source.mu.Unlock()
		return len(c.rows) == n
	})
	run.stop()
	c.expectAll("t", n)
	// The last are the group's and the metadata's.
	if limit := 2*maxFetches + maxFetches + maxCommits + 8; most > limit {
		t.Errorf("%d connections, want at most %d", most, limit)
	}
}
