package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// fails runs a source until it gives up by itself, and checks what it says.
func fails(t *testing.T, opts Options, words ...string) {
	t.Helper()
	c := newCollector(t)
	err := startRun(t, opts, c).wait()
	expectError(t, err, words...)
	if len(c.rows) > 0 {
		t.Errorf("%d rows", len(c.rows))
	}
}

// reads runs a source until it has read n records.
func reads(t *testing.T, opts Options, n int) {
	t.Helper()
	opts.Group = "group of " + t.Name()
	c := newCollector(t)
	run := startRun(t, opts, c)
	c.awaitRows(n)
	run.stop()
}

func TestCredentials(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"), kfake.EnableSASL(),
		kfake.Superuser("PLAIN", "ann", "s3cret"), kfake.Superuser("SCRAM-SHA-256", "bob", "s3cret"), kfake.Superuser("SCRAM-SHA-512", "cyd", "s3cret"))
	client := kafkatest.Client(t, k.ListenAddrs(), kgo.SASL(plain.Auth{User: "ann", Pass: "s3cret"}.AsMechanism()))
	kafkatest.Produce(t, client, numbered("t", 1, 0, 10))
	with := func(mechanism, user, password string) Options {
		o := quick(k.ListenAddrs(), "t")
		o.SASL = SASL{Mechanism: mechanism, Username: user, Password: config.Secret(password)}
		return o
	}
	for _, o := range []Options{
		with(MechanismPlain, "ann", "s3cret"),
		with(MechanismScramSHA256, "bob", "s3cret"),
		with(MechanismScramSHA512, "cyd", "s3cret"),
	} {
		t.Run(o.SASL.Mechanism, func(t *testing.T) { reads(t, o, 10) })
		wrong := o
		wrong.SASL.Password = "wr0ng"
		t.Run(o.SASL.Mechanism+" wrong", func(t *testing.T) { fails(t, wrong, "check SASL") })
	}
	t.Run("none", func(t *testing.T) { fails(t, quick(k.ListenAddrs(), "t"), "asks for a login", "set SASL mechanism") })
}

func TestTLS(t *testing.T) {
	noLeaks(t)
	caFile, server := kafkatest.Certificate(t)
	otherCA, _ := kafkatest.Certificate(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"), kfake.TLS(&tls.Config{Certificates: []tls.Certificate{server}, MinVersion: tls.VersionTLS12}))
	plainK := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs(), kgo.DialTLSConfig(kafkatest.ClientTLS(t, caFile)))
	kafkatest.Produce(t, client, numbered("t", 1, 0, 10))
	with := func(c TLS) Options {
		o := quick(k.ListenAddrs(), "t")
		c.Enabled = true
		o.TLS = c
		return o
	}
	t.Run("right", func(t *testing.T) { reads(t, with(TLS{CAFile: caFile}), 10) })
	t.Run("not verified", func(t *testing.T) { reads(t, with(TLS{InsecureSkipVerify: true}), 10) })
	t.Run("name", func(t *testing.T) { reads(t, with(TLS{CAFile: caFile, ServerName: "localhost"}), 10) })
	t.Run("other authority", func(t *testing.T) { fails(t, with(TLS{CAFile: otherCA}), "not trusted", "ca_file") })
	t.Run("system's authorities", func(t *testing.T) { fails(t, with(TLS{}), "not trusted", "ca_file") })
	t.Run("other name", func(t *testing.T) {
		fails(t, with(TLS{CAFile: caFile, ServerName: "kafka.example"}), "for another name", "server_name")
	})
	t.Run("plain text to TLS", func(t *testing.T) { fails(t, quick(k.ListenAddrs(), "t"), "speaks TLS", "enable TLS") })
	t.Run("TLS to plain text", func(t *testing.T) {
		o := with(TLS{CAFile: caFile})
		o.Brokers = plainK.ListenAddrs()
		o.DialTimeout = time.Second // it waits for the rest of what the handshake looks like to it
		fails(t, o, "disable TLS")
	})
}

func TestClientCertificate(t *testing.T) {
	noLeaks(t)
	caFile, server := kafkatest.Certificate(t)
	authorities := kafkatest.ClientTLS(t, caFile).RootCAs
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"), kfake.TLS(&tls.Config{
		Certificates: []tls.Certificate{server}, ClientCAs: authorities, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	}))
	certFile, keyFile := writePair(t, server)
	config := kafkatest.ClientTLS(t, caFile)
	config.Certificates = []tls.Certificate{server}
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs(), kgo.DialTLSConfig(config)), numbered("t", 1, 0, 10))
	o := quick(k.ListenAddrs(), "t")
	o.TLS = TLS{Enabled: true, CAFile: caFile}
	t.Run("without", func(t *testing.T) { fails(t, o, "client certificate") })
	o.TLS.CertFile, o.TLS.KeyFile = certFile, keyFile
	t.Run("with", func(t *testing.T) { reads(t, o, 10) })
}

// writePair writes the certificate and the key of pair to PEM files.
func writePair(t *testing.T, pair tls.Certificate) (certFile, keyFile string) {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", pair.Certificate[0]), write("key.pem", "PRIVATE KEY", key)
}

// TestForbidden logs in as a user who may do nothing.
func TestForbidden(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"), kfake.EnableSASL(), kfake.EnableACLs(),
		kfake.Superuser("PLAIN", "root", "s3cret"), kfake.User("PLAIN", "ann", "s3cret"))
	o := quick(k.ListenAddrs(), "t")
	o.SASL = SASL{Mechanism: MechanismPlain, Username: "ann", Password: "s3cret"}
	fails(t, o, "Read and Describe", `"t"`)
}

// TestListenerThatHangsUp talks to a listener that says nothing about why.
func TestListenerThatHangsUp(t *testing.T) {
	noLeaks(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-served
	})
	// Nothing is known about such a listener: it may be a broker that goes down.
	o := quick([]string{l.Addr().String()}, "t")
	o.ConnectTimeout = 1
	fails(t, o, "no broker of")
}
