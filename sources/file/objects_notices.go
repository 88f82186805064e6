package file

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
)

const (
	// holdNotices is for how long messages are kept from other receivers at a time. It is renewed after half of it.
	holdNotices = 5 * time.Minute
	// mostNotices is how many messages are in hand at most. Amazon SQS gives 120,000.
	mostNotices = 10_000
	// atOnceNotices is how many objects are looked at at a time.
	atOnceNotices = 16
	// idleNotices is the longest pause between two looks at a queue that does not wait for messages itself, and failedNotices the
	// longest one while the queue cannot be read.
	idleNotices, failedNotices = 5 * time.Second, 30 * time.Second
	// tidyNotices is how often messages are deleted whose objects are durable.
	tidyNotices = time.Second
	// sayNotices is how often it is said at most that messages are left in the queue.
	sayNotices = time.Minute
)

// notices reads the queue in which a bucket says that objects are new, and hands these to their lanes. What a message says is a hint: its
// object is looked at and read like one of a listing, so that nothing depends on a message. It is deleted when what it says is durable
// in the output, or is known to be so. A message that the process does not come to is left to others.
type notices struct {
	r     *running
	queue objstore.Queue
	turns chan struct{} // of looks at objects

	mu     sync.Mutex
	held   map[*notice]struct{}
	over   []*notice // to be deleted
	free   []*notice // to be given back
	claims map[string]bool
	away   [objectLanes][]away
	since  time.Time // when the queue began to fail, zero if it does not
	err    error
	said   time.Time

	number int64 // of the last claim; of the goroutine of keep

	counts noticeCounts
}

// noticeCounts are of messages.
type noticeCounts struct{ received, deleted, left, forwarded, failed atomic.Int64 }

// outcome is what becomes of a message.
type outcome int

const (
	durable outcome = iota // it is deleted
	later                  // it comes again when its time is over
	others                 // it is given back at once, for others
)

// notice is a message, or a claim with the keys of some.
type notice struct {
	message *objstore.Message // nil for a claim
	claim   string
	objects int // that are not known to be durable
	not     outcome
	until   time.Time
}

func newNotices(r *running) *notices {
	return &notices{r: r, queue: r.queue, turns: make(chan struct{}, atOnceNotices), held: map[*notice]struct{}{}, claims: map[string]bool{}}
}

// run reads the queue until ctx or drain ends. What is in hand then is left to tidy.
func (n *notices) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-n.r.drain:
			cancel()
		case <-ctx.Done():
		}
	}()
	idle, failed := 0, 0
	for ctx.Err() == nil {
		if n.full() {
			_ = rest(ctx, tidyNotices)
			continue
		}
		began := time.Now()
		messages, err := n.queue.Receive(ctx, n.r.hold)
		n.failing(ctx, err)
		until := began.Add(n.r.hold)
		for _, m := range messages { // also with an error: they were received
			n.take(ctx, &notice{message: m, until: until}, m.Keys)
		}
		switch {
		case err != nil:
			failed++
			_ = rest(ctx, min(time.Second<<min(failed, 10), failedNotices))
		case len(messages) > 0:
			idle, failed = 0, 0
		case time.Since(began) < time.Second: // the queue does not wait itself
			idle++
			_ = rest(ctx, min(100*time.Millisecond<<min(idle, 10), idleNotices))
		}
	}
}

// rest waits.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (n *notices) full() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.held) >= mostNotices
}

// failing notes how the queue was read last.
func (n *notices) failing(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case err == nil && !n.since.IsZero():
		n.r.log.Info("the queue with notifications can be read again", "bucket", n.r.root)
		n.since, n.err = time.Time{}, nil
	case err != nil:
		n.counts.failed.Add(1)
		if n.err = err; n.since.IsZero() {
			n.since, n.said = time.Now(), time.Time{}
		}
		if time.Since(n.said) >= sayNotices {
			n.said = time.Now()
			n.r.log.Warn("the queue with notifications cannot be read; trying again, and listing the bucket meanwhile", "bucket", n.r.root,
				"every", min(n.r.o.Relist, DefaultRelist), "error", err)
		}
	}
}

