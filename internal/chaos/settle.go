package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/store"
)

// want is what has to be in an output in the end.
type want struct {
	topic string
	out   string // as configured
	// dir has the files, when out is not a directory.
	dir string
	// environ is what verify needs beside.
	environ []string
	open    store.Opener // default [store.Open]
	// counts are the records of each partition.
	counts []int64
	// anywhere allows for records of a partition in another.
	anywhere bool
	// excused tells of records that need not be there, because the configuration leaves them out.
	excused func(p int, n int64) bool
	// excusedRows is how many of those are missing; -1: any number.
	excusedRows int64
}

// heads returns the positions up to which the partitions are committed, 0 for those where nothing is.
func (r *run) heads(w want) []int64 {
	r.Helper()
	open := w.open
	if open == nil {
		open = store.Open
	}
	s, err := open(w.out, slog.New(slog.DiscardHandler))
	r.must(err)
	heads := make([]int64, len(w.counts))
	for p := range heads {
		head, err := commit.Head(context.Background(), s, fmt.Sprintf("%s/%d", w.topic, p))
		r.must(err)
		heads[p] = max(head, 0)
	}
	return heads
}

func sum(all []int64) (n int64) {
	for _, v := range all {
		n += v
	}
	return n
}

// ends returns the offsets up to which the partitions of a topic can be read.
func (r *run) ends(client *kgo.Client, topic string, partitions int) []int64 {
	r.Helper()
	req := kmsg.NewPtrListOffsetsRequest()
	req.IsolationLevel = 1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	for p := range partitions {
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp = int32(p), -1
		t.Partitions = append(t.Partitions, rp)
	}
	req.Topics = append(req.Topics, t)
	ends := make([]int64, partitions)
	r.await("the ends of topic "+topic, func() bool {
		for _, shard := range client.RequestSharded(context.Background(), req) {
			if shard.Err != nil {
				return false
			}
			for _, t := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
				for _, p := range t.Partitions {
					if p.ErrorCode != 0 {
						return false // it has no leader for the moment
					}
					ends[p.Partition] = p.Offset
				}
			}
		}
		return true
	})
	return ends
}

// reached tells whether everything up to the given offsets is committed.
func (r *run) reached(w want, ends []int64) bool {
	for p, head := range r.heads(w) {
		if head < ends[p] {
			return false
		}
	}
	return true
}

// finish waits until a process has committed all that there is, stops it, and checks the output.
func (r *run) finish(m *mill, f *feed, w want) {
	r.Helper()
	w.counts = slices.Clone(f.counts)
	ends := r.ends(f.client, f.topic, len(f.counts))
	for !r.reached(w, ends) { // which may take its time, as long as it goes on
		before := sum(r.heads(w))
		r.awaitWith(m, "more to be committed", func() bool { return sum(r.heads(w)) > before || r.reached(w, ends) })
	}
	// What a process before it has committed and not published, it publishes when it gets the partition.
	r.awaitWith(m, "everything to be published", func() bool {
		report, err := r.report(w, "--shallow")
		r.must(err)
		return !slices.ContainsFunc(report.Problems, func(p commit.Problem) bool { return p.Kind == verify.UnfinishedPublish })
	})
	r.stop(m)
	r.check(w)
}

// check counts the rows of an output, and verifies it.
func (r *run) check(w want) *verify.Report {
	r.Helper()
	report := r.verify(w)
	if w.dir == "" {
		w.dir = w.out
	}
	c := newChecker(w.counts)
	c.anywhere = w.anywhere
	r.must(c.readAll(w.dir))
	var lost, skipped int64
	c.missing(func(p int, n int64) {
		if w.excused != nil && w.excused(p, n) {
			skipped++
			return
		}
		if lost++; lost <= 5 {
			r.Errorf("record %d of partition %d is lost", n, p)
		}
	})
	if w.excusedRows >= 0 && skipped != w.excusedRows {
		r.Errorf("%d rows are left out, and %d were to be", skipped, w.excusedRows)
	}
	if c.twice > 0 {
		r.Errorf("%d rows are there twice", c.twice)
	}
	for _, row := range c.phantom {
		r.Errorf("nobody has produced %s", row)
	}
	if c.rows != report.Rows {
		r.Errorf("there are %d rows, and the commit records tell of %d", c.rows, report.Rows)
	}
	r.Logf("%d rows in %d files of %d commits, %d lost, %d twice, %d left out", c.rows, c.files, report.Commits, lost, c.twice, skipped)
	r.out.Rows += sum(w.counts) - skipped
	r.out.Lost += lost
	r.out.Duplicated += c.twice
	r.out.Skipped += skipped
	r.env.noteOutput(w.dir, c.rows)
	return report
}

// verify runs "urlmill verify", which has to find nothing.
func (r *run) verify(w want) *verify.Report {
	r.Helper()
	report, err := r.report(w)
	r.must(err)
	for i, p := range report.Problems {
		if i < 10 {
			r.Errorf("verify: %+v", p)
		}
	}
	return report
}

// repair runs "urlmill verify --repair" after a process has died, which leaves nothing to be found. An output that has not
// begun is none yet.
func (r *run) repair(w want) {
	r.Helper()
	if sum(r.heads(w)) == 0 {
		return
	}
	report, err := r.report(w, "--shallow", "--repair")
	r.must(err)
	for _, p := range report.Problems {
		r.Errorf("after repairing: %+v", p)
	}
}

// report runs "urlmill verify" and returns what it finds.
func (r *run) report(w want, flags ...string) (*verify.Report, error) {
	cmd := exec.Command(r.env.binary, append([]string{"verify", w.out, "--json"}, flags...)...)
	cmd.Env = append(cmd.Environ(), w.environ...)
	text, err := cmd.Output()
	const notVerified = 5
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != notVerified {
		return nil, fmt.Errorf("urlmill verify: %w\n%s", err, exit.Stderr)
	}
	report := new(verify.Report)
	if jsonErr := json.Unmarshal(text, report); jsonErr != nil {
		return nil, fmt.Errorf("urlmill verify says %q: %w", text, errors.Join(jsonErr, err))
	}
	if report.OK != (err == nil) {
		return nil, fmt.Errorf("the exit code of urlmill verify is not what it says: %s", text)
	}
	return report, nil
}
