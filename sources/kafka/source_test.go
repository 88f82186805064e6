package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

func TestReadsTopicsAndPartitions(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.NumBrokers(2), kfake.SeedTopics(3, "a", "b"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, append(numbered("a", 3, 0, 3000), numbered("b", 3, 0, 3000)...))
	c := newCollector(t)
	c.maxRows = 70
	run := startRun(t, quick(k.ListenAddrs(), "a", "b"), c)
	c.awaitRows(6000)
	run.stop()
	if distinct, repeated := c.values(); len(distinct) != 6000 || repeated != 0 {
		t.Errorf("%d values, %d of them twice", len(distinct), repeated)
	}
	byLane := map[pipeline.LaneID]int64{}
	for _, r := range c.rows { // in the order they came
		if r.offset != byLane[r.lane] {
			t.Fatalf("%s: offset %d, want %d", r.lane, r.offset, byLane[r.lane])
		}
		byLane[r.lane]++
	}
	for lane, next := range byLane {
		if got := kafkatest.Committed(t, client, "g", lane.Stream, lane.Partition); got != next {
			t.Errorf("%s: committed %d, want %d", lane, got, next)
		}
	}
}

func TestColumns(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	at := time.UnixMilli(1_700_000_000_123)
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), []*kgo.Record{
		{Topic: "t", Value: []byte("https://a.example/"), Timestamp: at},
		{Topic: "t", Key: []byte{}, Value: []byte{}, Timestamp: at.Add(time.Millisecond)},
		{Topic: "t", Key: []byte("k"), Value: nil, Timestamp: at, Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("v")}, {Key: "", Value: nil}}},
		{Topic: "t", Value: []byte(strings.Repeat("x", 33)), Timestamp: at},
	})
	c := newCollector(t)
	opts := quick(k.ListenAddrs(), "t")
	opts.MaxRecordBytes = 32
	run := startRun(t, opts, c)
	c.awaitRows(4)
	run.stop()
	us, lane := at.UnixMicro(), pipeline.LaneID{Stream: "t"}
	want := []row{
		{lane, 0, us, "-", "https://a.example/", "", ""},
		{lane, 1, us + 1000, "", "", "", ""},
		{lane, 2, us, "k", "-", "h=v;=-;", "record-null"},
		{lane, 3, us, "-", strings.Repeat("x", 32), "", "record-too-large"},
	}
	if diff := cmp.Diff(want, c.sorted(), cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
}

func TestResumesFromCommitted(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(2, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 2, 0, 100))
	c := newCollector(t)
	run := startRun(t, quick(k.ListenAddrs(), "t"), c)
	c.awaitRows(100)
	run.stop()
	kafkatest.Produce(t, client, numbered("t", 2, 100, 200))
	log := new(testproc.Log)
	source, err := New(quick(k.ListenAddrs(), "t"), codec.NewLines(codec.LinesOptions{}), slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	run = startSource(t, source, c)
	c.awaitRows(200)
	run.stop()
	for _, lane := range []string{"t/0", "t/1"} {
		if said := `going on where the group has committed" source=kafka group=g lane=` + lane + " offset=50"; !strings.Contains(log.String(), said) {
			t.Errorf("the log lacks %q:\n%s", said, log.String())
		}
	}
	if repeated := c.expectAll("t", 200); repeated != 0 {
		t.Errorf("%d rows were read twice", repeated)
	}
}

func TestSinkPositionWins(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", 1, 0, 100))
	c := newCollector(t)
	c.start = func(pipeline.LaneID) int64 { return 42 }
	run := startRun(t, quick(k.ListenAddrs(), "t"), c)
	c.awaitRows(58)
	run.stop()
	if first := c.sorted()[0].offset; first != 42 {
		t.Errorf("began at %d, want 42", first)
	}
}

func TestStartPolicies(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	base := time.UnixMilli(1_700_000_000_000)
	for i := range 10 {
		kafkatest.Produce(t, client, []*kgo.Record{{Topic: "t", Value: fmt.Append(nil, i), Timestamp: base.Add(time.Duration(i) * time.Second)}})
	}
	for policy, want := range map[string]int64{
		"":             0,
		StartCommitted: 0,
		StartEarliest:  0,
		StartLatest:    10,
		base.Add(3 * time.Second).Format(time.RFC3339Nano):                        3,
		base.Add(3*time.Second + time.Microsecond).UTC().Format(time.RFC3339Nano): 4,
		base.Add(-time.Hour).Format(time.RFC3339Nano):                             0,
		base.Add(time.Hour).Format(time.RFC3339Nano):                              10,
	} {
		t.Run(policy, func(t *testing.T) {
			opts := quick(k.ListenAddrs(), "t")
			opts.Start, opts.Group = policy, "group-"+policy
			c := newCollector(t)
			run := startRun(t, opts, c)
			c.awaitRows(10 - int(want))
			// Where it began is settled before anything is read: a second run does not decide again.
			deadline := time.Now().Add(waitLimit)
			for kafkatest.Committed(t, client, opts.Group, "t", 0) < want && time.Now().Before(deadline) {
				time.Sleep(10 * time.Millisecond)
			}
			run.stop()
			if want < 10 && c.sorted()[0].offset != want {
				t.Errorf("began at %d, want %d", c.sorted()[0].offset, want)
			}
			if got := kafkatest.Committed(t, client, opts.Group, "t", 0); got != 10 {
				t.Errorf("committed %d, want 10", got)
			}
		})
	}
}

