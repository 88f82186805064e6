package main

import (
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/sinks/store/s3"
)

// shardSteps are where a member is killed whose partitions have states of their own, by the time that it gets there.
var shardSteps = []string{"stage,3", "staged,2", "inner commit,4", "record,2", "recorded,3", "merge,1", "merged,1", "staged,9", "merged,2", "recorded,1"}

// shardedDuplicates has three members drop the duplicates of a topic whose pages stay in their partitions, with the state of each
// partition in the output. Every page has to be there once.
func shardedDuplicates(r *run) {
	out := filepath.Join(r.dir, "out")
	r.shardedInto("sharded-folder", want{out: out}, "", shardSteps)
	g := s3test.Start(r)
	g.Setenv(r)
	w := want{
		out: "s3://" + g.Bucket + "/pages", open: s3.Opener(s3.Options{Endpoint: g.Endpoint, Region: g.Region}), dir: filepath.Join(g.Dir(), "pages"),
		environ: []string{"AWS_ENDPOINT_URL_S3=" + g.Endpoint},
	}
	sink := fmt.Sprintf("  s3: {region: %s, endpoint: %q}", g.Region, g.Endpoint)
	r.shardedInto("sharded-bucket", w, sink, nil) // the build that is killed at a step knows no buckets
}

// shardedInto does so with one output. sink is another line of the sink's section; with one, members have folders for copies.
func (r *run) shardedInto(name string, w want, sink string, steps []string) {
	lasts, rows := pick(r, 120, 25), pick(r, 3_000_000, 120_000)
	f := r.newFeed(&facts.Topic{Name: name, Partitions: 5, Pages: true, Own: true})
	w.feed = f
	config := func(member int) string {
		path := ""
		if sink != "" {
			path = fmt.Sprintf(", path: %q", filepath.Join(r.dir, fmt.Sprint(name, "-", member)))
		}
		return r.config(job{feed: f, group: name, out: w.out, sink: sink, dedupe: "{shard: partition, mode: drop, memory: 32MiB" + path + "}"})
	}
	f.begin(rows / lasts)
	var members [3]*mill
	faulty := [3]bool{}
	killed := 0
	for deadline := time.Now().Add(time.Duration(lasts) * time.Second); time.Now().Before(deadline); {
		i := r.rand.IntN(len(members))
		m := &members[i]
		switch {
		case *m == nil && steps != nil && r.rand.IntN(2) == 0:
			*m, faulty[i] = r.startAs(r.env.faulty, config(i), "URLMILL_FAULT=at,"+steps[killed%len(steps)]), true
			killed++
		case *m == nil:
			*m, faulty[i] = r.start(config(i)), false
			r.fault("member joins")
		case (*m).Ended() && faulty[i] && (*m).endedBy(syscall.SIGKILL):
			*m = nil
			r.fault("member is killed at a step of a commit")
		case (*m).Ended():
			r.Fatalf("a member has ended: %v\n%s", (*m).Err(), (*m).text())
		case r.rand.IntN(3) == 0:
			(*m).Signal(syscall.SIGSTOP)
			time.Sleep(2500 * time.Millisecond) // twice the session's timeout
			(*m).Signal(syscall.SIGCONT)
			r.fault("SIGSTOP past the session timeout")
		case faulty[i] || r.rand.IntN(2) == 0: // one that is to die at a step may do so while it stops
			(*m).Kill()
			*m = nil
			r.fault("member is killed")
		default:
			r.stop(*m)
			*m = nil
			r.fault("member leaves")
		}
		time.Sleep(r.randomly(1500 * time.Millisecond))
	}
	for i, m := range members {
		switch {
		case m == nil:
		case faulty[i]:
			m.Kill()
		default:
			r.stop(m)
		}
	}
	f.end(int64(rows))
	r.finish(r.start(config(0)), f, w)
}
