package kafkaconn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/segmentio/kafka-go/protocol"
)

const (
	// maxAnswer bounds what kafka-go decodes of an answer, with its strings and arrays some times as much: the metadata of 150,000 partitions.
	maxAnswer = 8 << 20
	// maxToken bounds the answer to a token of a login.
	maxToken = 64 << 10
	// noVersion is above every version of a request. Where a header has one, there is the text of a token.
	noVersion = 32
	// maxLogin bounds for how long a broker may say that a login is good.
	maxLogin = 30 * 24 * time.Hour
)

// guardedConn holds back each answer until it has come as a whole and all lengths that it claims are in it, since kafka-go
// allocates what is claimed, on goroutines of its own. Answers to fetches pass as they come: their reader is this program's,
// and checks them itself.
//
// It also logs in again before the broker's patience with a login ends (KIP-368), which kafka-go does not do: a broker hangs up on
// the next request after that.
type guardedConn struct {
	net.Conn
	logIn func() error // over this connection; nil where there is no login

	// Of the goroutine that writes.
	request [12]byte // length, key, version and correlation ID of the request that is being written
	written int      // of request
	body    int      // bytes of the request that are still to be written
	bare    bool     // the login is of the kind whose tokens have no header

	mu     sync.Mutex
	asked  map[int32]question // requests without an answer, by their correlation ID
	tokens int                // those of a login without an answer
	renew  time.Time          // when to log in again, zero for never

	// Of the goroutine that reads.
	answer [8]byte // length and correlation ID
	read   int     // of answer
	ready  []byte  // what has been looked at
	pass   int     // bytes behind it that pass as they come
	failed error
}

// question is what a request asks for.
type question struct {
	key     protocol.ApiKey
	version int16
}

func (q question) String() string { return fmt.Sprintf("%s of version %d", q.key, q.version) }

func guard(c net.Conn) *guardedConn { return &guardedConn{Conn: c, asked: map[int32]question{}} }

// Write implements [net.Conn].
func (c *guardedConn) Write(b []byte) (int, error) {
	if c.written == 0 && c.body == 0 && c.loginEnds() {
		if err := c.logIn(); err != nil {
			return 0, err
		}
	}
	c.note(b)
	return c.Conn.Write(b)
}

// loginEnds reports, once, whether the login has to be made again before the request that is about to begin. It is not while an
// answer is to come: kafka-go waits for it before it asks again, but for its first questions.
func (c *guardedConn) loginEnds() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logIn == nil || c.renew.IsZero() || len(c.asked) > 0 || time.Now().Before(c.renew) {
		return false
	}
	c.renew = time.Time{} // until the answer to the new one
	return true
}

// loggedIn notes for how long a login is good, which the answer to its last step says.
func (c *guardedConn) loggedIn(answer []byte) {
	const size = 8
	if len(answer) < size {
		return
	}
	life := time.Duration(min(binary.BigEndian.Uint64(answer[len(answer)-size:]), uint64(maxLogin.Milliseconds()))) * time.Millisecond
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.renew = (time.Time{}); life > 0 {
		c.renew = time.Now().Add(life * 4 / 5)
	}
}

// note keeps which requests are in b, which may begin and end within them.
func (c *guardedConn) note(b []byte) {
	for len(b) > 0 {
		if n := min(c.body, len(b)); n > 0 {
			c.body -= n
			b = b[n:]
			continue
		}
		want, size := 4, 0
		if c.written >= 4 {
			size = int(int32(binary.BigEndian.Uint32(c.request[:])))
			want += max(0, min(8, size))
		}
		n := copy(c.request[c.written:want], b)
		c.written, b = c.written+n, b[n:]
		if c.written == 4 && n > 0 {
			size = int(int32(binary.BigEndian.Uint32(c.request[:])))
			want += max(0, min(8, size))
		}
		if c.written == want {
			c.ask(size)
			c.body, c.written = max(0, size-8), 0
		}
	}
}

// ask notes the request whose header is there.
func (c *guardedConn) ask(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := question{protocol.ApiKey(binary.BigEndian.Uint16(c.request[4:])), int16(binary.BigEndian.Uint16(c.request[6:]))}
	if c.bare && (size < 8 || uint16(q.version) >= noVersion) {
		c.tokens++
		return
	}
	c.bare = c.bare || q == question{protocol.SaslHandshake, 0}
	c.asked[int32(binary.BigEndian.Uint32(c.request[8:]))] = q
}

// Read implements [net.Conn].
func (c *guardedConn) Read(b []byte) (int, error) {
	if len(c.ready) == 0 && c.pass == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	if len(c.ready) > 0 {
		n := copy(b, c.ready)
		c.ready = c.ready[n:]
		return n, nil
	}
	n, err := c.Conn.Read(b[:min(len(b), c.pass)])
	c.pass -= n
	return n, err
}

// next reads the header of an answer and, where kafka-go decodes it, the answer. It keeps what it has of a header for another
// call after an error; any other error stays.
func (c *guardedConn) next() error {
	if c.failed != nil {
		return c.failed
	}
	token := c.waitsForToken()
	header := c.answer[:]
	if token {
		header = header[:4]
	}
	for c.read < len(header) {
		n, err := c.Conn.Read(header[c.read:])
		c.read += n
		if err != nil && c.read < len(header) {
			if c.read > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	c.read = 0
	size := int(int32(binary.BigEndian.Uint32(header)))
	if token {
		c.mu.Lock()
		c.tokens--
		c.mu.Unlock()
		if size < 0 || size > maxToken {
			c.failed = fmt.Errorf("the broker's answer to a login claims %d bytes, at most %d are taken", size, maxToken)
			return c.failed
		}
		c.ready, c.pass = header, size
		return nil
	}
	c.failed = c.take(header, size)
	return c.failed
}

// waitsForToken reports whether the next answer is one to a token.
func (c *guardedConn) waitsForToken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tokens > 0
}

// take looks at the answer whose header has been read.
func (c *guardedConn) take(header []byte, size int) error {
	id := int32(binary.BigEndian.Uint32(header[4:]))
	c.mu.Lock()
	q, ok := c.asked[id]
	delete(c.asked, id)
	c.mu.Unlock()
	switch {
	case !ok:
		return fmt.Errorf("the broker answers a request that was not made, %d", id)
	case size < 4:
		return fmt.Errorf("the broker's answer to %s claims %d bytes", q, size)
	case q.key == protocol.Fetch:
		c.ready, c.pass = header, size-4
		return nil
	case size > maxAnswer:
		return fmt.Errorf("the broker's answer to %s claims %d bytes, at most %d are taken", q, size, maxAnswer)
	}
	whole := bytes.NewBuffer(append(make([]byte, 0, min(size+4, 4<<10)), header...)) // it grows with what comes
	if _, err := io.CopyN(whole, c.Conn, int64(size-4)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	if err := q.check(whole.Bytes()[len(header):]); err != nil {
		return err
	}
	c.ready = whole.Bytes()
	if (q == question{protocol.SaslAuthenticate, 1}) {
		c.loggedIn(c.ready[len(header):])
	}
	return nil
}
