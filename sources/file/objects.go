package file

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

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
	o       Options
	files   Source // for the lanes of single objects
	codec   codec.Factory
	log     *slog.Logger
	store   objstore.Store
	trouble objstore.Trouble
	root    string // scheme and bucket
	places  []place
	history pipeline.Historian // nil: every object is read each time
	noFuel  error              // why positions cannot be gone on with
	wait    func(ctx context.Context, failed int) error
	turn    int // turnObjects; tests have others

	ctx      context.Context // of Run
	lanes    [objectLanes]*objectLane
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
	s := &ObjectSource{o: o, codec: f, log: log, wait: pause, turn: turnObjects, permits: make(chan struct{}, o.Parallel)}
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
	if err := p.Err(); err != nil {
		return nil, err
	}
	var err error
	if s.store, s.trouble, err = o.buckets[kind.Name].Open(name, log); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	return s, s.check(ctx)
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
		c.Input = &pipeline.InputCounts{Since: since, Err: err, Retries: s.trouble.Retries()}
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
}

// Run implements [pipeline.Source]. It lists the objects, and hands out a lane for each share of them. An object that cannot be
// read to its end does not stop the others; its error is returned at the end, joined with those of other such objects.
func (s *ObjectSource) Run(ctx context.Context, drain <-chan struct{}, each func(context.Context, pipeline.Lane) error) error {
	if s.noFuel != nil {
		return s.noFuel
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.ctx = ctx
	var lanes, ahead sync.WaitGroup
	var once sync.Once
	var fatal error
	fail := func(err error) {
		once.Do(func() { fatal = err })
		cancel(err)
	}
	for slot := range s.lanes {
		if s.o.shard.has(slot) {
			s.lanes[slot] = newObjectLane(s, slot, drain)
		}
	}
	for _, l := range s.own() {
		ahead.Go(func() { s.prefetch(ctx, l) })
		lanes.Go(func() {
			if err := s.run(ctx, l, each); err != nil {
				fail(err)
			}
		})
	}
	if err := s.list(ctx, drain); err != nil && ctx.Err() == nil {
		fail(err)
	}
	for _, l := range s.own() {
		close(l.queue)
	}
	lanes.Wait()
	err := context.Cause(ctx)
	cancel(nil) // what was fetched for lanes that have ended
	ahead.Wait()
	for _, l := range s.own() {
		l.fetches.Wait()
	}
	switch {
	case fatal != nil:
		return fatal
	case err != nil:
		return err
	}
	return s.reported()
}

// own returns the lanes of this process.
func (s *ObjectSource) own() (own []*objectLane) {
	for _, l := range s.lanes {
		if l != nil {
			own = append(own, l)
		}
	}
	return own
}

// run hands out a lane until it ends for another reason than to be committed.
func (s *ObjectSource) run(ctx context.Context, l *objectLane, each func(context.Context, pipeline.Lane) error) error {
	defer close(l.gone)
	defer l.once.Do(func() { close(l.started) })
	defer l.release()
	for {
		err := each(ctx, l)
		switch {
		case errors.Is(err, pipeline.ErrLaneLost):
			return l.lost()
		case err != nil && isOwn(err) && s.o.Poll == 0:
			s.report(err, s.address(l.object.Key))
			return nil
		case err != nil || !l.turn:
			return err
		}
		if pipeline.Stopped(ctx, l.drain) != nil {
			return nil
		}
	}
}

// list hands the objects to their lanes, and looks for new ones until drain is closed, if there are to be any.
func (s *ObjectSource) list(ctx context.Context, drain <-chan struct{}) error {
	from := ""
	for i, l := range s.own() {
		select {
		case <-l.started:
		case <-ctx.Done():
			return nil
		}
		if i == 0 || l.from < from {
			from = l.from
		}
	}
	err := s.sweep(ctx, drain, ring(s.places, from))
	cost := s.requests.Load()
	if s.o.Poll == 0 {
		s.complete.Store(err == nil)
		return ignoreStop(err)
	}
	for whole := time.Now(); err == nil; {
		timer := time.NewTimer(s.o.Poll)
		select {
		case <-timer.C:
		case <-drain:
			timer.Stop()
			return nil
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		parts := ring(s.places, "")
		if cost > cheapRequests && time.Since(whole) < s.o.Relist {
			for i := range parts {
				parts[i].after = parts[i].place.last
			}
		} else {
			whole = time.Now()
		}
		err = s.sweep(ctx, drain, parts)
	}
	return ignoreStop(err)
}

func ignoreStop(err error) error {
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// sweep hands the new objects of stretches to their lanes.
func (s *ObjectSource) sweep(ctx context.Context, drain <-chan struct{}, parts []stretch) error {
	for _, part := range parts {
		err := s.walk(ctx, part, func(o objstore.Object) error {
			l := s.lanes[xxh3.HashString(o.Key)%objectLanes]
			if l == nil || !l.offer(o) {
				if pipeline.Stopped(ctx, drain) != nil {
					return errStopped
				}
				return nil
			}
			s.listed.Add(o.Size)
			select {
			case l.queue <- o:
			case <-l.gone: // it has said why
			case <-drain:
				return errStopped
			case <-ctx.Done():
				return errStopped
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// stat looks at an object anew.
func (s *ObjectSource) stat(ctx context.Context, key string) (o objstore.Object, there bool, err error) {
	page, _, err := s.store.List(ctx, key, "", 1)
	if err != nil || len(page) == 0 || page[0].Key != key {
		return o, false, err
	}
	return page[0], true, nil
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
