package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

const (
	// objectLanes is how many lanes the objects of a bucket are divided into, by the hashes of their keys. It is a part of what is
	// written down, and is the same for ever: with another number objects would be in other lanes, and be new to them.
	objectLanes = 16
	// cheapRequests is how many requests a look at everything may take to be made each time.
	cheapRequests = 10
	// mostReported bounds the errors of single objects that are kept for the end.
	mostReported = 100
	// checkTimeout bounds the look at a bucket before the start.
	checkTimeout = 5 * time.Minute
	// objectFormat is the format of a [ReadError] about an object that the store does not give.
	objectFormat = "object"
)

// ObjectSource reads the objects of a bucket. docs/design/objects.md has the reasons.
type ObjectSource struct {
	o          Options
	files      Source // for the lanes of single objects
	codec      codec.Factory
	log        *slog.Logger
	store      objstore.Store
	trouble    objstore.Trouble
	root       string // scheme and bucket
	places     []place
	conditions []condition
	history    pipeline.Historian // nil: every object is read each time
	noFuel     error              // why positions cannot be gone on with
	wait       func(ctx context.Context, failed int) error
	turn       int // turnObjects; tests have others

	claims pipeline.Claims // of the output, nil where there are none

	queue   objstore.Queue          // with notifications, nil for none
	notices atomic.Pointer[notices] // of queue, since Run
	follow  bool                    // new objects are waited for
	hold    time.Duration           // holdNotices; tests have others

	lanes    [objectLanes]atomic.Pointer[objectLane] // that this process reads now
	begun    chan struct{}                           // has one when lanes were begun since the lister has looked
	permits  chan struct{}
	requests atomic.Int64 // for listings
	listed   atomic.Int64 // bytes of new objects
	complete atomic.Bool  // everything was listed

	mu       sync.Mutex
	problems []error
	others   int // problems that are not kept
}

