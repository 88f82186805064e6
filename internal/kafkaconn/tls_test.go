package kafkaconn

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// TestRenewedFiles replaces certificate, key and authorities while a dialer is used: its next connections have them, and files that
// are being written leave it at those that it has.
func TestRenewedFiles(t *testing.T) {
	type party struct {
		authority []byte
		pair      tls.Certificate
		key       []byte
	}
	newParty := func() party {
		file, pair := kafkatest.Certificate(t)
		authority, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		return party{authority, pair, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})}
	}
	old, renewed := newParty(), newParty()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, text []byte) {
		if err := os.WriteFile(at(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	certificate := func(p party) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.pair.Certificate[0]})
	}
	write("ca.pem", old.authority)
	write("cert.pem", certificate(old))
	write("key.pem", old.key)

	var server atomic.Pointer[party]
	server.Store(&old)
	seen := make(chan []byte, 1)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAnyClientCert,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &server.Load().pair, nil },
		VerifyConnection: func(s tls.ConnectionState) error {
			seen <- s.PeerCertificates[0].Raw
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake() // what it is about is in seen
			_ = conn.Close()
		}
	}()
	d, err := NewDialer(Cluster{
		Brokers: []string{l.Addr().String()}, DialTimeout: time.Minute,
		TLS: TLS{Enabled: true, CAFile: at("ca.pem"), CertFile: at("cert.pem"), KeyFile: at("key.pem")},
	})
	if err != nil {
		t.Fatal(err)
	}
	shows := func(what string, want party) {
		t.Helper()
		conn, err := d.dial(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		defer conn.Close() // it was only opened
		if got := <-seen; !bytes.Equal(got, want.pair.Certificate[0]) {
			t.Errorf("%s: another certificate", what)
		}
	}
	shows("at first", old)
	write("cert.pem", certificate(renewed))
	shows("with a key that does not fit yet", old)
	write("key.pem", renewed.key[:20])
	shows("with a key that is being written", old)
	write("key.pem", renewed.key)
	shows("renewed", renewed)
	server.Store(&renewed)
	write("ca.pem", renewed.authority)
	shows("with another authority", renewed)
	if err := os.Remove(at("ca.pem")); err != nil {
		t.Fatal(err)
	}
	shows("without a file", renewed)
}
