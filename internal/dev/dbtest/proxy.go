package dbtest

import (
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// Proxy stands between a process and its server, and can kill the process at what passes by.
type Proxy struct {
	Address string

	server string
	mu     sync.Mutex
	watch  func(toServer bool, data []byte) Verdict
	kill   func()
}

// Verdict says what becomes of data.
type Verdict int

const (
	// Pass lets it go on.
	Pass Verdict = iota
	// KillBefore kills the process, and the data is lost.
	KillBefore
	// KillWithin kills the process when half of the data has reached the server.
	KillWithin
	// KillAfter kills the process when the data has reached the server, so that no answer comes back.
	KillAfter
)

// NewProxy listens until the test ends.
func NewProxy(tb testing.TB, server string) *Proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{Address: l.Addr().String(), server: server}
	var all sync.WaitGroup
	tb.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.serve(c) })
		}
	})
	return p
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	var both sync.WaitGroup
	both.Go(func() { p.pump(server, client, true) })
	both.Go(func() { p.pump(client, server, false) })
	both.Wait()
}

func (p *Proxy) pump(to, from net.Conn, toServer bool) {
	defer to.Close()
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && !p.pass(to, buf[:n], toServer) {
			return
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) pass(to net.Conn, data []byte, toServer bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := Pass
	if p.watch != nil {
		v = p.watch(toServer, data)
	}
	if v == KillBefore {
		p.kill()
		return false
	}
	if v == KillWithin {
		_, _ = to.Write(data[:len(data)/2])
		p.kill()
		return false
	}
	_, err := to.Write(data)
	if v == KillAfter {
		p.kill()
		return toServer // the server is to see all of it
	}
	return err == nil
}

// Run runs a process until it ends. watch, if it is not nil, is asked about all that passes by, until it has the process
// killed. It returns whether that has happened, and else the process's error.
func (p *Proxy) Run(cmd *exec.Cmd, watch func(toServer bool, data []byte) Verdict) (killed bool, err error) {
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	p.mu.Lock()
	p.watch = func(toServer bool, data []byte) Verdict {
		if killed || watch == nil {
			return Pass
		}
		return watch(toServer, data)
	}
	p.kill = func() { killed = true; _ = cmd.Process.Kill() }
	if err := cmd.Start(); err != nil {
		p.mu.Unlock()
		return false, err
	}
	p.mu.Unlock()
	err = cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if killed {
		err = nil
	}
	return killed, err
}