func TestLatestIsDecidedOnce(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 5))
	opts := quick(k.ListenAddrs(), "t")
	opts.Start = StartLatest
	c := newCollector(t)
	run := startRun(t, opts, c)
	c.await("a lane that has begun", begunAt(run.source, 5))
	run.stop()
	kafkatest.Produce(t, client, numbered("t", 1, 5, 10)) // while nobody reads
	run = startRun(t, opts, c)
	c.awaitRows(5)
	run.stop()
	if got := c.sorted()[0].offset; got != 5 {
		t.Errorf("began at %d, want 5", got)
	}
}

// begunAt reports whether a source reads one partition, and that from an offset on.
func begunAt(s *Source, offset int64) func() bool {
	return func() bool {
		lags := s.Lags()
		return len(lags) == 1 && lags[0].Position == offset
	}
}

func TestPartitionsAdded(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	opts := quick(k.ListenAddrs(), "t")
	opts.Start = StartLatest
	c := newCollector(t)
	source := newSource(t, opts)
	source.watch = 100 * time.Millisecond
	run := startSource(t, source, c)
	c.await("a lane that has begun", begunAt(source, 0))
	kafkatest.AddPartitions(t, client, "t", 3)
	kafkatest.Produce(t, client, numbered("t", 3, 0, 300)) // before anybody reads the new ones
	c.awaitRows(300)
	run.stop()
	c.expectAll("t", 300)
}

func TestBatchLimits(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	var records []*kgo.Record
	for i := range 100 {
		records = append(records, &kgo.Record{Topic: "t", Value: fmt.Appendf(nil, "%0100d", i)})
	}
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), records)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	drain := make(chan struct{})
	source := newSource(t, quick(k.ListenAddrs(), "t"))
	err := source.Run(ctx, drain, func(ctx context.Context, l pipeline.Lane) error {
		if err := l.Start(ctx, pipeline.Unknown); err != nil {
			return err
		}
		rows := &pipeline.Batch{MaxRows: 7, MaxBytes: 1 << 20}
		bytes := &pipeline.Batch{MaxRows: 1000, MaxBytes: 450}
		for range 5 {
			if err := l.Next(ctx, rows); err != nil {
				return err
			}
			if rows.Len() != 7 {
				t.Errorf("%d rows, want 7", rows.Len())
			}
			if err := l.Next(ctx, bytes); err != nil {
				return err
			}
			if bytes.Len() != 5 {
				t.Errorf("%d rows of 100 bytes, want 5", bytes.Len())
			}
		}
		close(drain)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLags(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 100))
	c := newCollector(t)
	c.maxRows = 30
	run := startRun(t, quick(k.ListenAddrs(), "t"), c)
	lane := pipeline.LaneID{Stream: "t"}
	caught := Lag{lane, 100, 100, 100, 100}
	c.await("caught up", func() bool { return slices.Equal(run.source.Lags(), []Lag{caught}) })
	if behind := caught.Behind(); behind != 0 {
		t.Errorf("behind by %d", behind)
	}
	run.stop()
	if lags := run.source.Lags(); len(lags) != 0 {
		t.Errorf("lanes after the end: %v", lags)
	}
	if got := (Lag{Position: 3, HighWatermark: 12, LastStable: 10}).Behind(); got != 7 {
		t.Errorf("behind by %d, want 7", got)
	}
	if got := (Lag{Position: 3, LastStable: -1}).Behind(); got != 0 {
		t.Errorf("behind by %d, want 0", got)
	}
}

func TestCancelEndsAtOnce(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(2, "t"))
	asked, release := kafkatest.Hold(t, k, kmsg.Fetch) // no fetch is answered before the run has ended
	c := newCollector(t)
	run := startRun(t, quick(k.ListenAddrs(), "t"), c)
	<-asked
	c.await("two lanes", func() bool { return len(c.active) == 2 && len(run.source.Lags()) == 2 })
	run.cancel()
	err := run.wait()
	release()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

// TestDrainLeavesTheGroup: a member that had not left would keep its partitions for the session timeout.
func TestDrainLeavesTheGroup(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(4, "t"))
	left := kafkatest.Count(k, nil, kmsg.LeaveGroup)
	client := kafkatest.Client(t, k.ListenAddrs())
	opts := quick(k.ListenAddrs(), "t")
	first, second := newCollector(t), newCollector(t)
	run := startRun(t, opts, first)
	first.await("all lanes", func() bool { return len(run.source.Lags()) == 4 })
	run.stop()
	if left.Load() == 0 {
		t.Error("the group was not left")
	}
	kafkatest.Produce(t, client, numbered("t", 4, 0, 100))
	other := startRun(t, opts, second)
	second.awaitRows(100)
	other.stop()
}
