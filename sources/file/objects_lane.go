package file

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

const (
	// queueObjects is how many objects are known to a lane before their turn.
	queueObjects = 1000
	// turnObjects is after how many objects a lane ends, so that they are committed, and is handed out anew: what a commit says of
	// them stays below 64 KiB.
	turnObjects = 4096
)

// content is an object that is being read, by the lane of a file of its own.
type content interface {
	Start(ctx context.Context, next int64) error
	Next(ctx context.Context, b *pipeline.Batch) error
	finished() bool
	close()
}

// objectLane reads the objects whose keys have the same hash, one after the other. Its positions are those of all their records,
// and one for the end of each object, by which a commit can say that it was read, whatever it holds.
//
// The goroutine of the lane has everything but what mu guards, which the lister adds to, acked, and the channels. A lane is handed out
// several times, one after the other.
type objectLane struct {
	source *ObjectSource
	id     pipeline.LaneID
	tables bool
	ctx    context.Context
	lose   context.CancelCauseFunc // ends it at once
	drain  chan struct{}           // closed to end it softly
	stop   func()                  // closes drain

	mu    sync.Mutex
	known seen         // read, or handed to this lane
	done  []doneObject // not known to be committed
	// These are of a source with notifications: messages that speak of the objects that were handed to the lane and are not durable,
	// objects that cannot be read, and those to be read before those of the queue.
	waiting map[uint64][]*notice
	unread  map[uint64]bool
	news    []objstore.Object
	rung    chan struct{} // has one when there are news

	queue   chan objstore.Object // from the lister, which closes it behind the last one
	listed  bool                 // the lister's: it has been handed all that there was
	ahead   chan *fetched
	fetches sync.WaitGroup
	started chan struct{} // closed when known is complete, and at the end
	gone    chan struct{} // closed at the end
	once    sync.Once     // closes started

	begun  bool
	from   string   // key that the last run was at
	next   *fetched // whose turn has come before that of the queue
	resume int64    // record of next to go on at
	skip   map[uint64]bool

	cur    content // nil between two objects
	object objstore.Object
	end    context.CancelFunc // of what cur reads
	base   int64              // position of the first record of object
	at     int64              // next position
	acked  atomic.Int64       // all before it is committed
	sum    uint64             // of all that ended
	turn   bool               // it has ended so as to be committed
	err    error              // found by Wait, for Next
}

type doneObject struct {
	fingerprint uint64
	end         int64
}

func newObjectLane(ctx context.Context, s *ObjectSource, slot int) *objectLane {
	_, tables := s.codec.(codec.Tables)
	l := &objectLane{
		source: s, id: s.laneID(slot), tables: tables, skip: map[uint64]bool{}, drain: make(chan struct{}),
		queue: make(chan objstore.Object, queueObjects), ahead: make(chan *fetched, aheadObjects),
		started: make(chan struct{}), gone: make(chan struct{}),
	}
	if l.rung = make(chan struct{}, 1); s.queue != nil {
		l.waiting, l.unread = map[uint64][]*notice{}, map[uint64]bool{}
	}
	l.ctx, l.lose = context.WithCancelCause(ctx)
	l.stop = sync.OnceFunc(func() { close(l.drain) })
	return l
}

// takes reports whether the lane knows what was read, and has not been handed its last object.
func (l *objectLane) takes(more bool) bool {
	select {
	case <-l.started:
		return more || !l.listed
	default:
		return false
	}
}

// offer reports whether an object is new to the lane, which knows it from then on.
func (l *objectLane) offer(o objstore.Object) bool {
	f := fingerprint(o)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known.has(f) {
		return false
	}
	l.known.add(f)
	l.hand(f)
	return true
}

// hand notes that an object is in hand and not durable, for messages that will speak of it. l.mu is held.
func (l *objectLane) hand(f uint64) {
	if l.waiting != nil {
		l.waiting[f] = nil
	}
}

// Ending implements [pipeline.Ender].
func (l *objectLane) Ending() <-chan struct{} { return l.drain }

// ID implements [pipeline.Lane].
func (l *objectLane) ID() pipeline.LaneID { return l.id }

// Start implements [pipeline.Lane]. The first time it reads what was committed of the lane.
func (l *objectLane) Start(ctx context.Context, next int64) error {
	switch {
	case !l.begun:
		if err := l.recall(ctx, next); err != nil {
			return err
		}
		l.begun = true
		l.once.Do(func() { close(l.started) })
	case next != pipeline.Unknown && next != l.at:
		return pipeline.ErrLaneLost // somebody else has committed
	}
	l.acked.Store(l.at)
	l.turn = false
	return nil
}