// newObjects returns the source of addresses in a bucket.
func newObjects(o Options, f codec.Factory, log *slog.Logger) (*ObjectSource, error) {
	s := &ObjectSource{o: o, codec: f, log: log, wait: pause, turn: turnObjects, hold: holdNotices, permits: make(chan struct{}, o.Parallel), begun: make(chan struct{}, 1)}
	s.files = Source{o: o, codec: f, log: log}
	var kind objstore.Kind
	var name string
	var p pipeline.Problems
	for i, path := range o.Paths {
		var keys string
		kind, name, keys, _ = o.cut(path)
		s.root = kind.Scheme + name
		found, err := places(path, keys)
		if err != nil {
			p.Add(pathKey(i), "%s: %w", path, err)
		}
		s.places = append(s.places, found...)
	}
	for _, text := range o.Partitions {
		c, _ := parseCondition(text) // it has been checked
		s.conditions = append(s.conditions, c)
	}
	for i := range s.places {
		s.places[i].conditions = s.conditions
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	var err error
	if kind.Plain != "" {
		name = s.root
	}
	if s.store, s.trouble, err = o.buckets[kind.Name].Open(name, log); err != nil {
		return nil, err
	}
	s.follow = o.Poll > 0
	if n, ok := o.buckets[kind.Name].(objstore.Notified); ok && o.queue() != "" {
		if s.queue, err = n.OpenQueue(name, log); err != nil {
			return nil, err
		}
		s.follow = true
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	if o.sample { // a trial takes nothing from the queue, and does not wait for what it says
		s.queue, s.follow = nil, o.Poll > 0
	}
	return s, nil
}

// address returns where an object is.
func (s *ObjectSource) address(key string) string { return s.root + "/" + key }

func (s *ObjectSource) laneID(slot int) pipeline.LaneID {
	return pipeline.LaneID{Stream: s.root, Session: fmt.Sprintf("objects%dof%d", slot+1, objectLanes)}
}

// Count implements [pipeline.Counter]. There is no total before everything was listed, and none while new objects are waited for.
func (s *ObjectSource) Count(c *pipeline.Counts) {
	c.Progress = &pipeline.Progress{Done: s.files.read.Load()}
	if s.complete.Load() {
		c.Progress.Total = s.listed.Load()
		c.Progress.Done = min(c.Progress.Done, c.Progress.Total)
	}
	if s.trouble != nil {
		since, err := s.trouble.Get()
		if at, failed := s.notices.Load().trouble(); err == nil {
			since, err = at, failed
		}
		c.Input = &pipeline.InputCounts{Since: since, Err: err, Retries: s.trouble.Retries()}
		s.notices.Load().count(c.Input)
	}
}

// Resume implements [pipeline.Resumer].
func (s *ObjectSource) Resume(p pipeline.Positions) {
	h, ok := p.(pipeline.Historian)
	if !ok {
		s.noFuel = errors.New("objects are known by all commits of an output, and this sink keeps the last position alone: " +
			"deliver them into files (parquet, ndjson or arrowipc), or copy the objects to a disk and read them there")
	}
	s.history = h
	if c, ok := p.(pipeline.Claimer); ok && s.o.Shard == Auto {
		s.claims = c.Claims(s.root)
	}
}

// errUnclaimed is the error of an output that cannot have the claims of several processes.
var errUnclaimed = errors.New("source.file.shard: auto needs an output that keeps its commits, into which processes can write what they read: " +
	"files (parquet, ndjson or arrowipc) with delivery: exactly_once; deliver into these, or give each process its own share, such as shard: 1/4")

// running is one run of an [ObjectSource].
type running struct {
	*ObjectSource
	ctx   context.Context
	drain <-chan struct{}
	each  func(context.Context, pipeline.Lane) error
	group sync.WaitGroup // of lanes, and of what shares them
	fail  func(error)    // ends the run with the first error
}

// Run implements [pipeline.Source]. It lists the objects, and hands out a lane for each share of them. An object that cannot be
// read to its end does not stop the others; its error is returned at the end, joined with those of other such objects.
func (s *ObjectSource) Run(ctx context.Context, drain <-chan struct{}, each func(context.Context, pipeline.Lane) error) error {
	switch {
	case s.noFuel != nil:
		return s.noFuel
	case s.o.Shard == Auto && s.claims == nil:
		return errUnclaimed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var once sync.Once
	var fatal error
	r := &running{ObjectSource: s, ctx: ctx, drain: drain, each: each, fail: func(err error) {
		once.Do(func() { fatal = err })
		cancel(err)
	}}
	over := r.start()
	ended := r.listen()
	if err := r.list(over); err != nil && ctx.Err() == nil {
		r.fail(err)
	}
	r.group.Wait()
	ended()
	switch err := context.Cause(ctx); {
	case fatal != nil:
		return fatal
	case err != nil:
		return err
	}
	return s.reported()
}

// listen begins to read the queue, if there is one. The function that it returns is to be called when all lanes have ended.
func (r *running) listen() (ended func()) {
	if r.queue == nil {
		return func() {}
	}
	n := newNotices(r)
	r.notices.Store(n)
	r.group.Go(func() { n.run(r.ctx) })
	stop := make(chan struct{})
	var keeping sync.WaitGroup
	keeping.Go(func() { n.keep(r.ctx, stop) })
	return func() { close(stop); keeping.Wait() }
}

// start begins the lanes of this process, or to share them with others. It returns a channel that is closed when there is nothing to
// list but what the lanes that were begun have not been handed yet.
func (r *running) start() (over <-chan struct{}) {
	end := make(chan struct{})
	if r.claims != nil {
		r.group.Go(func() { newSharing(r).run(end) })
		return end
	}
	for slot := range objectLanes {
		if r.o.shard.has(slot) {
			r.begin(slot, func(bool) {})
		}
	}
	if !r.follow {
		close(end)
	}
	return end
}

// begin hands out a lane, and calls ended in the end, with whether the lane was read to its end.
func (r *running) begin(slot int, ended func(through bool)) *objectLane {
	l := newObjectLane(r.ctx, r.ObjectSource, slot)
	r.lanes[slot].Store(l)
	select {
	case r.begun <- struct{}{}:
	default:
	}
	var beside sync.WaitGroup
	beside.Go(func() { r.prefetch(l.ctx, l) })
	beside.Go(func() {
		select {
		case <-r.drain:
			l.stop()
		case <-l.ctx.Done():
		}
	})
	r.group.Go(func() {
		through, err := r.run(l)
		l.lose(nil) // what was fetched for it
		beside.Wait()
		l.fetches.Wait()
		l.leave()
		if err != nil {
			r.fail(err)
		}
		r.lanes[slot].Store(nil)
		ended(through)
	})
	return l
}

// run hands out a lane until it ends for another reason than to be committed. It reports whether all was read.
func (r *running) run(l *objectLane) (through bool, err error) {
	defer close(l.gone)
	defer l.once.Do(func() { close(l.started) })
	defer l.release()
	for {
		err := r.each(l.ctx, l)
		stopped := pipeline.Stopped(r.ctx, r.drain) != nil || pipeline.Stopped(l.ctx, l.drain) != nil
		switch {
		case errors.Is(err, pipeline.ErrLaneLost) && r.claims != nil:
			return false, nil // the claims tell whose it is, and whether it is to be begun anew
		case errors.Is(err, pipeline.ErrLaneLost):
			return false, l.lost()
		case err != nil && isOwn(err) && !r.follow:
			r.report(err, r.address(l.object.Key))
			return true, nil
		case err != nil || !l.turn || stopped:
			return err == nil && !stopped, err
		}
	}
}

// unlisted returns the lanes that have not been handed what there is, and the least key that one of them was at. It waits until they
// know what was read before.
func (r *running) unlisted() (lanes []*objectLane, from string) {
	for slot := range r.lanes {
		l := r.lanes[slot].Load()
		if l == nil || l.listed {
			continue
		}
		select {
		case <-l.started:
		case <-r.ctx.Done():
			return nil, ""
		}
		if len(lanes) == 0 || l.from < from {
			from = l.from
		}
		lanes = append(lanes, l)
	}
	return lanes, from
}

// list hands the objects to their lanes, also to those that begin later, and looks for new ones if there are to be any, until over or
// drain is closed.
func (r *running) list(over <-chan struct{}) error {
	var whole time.Time // of the last look at everything
	var cost int64      // its requests
	for look := false; ; {
		lanes, from := r.unlisted()
		relist := r.o.Relist
		if _, err := r.notices.Load().trouble(); err != nil {
			relist = min(relist, DefaultRelist)
		}
		due := time.Since(whole) >= relist
		all := len(lanes) > 0 || cost <= cheapRequests || due
		look = look && (r.o.Poll > 0 || due)
		if len(lanes) > 0 || look {
			began, before := time.Now(), r.requests.Load()
			parts, err := r.parts(from, all)
			if err == nil {
				err = r.sweep(parts)
			}
			if err != nil {
				return ignoreStop(err)
			}
			if all {
				whole, cost = began, r.requests.Load()-before
			}
		}
		for _, l := range lanes {
			if l.listed = true; !r.follow {
				close(l.queue)
			}
		}
		r.complete.Store(!r.follow && r.claims == nil)
		var poll <-chan time.Time
		switch {
		case r.o.Poll > 0:
			poll = time.After(r.o.Poll)
		case r.queue != nil:
			poll = time.After(min(r.o.Relist, DefaultRelist))
		}
		select {
		case <-poll:
			look = true
		case <-r.begun:
			look = false
		case <-over:
			return nil
		case <-r.drain:
			return nil
		case <-r.ctx.Done():
			return nil
		}
	}
}

func ignoreStop(err error) error {
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// sweep hands the new objects of stretches to their lanes. Several stretches are listed side by side.
func (r *running) sweep(parts []stretch) error {
	group, ctx := errgroup.WithContext(r.ctx)
	group.SetLimit(atOnceLists)
	for i, part := range parts {
		walk := func() error { return r.walk(ctx, part, r.offer) }
		if i == 0 && part.after != "" { // what comes behind the last key that was read comes first
			if err := walk(); err != nil {
				return err
			}
			continue
		}
		group.Go(walk)
	}
	return group.Wait()
}

// offer hands an object to its lane, if it is new.
func (r *running) offer(o objstore.Object) error {
	l := r.lanes[xxh3.HashString(o.Key)%objectLanes].Load()
	if l == nil || !l.takes(r.follow) || !l.offer(o) {
		if pipeline.Stopped(r.ctx, r.drain) != nil {
			return errStopped
		}
		return nil
	}
	r.listed.Add(o.Size)
	select {
	case l.queue <- o:
	case <-l.gone: // it has said why
	case <-r.drain:
		return errStopped
	case <-r.ctx.Done():
		return errStopped
	}
	return nil
}

// stat looks at an object anew.
func (s *ObjectSource) stat(ctx context.Context, key string) (o objstore.Object, there bool, err error) {
	o, err = s.store.Stat(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return o, false, nil
	}
	return o, err == nil, err
}

// report keeps the error of a single object for the end.
func (s *ObjectSource) report(err error, address string) {
	s.log.Warn("an object cannot be read to its end; the others are read", "object", address, "error", err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.problems) == mostReported {
		s.others++
		return
	}
	s.problems = append(s.problems, err)
}

// reported returns the errors of single objects.
func (s *ObjectSource) reported() error {
	if s.others > 0 {
		s.problems = append(s.problems, &ReadError{Path: s.root, Format: objectFormat, Err: fmt.Errorf("%d more objects could not be read to their end", s.others)})
	}
	return errors.Join(s.problems...)
}