// trouble returns since when the queue cannot be read, and why.
func (n *notices) trouble() (time.Time, error) {
	if n == nil {
		return time.Time{}, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.since, n.err
}

// count adds what became of the messages.
func (n *notices) count(in *pipeline.InputCounts) {
	if n == nil {
		return
	}
	in.Retries += n.counts.failed.Load()
	in.Notices = map[string]int64{
		"received": n.counts.received.Load(), "deleted": n.counts.deleted.Load(), "left": n.counts.left.Load(), "handed_on": n.counts.forwarded.Load(),
	}
}

// take hands the objects of a message to their lanes.
func (n *notices) take(ctx context.Context, m *notice, keys []string) {
	n.counts.received.Add(1)
	if m.message != nil && m.message.Alien != "" {
		n.leave(m)
		return
	}
	var wanted []string
	for _, key := range keys {
		if n.r.wants(key) {
			wanted = append(wanted, key)
		}
	}
	n.mu.Lock()
	n.held[m], m.objects = struct{}{}, len(wanted)
	if len(wanted) == 0 {
		n.settled(m)
	}
	n.mu.Unlock()
	for _, key := range wanted {
		select {
		case n.turns <- struct{}{}:
		case <-ctx.Done():
			n.done(m, others)
			continue
		}
		n.r.group.Go(func() {
			defer func() { <-n.turns }()
			n.look(ctx, m, key)
		})
	}
}

// leave lets a message that is for other readers become theirs when its time is over: who deletes what he does not know may delete
// what another program waits for. A queue has means of its own for messages that nobody takes.
func (n *notices) leave(m *notice) {
	n.counts.left.Add(1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Since(n.said) < sayNotices {
		return
	}
	n.said = time.Now()
	n.r.log.Warn("a message is left in the queue, as it is not meant for this source; give each bucket a queue of its own, and the queue a "+
		"dead-letter queue", "bucket", n.r.root, "message", m.message.ID, "why", m.message.Alien)
}

// look looks at an object that a message names, and hands it to its lane.
func (n *notices) look(ctx context.Context, m *notice, key string) {
	slot := int(xxh3.HashString(key) % objectLanes)
	l := n.r.lanes[slot].Load()
	if l == nil {
		n.forward(m, slot, key)
		return
	}
	select {
	case <-l.started:
	case <-ctx.Done():
		n.done(m, others)
		return
	}
	o, there, err := n.r.stat(ctx, key)
	switch {
	case err != nil && ctx.Err() == nil:
		n.r.log.Warn("an object cannot be looked at; its notification comes again", "object", n.r.address(key), "error", err)
		n.done(m, later)
	case err != nil:
		n.done(m, others)
	case !there:
		n.done(m, durable) // it was removed since
	default:
		l.notify(o, m)
	}
}

// done notes that an object of a message is durable in the output, or need not be, or that this process does not read it.
func (n *notices) done(m *notice, what outcome) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m.objects--
	m.not = max(m.not, what)
	n.settled(m)
}

// settled decides about a message when all of its objects are decided about. n.mu is held.
func (n *notices) settled(m *notice) {
	if m.objects > 0 {
		return
	}
	switch delete(n.held, m); m.not {
	case durable:
		n.over = append(n.over, m)
	case others:
		n.free = append(n.free, m)
	case later:
		delete(n.claims, m.claim)
	}
}

// keep renews the time of the messages that are in hand, and deletes those that are done with, until stop is closed. Then it gives
// those back that are left.
func (n *notices) keep(ctx context.Context, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
			defer cancel()
			n.handOn(ctx)
			n.mu.Lock()
			for m := range n.held {
				n.free = append(n.free, m)
			}
			clear(n.held)
			n.mu.Unlock()
			n.tidy(ctx)
			return
		case <-time.After(tidyNotices):
			n.tidy(ctx)
			n.renew(ctx)
		}
	}
}

// tidy hands messages on, deletes others, and gives others back.
func (n *notices) tidy(ctx context.Context) {
	n.handOn(ctx)
	n.mu.Lock()
	over, free := n.over, n.free
	n.over, n.free = nil, nil
	n.mu.Unlock()
	var done, back []*objstore.Message
	var errs []error
	for _, m := range over {
		if m.message != nil {
			done = append(done, m.message)
		} else {
			errs = append(errs, n.r.claims.Delete(ctx, m.claim))
		}
	}
	for _, m := range free {
		if m.message != nil {
			back = append(back, m.message)
		}
	}
	if len(done) > 0 {
		errs = append(errs, n.queue.Delete(ctx, done))
	}
	if len(back) > 0 {
		errs = append(errs, n.queue.Hold(ctx, back, 0))
	}
	if err := errors.Join(errs...); err != nil && ctx.Err() == nil { // they come again, and are known then
		n.r.log.Debug("messages of the queue could not be deleted or given back", "error", err)
	} else {
		n.counts.deleted.Add(int64(len(done)))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, m := range append(over, free...) {
		delete(n.claims, m.claim)
	}
}

// renew keeps the messages that are in hand from others for longer.
func (n *notices) renew(ctx context.Context) {
	var long []*objstore.Message
	now := time.Now()
	n.mu.Lock()
	for m := range n.held {
		if m.message != nil && m.until.Sub(now) < n.r.hold/2 {
			m.until = now.Add(n.r.hold)
			long = append(long, m.message)
		}
	}
	n.mu.Unlock()
	if len(long) == 0 {
		return
	}
	if err := n.queue.Hold(ctx, long, n.r.hold); err != nil && ctx.Err() == nil {
		n.r.log.Debug("messages of the queue could not be kept for longer", "error", err)
	}
}

// wants reports whether a key is one of the paths.
func (s *ObjectSource) wants(key string) bool {
	for i := range s.places {
		if p := &s.places[i]; strings.HasPrefix(key, p.prefix) && p.matches(key) {
			return true
		}
	}
	return false
}