// recall reads which objects have been read, up to the position next.
func (l *objectLane) recall(ctx context.Context, next int64) error {
	if next == pipeline.Unknown || l.source.history == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at, last := int64(0), new(objectMark) // a lane that was begun, and nothing committed, is at 0
	err := l.source.history.History(ctx, l.id, func(m pipeline.Mark) (err error) {
		last, err = l.known.recall(m)
		at = m.Next
		return err
	})
	switch {
	case err != nil:
		return err
	case at != next: // otherwise a commit that came in between would not be in known, and its objects be read again
		return pipeline.ErrLaneLost
	}
	l.at, l.from, l.sum = next, last.Key, last.Sum
	if next > 0 && !last.ended(next) {
		l.next, l.base, l.resume = &fetched{Object: last.object()}, last.Base, next-last.Base
		l.known.old = append(l.known.old, fingerprint(last.object()))
		l.hand(fingerprint(last.object()))
	}
	l.known.sort()
	return nil
}

// Acknowledge implements [pipeline.Lane].
func (l *objectLane) Acknowledge(_ context.Context, next int64) error {
	l.acked.Store(next)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	return nil
}

// Wait implements [pipeline.Waiter]: for an object, a permit to read it, and its first bytes.
func (l *objectLane) Wait(ctx context.Context) {
	if l.err == nil {
		l.err = l.begin(ctx)
	}
	if file, ok := l.cur.(*lane); ok && l.err == nil {
		_ = file.stream.await(ctx) // Next finds out what has ended
	}
	if ctx.Err() != nil {
		l.err = nil // Next has another
	}
}

// Next implements [pipeline.Lane]. A batch has records of one object: the position before each of them has to say how much of
// which object was read.
func (l *objectLane) Next(ctx context.Context, b *pipeline.Batch) error {
	err := l.err
	l.err = nil
	for {
		if err == nil {
			err = l.begin(ctx)
		}
		if err != nil && l.cur == nil {
			return err
		}
		if err == nil {
			if err = l.cur.Next(ctx, b); err == nil {
				l.deliver(b)
				return nil
			}
		}
		if errors.Is(err, io.EOF) && !l.cur.finished() {
			return io.EOF // a drain
		}
		var fatal error
		if !errors.Is(err, io.EOF) {
			fatal = l.failed(ctx, err)
		}
		if fatal != nil {
			return fatal
		}
		if err = nil; l.cur == nil {
			continue // nothing of it was delivered, and nothing is to be committed
		}
		b.Reset()
		b.First, b.Next = l.at-l.base, l.at-l.base
		l.deliverLast(b)
		return nil
	}
}

// deliver makes a batch of records of the current object one of the lane.
func (l *objectLane) deliver(b *pipeline.Batch) {
	if l.cur.finished() {
		l.deliverLast(b)
		return
	}
	l.shift(b)
	b.Of = l.of(0)
}

// deliverLast does so with the last batch of an object, and adds the position of its end.
func (l *objectLane) deliverLast(b *pipeline.Batch) {
	b.Next++
	l.shift(b)
	ended := doneObject{fingerprint(l.object), l.at}
	l.sum = summed(l.sum, ended)
	b.Of = l.of(l.at)
	l.mu.Lock()
	l.done = append(l.done, ended)
	l.mu.Unlock()
	l.release()
}

func (l *objectLane) shift(b *pipeline.Batch) {
	b.Origins = append(b.Origins[:0], b.Offsets...)
	for i := range b.Offsets {
		b.Offsets[i] += l.base
	}
	b.Origin = pipeline.LaneID{Stream: l.source.address(l.object.Key), Session: l.id.Session}
	b.Lane, b.First, b.Next = l.id, b.First+l.base, b.Next+l.base
	l.at = b.Next
}

// of returns what a commit up to here has to say. Objects stay in it until a commit is known to have said them: a position says all
// that was read before it, whichever batches are committed together.
func (l *objectLane) of(end int64) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	m := objectMark{Version: objectMarkVersion, Key: l.object.Key, ETag: l.object.ETag, Size: l.object.Size, Base: l.base, End: end, Sum: l.sum}
	m.Done = make([]byte, 0, 8*len(l.done))
	for _, d := range l.done {
		m.Done = binary.LittleEndian.AppendUint64(m.Done, d.fingerprint)
	}
	return m.text()
}

// forget drops the objects that a commit has said. l.mu is held.
func (l *objectLane) forget() {
	acked, n := l.acked.Load(), 0
	for n < len(l.done) && l.done[n].end <= acked {
		l.tell(l.done[n].fingerprint, durable)
		n++
	}
	l.done = l.done[:copy(l.done, l.done[n:])]
}

