package shard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// merge makes one run of several. Its goroutine sets out and err, and then closes done.
type merge struct {
	in   []*run
	stop context.CancelFunc
	done chan struct{}
	out  *run
	err  error
}

// sizeOf returns the class of a run by its keys: those of a class differ by less than eight times.
func sizeOf(r *run) int { return bits.Len64(uint64(r.Keys)>>12) / 3 }

// begin begins a merge in the background, where there are enough runs of a size and none is going on.
func (l *Lane) begin() {
	if l.merge != nil {
		return
	}
	in := l.enough()
	if in == nil {
		return
	}
	ctx, stop := context.WithCancel(l.states.ctx)
	m := &merge{in: in, stop: stop, done: make(chan struct{})}
	l.merge = m
	next := l.at.Next
	go func() {
		defer close(m.done)
		m.out, m.err = l.mergeRuns(ctx, in, next)
	}()
	if l.states.opts.Wait {
		<-m.done
	}
}

// enough returns the smallest runs that are worth a merge.
func (l *Lane) enough() []*run {
	for end := len(l.runs); end > 0; {
		first := end - 1
		for first > 0 && sizeOf(l.runs[first-1]) == sizeOf(l.runs[end-1]) {
			first--
		}
		if end-first >= l.states.opts.Many {
			return append([]*run(nil), l.runs[first:end]...)
		}
		end = first
	}
	return nil
}

// mergeRuns writes the merged run into the output, and a copy beside it. next is the position after which the lane is.
func (l *Lane) mergeRuns(ctx context.Context, in []*run, next int64) (*run, error) {
	s := l.states
	select {
	case s.merges <- struct{}{}:
		defer func() { <-s.merges }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := s.opts.Step("merge"); err != nil {
		return nil, err
	}
	file, err := l.files.Begin(ctx, next)
	if err != nil {
		return nil, err
	}
	var out io.Writer = file
	var copied *copying
	if s.copies.dir != "" {
		if copied, err = s.copies.begin(); err != nil {
			return nil, errors.Join(err, file.Discard())
		}
		defer copied.discard() // nothing to do once it has its name
		out = io.MultiWriter(file, copied)
	}
	all := make([]*runs.Run, len(in))
	for i, r := range in {
		all[i] = r.Run
	}
	info, err := runs.Merge(ctx, out, all, nil)
	if err != nil {
		return nil, errors.Join(err, file.Discard())
	}
	kept, err := file.Finish(ctx)
	if err != nil {
		return nil, err
	}
	listed := Listed{Name: kept.Name, Bytes: kept.Bytes, Keys: info.Keys, Checksum: kept.Checksum}
	if copied != nil {
		if err := copied.finish(s.copies.path(listed), listed.Checksum); err != nil {
			return nil, err
		}
	}
	if err := s.opts.Step("merged"); err != nil {
		return nil, err
	}
	r, err := s.copies.open(ctx, l.files, listed, false)
	if err == nil {
		err = l.check(in, r)
	}
	return r, err
}

// check compares the number of keys. No key is in two runs of a lane, unless rows were committed without their keys.
func (l *Lane) check(in []*run, out *run) error {
	keys := int64(0)
	for _, r := range in {
		keys += r.Keys
	}
	if out.Keys != keys {
		return fmt.Errorf("%d keys became %d when they were merged", keys, out.Keys)
	}
	return nil
}

// merged returns the merge that is done, nil if there is none. One that has failed is tried again later.
func (l *Lane) merged() *merge {
	if l.merge == nil {
		return nil
	}
	select {
	case <-l.merge.done:
	default:
		return nil
	}
	if l.merge.err != nil {
		l.states.opts.Log.Warn("cannot merge files of keys; trying again later", "lane", l.name, "error", l.merge.err)
		l.merge.stop()
		l.merge = nil
		return nil
	}
	return l.merge
}

// stopMerge ends the merge that is going on. What it has made is in no list, and is removed by the next process that has the lane.
func (l *Lane) stopMerge() {
	m := l.merge
	if m == nil {
		return
	}
	m.stop()
	<-m.done
	if m.out != nil {
		_ = m.out.close(true)
	}
	l.merge = nil
}
