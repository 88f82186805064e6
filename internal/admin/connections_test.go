package admin

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// flood opens connections to a server and leaves them open. Every other one has asked and keeps waiting for more, and of the
// others one half says nothing and one half begins a request that it does not end.
func flood(t *testing.T, address string, n int, secure *tls.Config) (open []net.Conn) {
	t.Helper()
	for i := range n {
		raw, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		open = append(open, raw)
		switch {
		case i%2 == 0 && secure != nil:
			_, _ = io.WriteString(raw, "\x16\x03\x01\x02\x00") // of a handshake
		case i%2 == 0:
			_, _ = io.WriteString(raw, "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		case i%4 == 1:
			_, _ = io.WriteString(raw, "GET /livez HTTP/1.1\r\nHost: 127")
		}
	}
	return open
}

// TestFlood checks that thousands of connections leave the pipeline its files, and probes their answers.
func TestFlood(t *testing.T) {
	certFile, keyFile, client := certificate(t)
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint("TLS ", secure), func(t *testing.T) {
			o := Options{Listen: "127.0.0.1:0"}
			var config *tls.Config
			get := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			if secure {
				o.CertFile, o.KeyFile = certFile, keyFile
				get = *client
				config = client.Transport.(*http.Transport).TLSClientConfig
			}
			s := started(t, o, newWatched(time.Hour, nil).monitor)
			const rounds, each = 10, 300
			for range rounds {
				for _, c := range flood(t, s.listener.Addr().String(), each, config) {
					t.Cleanup(func() { _ = c.Close() })
				}
				answer, err := get.Get(s.URL() + "livez")
				if err != nil {
					t.Fatal(err)
				}
				_ = answer.Body.Close()
				if answer.StatusCode != http.StatusOK {
					t.Errorf("status %d", answer.StatusCode)
				}
			}
			l := s.listener.(*connections)
			l.mu.Lock()
			defer l.mu.Unlock()
			if len(l.open) > maxConnections {
				t.Errorf("%d connections are open", len(l.open))
			}
		})
	}
}

// TestAnswersStay checks that connections whose requests are being answered stay, and that of the others those of the peer go
// that has most.
func TestAnswersStay(t *testing.T) {
	release := make(chan struct{})
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newConnections(raw, 4)
	asked := make(chan struct{}, 8)
	server := http.Server{ConnContext: withConnection, Handler: counted(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-release
		_, _ = io.WriteString(w, "done")
	}))}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	defer func() {
		_ = server.Close()
		<-ended
	}()
	dial := func(from string) net.Conn {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.Dial("tcp", raw.Addr().String())
		if err != nil {
			if from != "127.0.0.1" {
				t.Skipf("this system has no address %s: %v", from, err)
			}
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	busy := dial("127.0.0.1")
	_, _ = io.WriteString(busy, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	<-asked
	other := dial("127.0.0.2")
	for range 20 {
		dial("127.0.0.1")
	}
	close(release)
	for name, c := range map[string]net.Conn{"busy": busy, "of another peer": other} {
		if c == other {
			_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if !strings.Contains(string(text), "done") {
			t.Errorf("%s: %q", name, text)
		}
	}
}
