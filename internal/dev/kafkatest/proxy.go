package kafkatest

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// Proxy is a TCP proxy in front of a server, which can be told to fail as networks do. Its methods may be called from
// several goroutines.
type Proxy struct {
	listener net.Listener
	target   string

	mu      sync.Mutex
	conns   map[net.Conn]struct{}
	cut     bool
	hung    chan struct{} // closed when it goes on; nil while it does
	perSec  int           // bytes, 0: no limit
	flips   int           // frames still to be damaged
	flipped int
	closed  bool
	running sync.WaitGroup
}

// flipFrom is the size from which a frame is damaged when that is asked for: answers with records are larger, what
// the protocol needs to go on is smaller.
const flipFrom = 16 << 10

// NewProxy returns a proxy on a free port of 127.0.0.1.
func NewProxy(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, target: target, conns: map[net.Conn]struct{}{}}
	p.running.Go(p.accept)
	return p, nil
}

// Addr is the address that the proxy listens on.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Drop breaks all connections. New ones are taken.
func (p *Proxy) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop()
}

func (p *Proxy) drop() {
	for c := range p.conns {
		_ = c.Close()
	}
}

// Cut breaks all connections and every new one, until Restore.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	p.drop()
}

// Hang lets nothing through any more, and leaves connections open, until Restore.
func (p *Proxy) Hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hung == nil {
		p.hung = make(chan struct{})
	}
}

// Slow lets so many bytes a second through, in each direction of each connection, until Restore.
func (p *Proxy) Slow(bytesPerSecond int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.perSec = bytesPerSecond
}

// Flip changes a byte in the middle of each of the next n large answers of a Kafka broker.
func (p *Proxy) Flip(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flips = n
}

// Flipped returns how many answers were changed so far.
func (p *Proxy) Flipped() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flipped
}

// Restore ends what Cut, Hang, Slow and Flip have begun.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.perSec, p.flips = false, 0, 0
	p.resume()
}

func (p *Proxy) resume() {
	if p.hung != nil {
		close(p.hung)
		p.hung = nil
	}
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	err := p.listener.Close()
	p.resume()
	p.drop()
	p.mu.Unlock()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.DialTimeout("tcp", p.target, 10*time.Second)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.add(client, server) {
		return
	}
	defer p.remove(client, server)
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client, false) })
	both.Go(func() { p.copy(client, server, true) })
	both.Wait()
}

func (p *Proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut || p.closed {
		return false
	}
	for _, c := range conns {
		p.conns[c] = struct{}{}
	}
	return true
}

func (p *Proxy) remove(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.conns, c)
	}
}

// copy moves bytes in one direction until either side ends, and ends both then.
func (p *Proxy) copy(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	var frames frames
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if answers {
				frames.pass(buf[:n], p.damage)
			}
			p.delay(n)
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if half, ok := to.(interface{ CloseWrite() error }); ok && errors.Is(err, io.EOF) {
				_ = half.CloseWrite()
			}
			return
		}
	}
}

// delay waits as long as n bytes take.
func (p *Proxy) delay(n int) {
	p.mu.Lock()
	hung, perSec := p.hung, p.perSec
	p.mu.Unlock()
	if hung != nil {
		<-hung
	}
	if perSec > 0 {
		time.Sleep(time.Duration(n) * time.Second / time.Duration(perSec))
	}
}

// damage changes a byte if a frame is to be damaged.
func (p *Proxy) damage(b *byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flips > 0 {
		p.flips--
		p.flipped++
		*b ^= 0x10
	}
}

// frames follows the frames of a stream of Kafka's: four bytes of length, and so many bytes.
type frames struct {
	head   [4]byte
	have   int // bytes of head
	left   int // bytes of the frame that are still to come
	middle int // left, where the byte to be damaged is; 0 for none
}

// pass goes over the next bytes, and calls damage with the byte in the middle of every large frame.
func (f *frames) pass(b []byte, damage func(*byte)) {
	for len(b) > 0 {
		if f.left == 0 {
			n := copy(f.head[f.have:], b)
			f.have, b = f.have+n, b[n:]
			if f.have == len(f.head) {
				f.have, f.left, f.middle = 0, int(binary.BigEndian.Uint32(f.head[:])), 0
				if f.left >= flipFrom {
					f.middle = f.left / 2
				}
			}
			continue
		}
		n := min(len(b), f.left)
		if at := f.left - f.middle; f.middle > 0 && at < n {
			damage(&b[at])
			f.middle = 0
		}
		f.left -= n
		b = b[n:]
	}
}
