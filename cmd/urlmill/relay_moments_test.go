//go:build linux

package main

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// moment is when a process is killed: when it has sent the n-th request of a kind.
type moment struct {
	name string
	kind kmsg.Key
	n    int
	lost bool // the request does nothing; otherwise it does, and the answer is lost
}

var relayMoments = []moment{
	{"rows are acknowledged, others on the way", kmsg.Produce, 2, true},
	{"rows are there, their acknowledgement on the way", kmsg.Produce, 2, false},
	{"rows are acknowledged, their position on the way", kmsg.OffsetCommit, 1, true},
	{"the position is committed", kmsg.OffsetCommit, 1, false},
}

// TestKillAtMoments kills a process that writes to Kafka at the moments in which a position that is committed too early, or
// rows that are not acknowledged, would be seen. An imitated broker knows them.
func TestKillAtMoments(t *testing.T) {
	for _, f := range rowFormats(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel() // most of the time a group waits for members that are dead
			k := kafkatest.Fake(t)
			r := newRelay(t, k.ListenAddrs(), "relay", f.sink("relay"))
			for _, m := range relayMoments {
				if err := r.produce(t.Context(), 500); err != nil {
					t.Fatal(err)
				}
				asked := r.killAt(t, k, m)
				rows, dead := r.follow(t, "relay.rows", f.read), r.follow(t, "relay.dead", f.read)
				early, ahead := 0, 0
				for p, end := range asked {
					for i := range end {
						if rows[p][i]+dead[p][i] == 0 {
							early++
						}
					}
					ahead += int(end - max(0, kafkatest.Committed(t, r.client, r.topic, r.topic, p)))
				}
				if early > 0 || m.lost && (ahead > 0) != (m.kind == kmsg.OffsetCommit) {
					t.Errorf("%s: of %d records the position came before them; it was %d ahead", m.name, early, ahead)
				}
				t.Logf("%s: positions %v, %d ahead", m.name, asked, ahead)
			}
			r.finish(t)
			if twice := r.check(t, "rows", r.follow(t, "relay.rows", f.read), true); twice == 0 {
				t.Error("nothing was written again, although positions were lost")
			}
			r.check(t, "dead letters", r.follow(t, "relay.dead", f.read), false)
		})
	}
}

// killAt kills a process at a moment, and returns the positions that it wanted to commit then, by their partitions.
func (r *relay) killAt(t *testing.T, k *kfake.Cluster, m moment) map[int32]int64 {
	t.Helper()
	started, sent, n := make(chan *running, 1), make(chan map[int32]int64, 1), 0
	k.ControlKey(m.kind.Int16(), func(request kmsg.Request) (kmsg.Response, error, bool) {
		positions, counts := advances(request)
		if counts {
			n++
		}
		if n < m.n {
			return nil, nil, false
		}
		k.DropControl()
		sent <- positions
		(<-started).Kill()
		return nil, errors.New("the connection is gone"), m.lost
	})
	p := startRun(t, r.config)
	started <- p
	if !p.Within(5 * time.Minute) {
		t.Fatalf("%s: it did not come to it:\n%s", m.name, p.log)
	}
	if p.Code() != -1 {
		t.Fatalf("%s: the process ended before: %v\n%s", m.name, p.Err(), p.log)
	}
	asked := <-sent
	if m.kind == kmsg.OffsetCommit && len(asked) == 0 {
		t.Errorf("%s: a commit without positions", m.name)
	}
	return asked
}

// advances returns the positions that a request commits, and whether it counts. A commit does if it comes after records:
// where a partition begins is committed as well, by the first process that lives long enough to know it.
func advances(request kmsg.Request) (positions map[int32]int64, counts bool) {
	commit, ok := request.(*kmsg.OffsetCommitRequest)
	if !ok {
		return nil, true
	}
	positions = map[int32]int64{}
	for _, topic := range commit.Topics {
		for _, p := range topic.Partitions {
			positions[p.Partition] = p.Offset
			counts = counts || p.Offset > 0
		}
	}
	return positions, counts
}