// begin begins the next object, unless one is being read.
func (l *objectLane) begin(ctx context.Context) error {
	if l.cur != nil {
		return nil
	}
	if err := pipeline.Stopped(ctx, l.drain); err != nil {
		return err
	}
	l.mu.Lock()
	l.forget()
	l.turn = len(l.done) >= l.source.turn
	l.mu.Unlock()
	if l.turn {
		return io.EOF
	}
	for l.next == nil {
		select {
		case f, ok := <-l.ahead:
			if !ok && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !ok {
				return io.EOF
			}
			if !l.skip[fingerprint(f.Object)] {
				l.next = f
			}
		case <-l.drain:
			return io.EOF
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if !acquire(ctx, l.drain, l.source.permits) {
		if err := pipeline.Stopped(ctx, l.drain); err != nil {
			return err
		}
		return io.EOF
	}
	return l.open()
}

// open opens the object whose turn it is. The lane has a permit.
func (l *objectLane) open() error {
	f := l.next
	if l.resume == 0 {
		l.base = l.at
	}
	l.object = f.Object
	ctx, cancel := context.WithCancel(l.ctx)
	l.end = cancel
	in := input{path: l.source.address(f.Key), size: f.Size}
	if l.tables {
		in.at = newPieces(ctx, l.source, f.Object)
		l.cur = &tableLane{source: &l.source.files, tables: l.source.codec.(codec.Tables), in: in, drain: l.drain}
	} else {
		in.body = &lazyBody{open: func() (io.ReadCloser, error) { return l.source.content(ctx, f) }}
		l.cur = &lane{source: &l.source.files, in: in, drain: l.drain}
	}
	l.next = nil
	err := l.cur.Start(ctx, l.resume)
	l.resume = 0
	return err
}

// lazyBody opens what it reads when it is read, by the goroutine that may wait for it.
type lazyBody struct {
	open func() (io.ReadCloser, error)
	io.ReadCloser
}

func (b *lazyBody) Read(p []byte) (int, error) {
	if b.ReadCloser == nil {
		from, err := b.open()
		if err != nil {
			return 0, err
		}
		b.ReadCloser = from
	}
	return b.ReadCloser.Read(p)
}

func (b *lazyBody) Close() error {
	if b.ReadCloser == nil {
		return nil
	}
	return b.ReadCloser.Close()
}

// release ends reading of the current object.
func (l *objectLane) release() {
	if l.cur == nil {
		return
	}
	l.end()
	l.cur.close()
	l.cur = nil
	<-l.source.permits
}

// failed decides what becomes of the current object, which cannot be read on. The error ends the lane. Otherwise the object is
// current still where it counts as read from now on, and is not where nothing is said of it.
func (l *objectLane) failed(ctx context.Context, err error) error {
	var store *bodyError
	var unresolved *codec.UnresolvedError
	delivered := l.at - l.base
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &unresolved):
		return err
	case !errors.As(err, &store):
		l.source.report(err, l.source.address(l.object.Key))
		return nil
	case isReplaced(err):
		return l.replaced(ctx, delivered)
	case errors.Is(err, objstore.ErrUnreadable) && delivered == 0:
		if l.failedNow(l.object) {
			l.source.report(&ReadError{Path: l.source.address(l.object.Key), Format: objectFormat, Err: err}, l.source.address(l.object.Key))
		}
		l.release()
		return nil
	}
	return err
}

// replaced does what on_changed says about an object of which another content is there now, or nothing. No record is made of a
// part of the one and a part of the other. The new content is an object of its own.
func (l *objectLane) replaced(ctx context.Context, delivered int64) error {
	address, policy := l.source.address(l.object.Key), l.source.o.OnChanged
	fresh, there, err := l.source.stat(ctx, l.object.Key)
	if err != nil {
		return err
	}
	reason := "it was removed from the bucket while it was read"
	if there {
		reason = "the bucket has another content under its key"
	}
	if delivered > 0 && policy == Stop {
		return &ChangedError{Path: address, Next: delivered, Why: reason}
	}
	log := l.source.log.With("object", address, "why", reason)
	switch {
	case delivered == 0 && !there:
		log.Info("an object is gone, and nothing of it was read")
	case delivered > 0 && policy == Skip:
		log.Warn("the rest of an object is left out, and so is what has taken its place", "records", delivered)
	case delivered > 0:
		log.Warn("the rest of an object is left out; what has taken its place is read from its beginning", "records", delivered)
	}
	isNew := there && l.offer(fresh) // otherwise it is in the queue, or was read
	switch {
	case there && delivered > 0 && policy == Skip:
		l.skip[fingerprint(fresh)] = true
		l.mu.Lock()
		l.done = append(l.done, doneObject{fingerprint(fresh), l.at + 1})
		l.mu.Unlock()
	case isNew:
		l.next = &fetched{Object: fresh}
	}
	switch {
	case delivered > 0:
		return nil
	case there:
		l.moved(l.object, &fresh)
	default:
		l.moved(l.object, nil)
	}
	l.release()
	return nil
}

// lost is the error of a lane that another process commits to.
func (l *objectLane) lost() error {
	return fmt.Errorf("%s: another process reads these objects into the same output; what both have committed is there once: "+
		"let them share the objects (source.file.shard: auto), or let one run at a time, and start this one again when the other has ended", l.source.root)
}
