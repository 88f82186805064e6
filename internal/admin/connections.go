package admin

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// maxConnections is how many connections there are at a time. Monitoring, probes and some browsers need few, and every one is a
// file that the pipeline cannot open.
const maxConnections = 128

// connections is a listener that bounds how many of its connections are open. When one more comes than may be, the one goes that
// has waited longest for its peer, of the peer that has most: whoever holds connections open and asks nothing, or asks
// slowly, loses them, and a probe gets its answer. A connection whose request is being answered stays.
type connections struct {
	net.Listener
	most int

	mu   sync.Mutex
	open map[*connection]struct{}
}

func newConnections(l net.Listener, most int) *connections {
	return &connections{Listener: l, most: most, open: make(map[*connection]struct{}, most)}
}

// connection is one of them.
type connection struct {
	net.Conn
	set  *connections
	peer string // address without the port

	// The set's mutex is held for these.
	answers int       // requests that are being answered
	waiting time.Time // for a request, since
}

// Accept implements [net.Listener].
func (l *connections) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{Conn: raw, set: l, peer: hostOf(raw.RemoteAddr().String()), waiting: time.Now()}
		old, ok := l.add(c)
		if old != nil {
			_ = old.Conn.Close() // it is broken off
		}
		if ok {
			return c, nil
		}
		_ = raw.Close()
	}
}

// add adds a connection, and returns the one that has to go for it, or false if there is none.
func (l *connections) add(c *connection) (old *connection, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.most {
		if old = l.worst(); old == nil {
			return nil, false
		}
		delete(l.open, old)
	}
	l.open[c] = struct{}{}
	return old, true
}

// worst returns the connection that is to go first, nil if all are being answered.
func (l *connections) worst() (worst *connection) {
	count := make(map[string]int, len(l.open))
	for c := range l.open {
		count[c.peer]++
	}
	for c := range l.open {
		switch {
		case c.answers > 0:
		case worst == nil || count[c.peer] > count[worst.peer],
			count[c.peer] == count[worst.peer] && c.waiting.Before(worst.waiting):
			worst = c
		}
	}
	return worst
}

// Close implements [net.Conn].
func (c *connection) Close() error {
	c.set.mu.Lock()
	delete(c.set.open, c)
	c.set.mu.Unlock()
	return c.Conn.Close()
}

// answer changes how many requests of the connection are being answered.
func (c *connection) answer(by int) {
	c.set.mu.Lock()
	defer c.set.mu.Unlock()
	c.answers += by
	c.waiting = time.Now()
}

// connectionKey is the key under which the context of a request has its connection.
type connectionKey struct{}

// withConnection is for [http.Server.ConnContext].
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if wrapped, ok := c.(*tls.Conn); ok {
		c = wrapped.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

// counted has the connection of a request stay while it is answered.
func counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connectionKey{}).(*connection); ok {
			c.answer(1)
			defer c.answer(-1)
		}
		h.ServeHTTP(w, r)
	})
}
