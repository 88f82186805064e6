package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/chaos/check"
	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/store"
)

// want is what has to be in an output in the end.
type want struct {
	feed *feed
	// earlier are the topics that had its name before.
	earlier []*facts.Topic
	out     string // as configured
	// dir has the files, when out is not a directory.
	dir string
	// late has the rows that come late, removed the files that were moved away, if anything has.
	late, removed string
	// environ is what verify needs beside.
	environ []string
	open    store.Opener // default [store.Open]
	// excused tells of records that need not be there, because the configuration leaves them out.
	excused func(p int, n int64) bool
	// excusedRows is how many of those are missing; -1: any number.
	excusedRows int64
	options     check.Options
}

// heads returns the positions up to which the partitions are committed, 0 for those where nothing is. That is what the
// program says of itself: scenarios go by it to choose their moments, and never to tell whether everything is there.
func (r *run) heads(w want) []int64 {
	r.Helper()
	open := w.open
	if open == nil {
		open = store.Open
	}
	s, err := open(w.out, slog.New(slog.DiscardHandler))
	r.must(err)
	heads := make([]int64, w.feed.Partitions)
	for p := range heads {
		head, err := commit.Head(context.Background(), s, fmt.Sprintf("%s/%d", w.feed.Name, p))
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

// reached reports whether everything up to the given offsets is committed.
func (r *run) reached(w want, ends []int64) bool {
	for p, head := range r.heads(w) {
		if head < ends[p] {
			return false
		}
	}
	return true
}

// settle waits until a process has committed all that there is, and stops it. It asks the broker and not the output: how far
// the topic goes, and how far the group has come. A last record in every partition has the process take each one over, and so
// publish what another one before it has committed and not published.
func (r *run) settle(m *mill, f *feed) {
	r.Helper()
	f.produce(1)
	ends := r.ends(f.client, f.Name, f.Partitions)
	behind := func() (n int64) {
		for p, end := range ends {
			n += max(0, end-max(0, kafkatest.Committed(r, f.client, m.group, f.Name, int32(p))))
		}
		return n
	}
	for left := behind(); left > 0; { // which may take its time, as long as it goes on
		r.awaitWith(m, "the group to come further", func() bool {
			now := behind()
			further := now < left
			left = now
			return further || left == 0
		})
	}
	r.stop(m)
}

// finish settles a process, and checks the output.
func (r *run) finish(m *mill, f *feed, w want) {
	r.Helper()
	r.settle(m, f)
	r.check(w)
}

// check reads an output back, and verifies it.
func (r *run) check(w want) *verify.Report {
	r.Helper()
	report := r.verify(w)
	if w.dir == "" {
		w.dir = w.out
	}
	w.options.Columns = columns(w.feed.Topic)
	c := check.New(w.options, append(w.earlier, w.feed.Topic)...)
	began := time.Now()
	for _, dir := range []string{w.dir, w.late, w.removed} {
		if _, err := os.Stat(dir); dir == "" || os.IsNotExist(err) {
			continue // nothing was late, or was moved away
		}
		before := c.Rows
		r.must(c.Read(dir))
		r.noteOutput(dir, c.Rows-before)
	}
	r.out.Checking += time.Since(began)
	skipped := r.compare(c, w)
	if c.Rows != report.Rows {
		r.Errorf("there are %d rows, and the commit records tell of %d", c.Rows, report.Rows)
	}
	for _, t := range append(w.earlier, w.feed.Topic) {
		r.out.Rows += t.Rows()
	}
	r.out.Rows -= skipped
	r.out.Skipped += skipped
	return report
}

// compare says what a checker has found, and returns how many records are left out as they were to be.
func (r *run) compare(c *check.Checker, w want) (skipped int64) {
	r.Helper()
	var lost int64
	c.Missing(func(t *facts.Topic, p int, n int64) {
		if t == w.feed.Topic && w.excused != nil && w.excused(p, n) {
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
	if c.Twice > 0 {
		r.Errorf("%d rows are there twice", c.Twice)
	}
	for _, said := range c.Said {
		r.Errorf("wrong: %s", said)
	}
	r.Logf("%d rows in %d files, %d lost, %d twice, %d wrong, %d left out", c.Rows, c.Files, lost, c.Twice, c.Wrong, skipped)
	r.out.Lost += lost
	r.out.Duplicated += c.Twice
	r.out.Wrong += c.Wrong
	return skipped
}

// verify runs "urlmill verify", which has to find nothing.
func (r *run) verify(w want) *verify.Report {
	r.Helper()
	report, err := r.report(w)
	r.must(err)
	said, moved := 0, r.movedAway(w)
	for _, p := range report.Problems {
		if p.Kind == verify.MissingFile && moved[p.File] {
			continue
		}
		if said++; said <= 10 {
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

// exists reports whether a topic is there.
func (r *run) exists(f *feed) bool {
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = &f.Name
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(context.Background(), f.client)
	return err != nil || resp.Topics[0].ErrorCode != kerr.UnknownTopicOrPartition.Code
}
