package kafkatest_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// echo answers every connection with what it is sent.
func echo(t *testing.T) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return l.Addr().String()
}

// exchange sends a frame and returns what comes back.
func exchange(c net.Conn, size int) ([]byte, error) {
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(size)), make([]byte, size)...)
	go func() { _, _ = c.Write(frame) }()
	answer := make([]byte, len(frame))
	_, err := io.ReadFull(c, answer)
	return answer, err
}

func broken(t *testing.T, c net.Conn) {
	t.Helper()
	if _, err := exchange(c, 10); err == nil {
		t.Error("the connection is not broken")
	}
}

func TestProxy(t *testing.T) {
	p, err := kafkatest.NewProxy(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}

	c := dial()
	if answer, err := exchange(c, 100_000); err != nil || bytes.Count(answer[4:], []byte{0}) != 100_000 {
		t.Fatal(err)
	}
	p.Flip(1)
	for _, frame := range []struct{ size, changed int }{{1000, 0}, {100_000, 1}, {100_000, 0}} {
		answer, err := exchange(c, frame.size)
		if err != nil {
			t.Fatal(err)
		}
		if changed := frame.size - bytes.Count(answer[4:], []byte{0}); changed != frame.changed {
			t.Errorf("%d of %d bytes are changed", changed, frame.size)
		}
	}
	if p.Flipped() != 1 {
		t.Errorf("%d frames changed", p.Flipped())
	}
	p.Drop()
	broken(t, c)
	c = dial()
	p.Cut()
	broken(t, c)
	broken(t, dial())
	p.Restore()
	c = dial()
	if _, err := exchange(c, 10); err != nil {
		t.Fatal(err)
	}
	checkHang(t, p, c)
	p.Slow(100_000)
	began := time.Now()
	if _, err := exchange(c, 50_000); err != nil || time.Since(began) < 400*time.Millisecond {
		t.Errorf("50 kB at 100 kB/s took %v, %v", time.Since(began), err)
	}
}

// checkHang checks that nothing comes through a proxy that hangs, and all of it afterwards.
func checkHang(t *testing.T, p *kafkatest.Proxy, c net.Conn) {
	t.Helper()
	p.Hang()
	done := make(chan error, 1)
	go func() {
		_, err := exchange(c, 10)
		done <- err
	}()
	select {
	case err := <-done:
		t.Errorf("something comes through a proxy that hangs: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	p.Restore()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
