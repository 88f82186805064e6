package kafka

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/pipeline"
)

// TestPartitionAddedWhileDown adds a partition while nobody reads a topic that is known to the group, or to the sink alone.
// What is in it is as new as what comes into the others, and latest does not leave it out.
func TestPartitionAddedWhileDown(t *testing.T) {
	noLeaks(t)
	for name, test := range map[string]struct {
		group bool
		sink  map[pipeline.LaneID]pipeline.Mark
	}{
		"group": {group: true},
		"sink":  {sink: map[pipeline.LaneID]pipeline.Mark{{Stream: "t", Partition: 1}: {Next: 10}}},
	} {
		t.Run(name, func(t *testing.T) {
			k := kafkatest.Fake(t, kfake.SeedTopics(2, "t"))
			client := kafkatest.Client(t, k.ListenAddrs())
			kafkatest.Produce(t, client, numbered("t", 2, 0, 20))
			o := quick(k.ListenAddrs(), "t")
			o.Start = StartLatest
			c := newCollector(t)
			if test.group {
				run := startRun(t, o, c)
				c.await("lanes that have begun", func() bool { return begun(run.source) == 2 })
				run.stop()
			}
			kafkatest.AddPartitions(t, client, "t", 3)
			kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", 3, 20, 50))
			c.marks = test.sink
			run := startRun(t, o, c)
			want := map[int32]int64{0: 10, 1: 10, 2: 0}
			if test.sink != nil {
				want[0] = 0 // nobody knows it: it may be the one that was added
			}
			c.await("the end", func() bool { return begun(run.source) == 3 && len(c.rows) >= int(30+10-want[0]) })
			run.stop()
			for p, first := range want {
				rows := slices.DeleteFunc(c.sorted(), func(r row) bool { return r.lane.Partition != p })
				if len(rows) == 0 || rows[0].offset != first {
					t.Errorf("partition %d does not begin at %d: %d rows", p, first, len(rows))
				}
			}
		})
	}
}

// begun returns how many partitions of a source are being read.
func begun(s *Source) int {
	n := 0
	for _, l := range s.Lags() {
		if l.Position >= 0 {
			n++
		}
	}
	return n
}

// TestFirstStart has two members start to read a topic with latest. Whichever comes first, where the partitions begin is
// committed for all of them at once, and no lane begins before that.
func TestFirstStart(t *testing.T) {
	noLeaks(t)
	const partitions = 4
	k := kafkatest.Fake(t, kfake.SeedTopics(partitions, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", partitions, 0, 40))
	o := quick(k.ListenAddrs(), "t")
	o.Start = StartLatest
	var (
		mu   sync.Mutex
		hung int
		runs [2]*running
	)
	c := newCollector(t)
	k.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		if n := len(req.(*kmsg.OffsetCommitRequest).Topics[0].Partitions); hung == 0 && n != partitions {
			t.Errorf("the first commit has %d partitions", n)
		}
		hung++
		return nil, context.Canceled, hung <= 3 // the others have to wait for it
	})
	for i := range runs {
		runs[i] = startRun(t, o, c)
	}
	c.await("lanes that have begun", func() bool { return begun(runs[0].source)+begun(runs[1].source) == partitions })
	kafkatest.Produce(t, client, numbered("t", partitions, 40, 80))
	c.awaitRows(40)
	for _, r := range runs {
		r.stop()
	}
	for _, r := range c.sorted() {
		if r.offset < 10 {
			t.Errorf("partition %d, offset %d was read, and was there before the start", r.lane.Partition, r.offset)
		}
	}
}
