package file

import (
	"context"

	"github.com/urlmill/urlmill/internal/objstore"
)

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
