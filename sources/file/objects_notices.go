package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// noticeKind begins the names of claims that have the keys of objects for the process that reads a lane.
const noticeKind = "notice"

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

// away is a key of another process's lane.
type away struct {
	of  *notice
	key string
}

// forward hands a key on to the process that reads its lane, with the next call of tidy.
func (n *notices) forward(m *notice, slot int, key string) {
	if n.r.claims == nil || m.message == nil {
		n.done(m, others)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.away[slot] = append(n.away[slot], away{m, key})
}

// handOn makes a claim in the output of the keys for each lane of other processes. Their messages can be deleted then.
func (n *notices) handOn(ctx context.Context) {
	n.mu.Lock()
	all := n.away
	n.away = [objectLanes][]away{}
	n.mu.Unlock()
	for slot, some := range all {
		if len(some) == 0 {
			continue
		}
		keys := make([]string, 0, len(some))
		for _, a := range some {
			keys = append(keys, a.key)
		}
		n.number++
		content, err := json.Marshal(keys)
		if err == nil {
			err = n.r.claims.Create(ctx, fmt.Sprintf("%s-%d-%s-%d", noticeKind, slot+1, n.r.claims.Self(), n.number), string(content))
		}
		what := durable
		if err != nil {
			what = later
			n.r.log.Warn("cannot hand notifications on to the process that reads their objects; they come again", "bucket", n.r.root, "error", err)
		} else {
			n.counts.forwarded.Add(int64(len(some)))
		}
		for _, a := range some {
			n.done(a.of, what)
		}
	}
}

// adopt takes the keys that other processes have left for the lanes of this one. names are those of all claims.
func (n *notices) adopt(ctx context.Context, names []string, own func(slot int) bool) {
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, noticeKind+"-")
		lane, _, _ := strings.Cut(rest, "-")
		slot, valid := slotOf(lane)
		if !ok || !valid || !own(slot) || !n.adopted(name) {
			continue
		}
		content, err := n.r.claims.Read(ctx, name)
		var keys []string
		if err == nil {
			err = json.Unmarshal([]byte(content), &keys)
		}
		if err != nil { // it is gone, or comes again with the next look
			n.mu.Lock()
			delete(n.claims, name)
			n.mu.Unlock()
			continue
		}
		n.take(ctx, &notice{claim: name}, keys)
	}
}

// adopted notes that a claim is in hand, and reports false if it is already.
func (n *notices) adopted(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.claims[name] {
		return false
	}
	n.claims[name] = true
	return true
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

// notify hands an object to the lane of which a message speaks, unless the lane knows it.
func (l *objectLane) notify(o objstore.Object, m *notice) {
	f := fingerprint(o)
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.gone:
		l.source.notices.Load().done(m, others)
		return
	default:
	}
	_, open := l.waiting[f]
	switch {
	case open:
		l.waiting[f] = append(l.waiting[f], m)
		return
	case l.known.has(f) && !l.unread[f]:
		l.source.notices.Load().done(m, durable)
		return
	}
	if l.unread[f] {
		l.unread[f] = false // it is tried again
	}
	l.known.add(f)
	l.waiting[f] = []*notice{m}
	l.source.listed.Add(o.Size)
	l.news = append(l.news, o)
	select {
	case l.rung <- struct{}{}:
	default:
	}
}

// following returns the next object of the lane, of which messages spoke before those of listings. It reports false behind the last one.
func (l *objectLane) following(ctx context.Context) (o objstore.Object, ok bool) {
	for {
		l.mu.Lock()
		if ok = len(l.news) > 0; ok {
			o, l.news = l.news[0], l.news[1:]
		}
		l.mu.Unlock()
		if ok {
			return o, true
		}
		select {
		case <-l.rung:
		case o, ok = <-l.queue:
			return o, ok
		case <-ctx.Done():
			return o, false
		}
	}
}

// tell says what became of an object to the messages that spoke of it. l.mu is held.
func (l *objectLane) tell(f uint64, what outcome) {
	if l.waiting == nil {
		return
	}
	for _, m := range l.waiting[f] {
		l.source.notices.Load().done(m, what)
	}
	delete(l.waiting, f)
}

// leave gives the messages back that speak of objects that are not durable, when the lane has ended.
func (l *objectLane) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for f := range l.waiting {
		l.tell(f, others)
	}
}

// failedNow notes that an object cannot be read now, and reports whether it is the first time. A message that speaks of it comes again,
// and then it is tried again.
func (l *objectLane) failedNow(o objstore.Object) (first bool) {
	f := fingerprint(o)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell(f, later)
	_, again := l.unread[f]
	if l.unread != nil {
		l.unread[f] = true
	}
	return !again
}

// moved hands the messages that speak of an object, of which nothing was delivered, on to what has taken its place, if there is
// something.
func (l *objectLane) moved(from objstore.Object, to *objstore.Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := fingerprint(from)
	if to != nil {
		if next, open := l.waiting[fingerprint(*to)]; open {
			l.waiting[fingerprint(*to)] = append(next, l.waiting[f]...)
			delete(l.waiting, f)
			return
		}
	}
	l.tell(f, durable)
}
