package admin

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"
)

// Files that are replaced are what is shown from then on; while they do not fit each other, the old ones are, and that is said once.
func TestReplacedCertificate(t *testing.T) {
	certFile, keyFile, _ := certificate(t)
	otherCert, otherKey, _ := certificate(t)
	var log bytes.Buffer
	k, err := newKeyPair(certFile, keyFile, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	shows := func(what, file string, said ...string) {
		t.Helper()
		log.Reset()
		for range 2 { // the second time nothing has changed
			got, err := k.get(nil)
			if err != nil {
				t.Fatal(err)
			}
			want, err := tls.LoadX509KeyPair(file, strings.Replace(file, "cert.pem", "key.pem", 1))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Certificate[0], want.Certificate[0]) {
				t.Errorf("%s: another certificate is shown", what)
			}
		}
		if lines := strings.Count(log.String(), "\n"); lines != len(said) || len(said) > 0 && !strings.Contains(log.String(), said[0]) {
			t.Errorf("%s: said %q, want %q", what, log.String(), said)
		}
	}
	copies := 0
	copied := func(from, to string) {
		t.Helper()
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+".new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		// Within a tick of the file system's clock, a file of the same size in the place of another could be that one.
		copies++
		if err := os.Chtimes(to+".new", time.Time{}, time.Now().Add(time.Duration(copies)*time.Second)); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(to+".new", to); err != nil {
			t.Fatal(err)
		}
	}
	original := t.TempDir() + "/cert.pem"
	copied(certFile, original)
	copied(keyFile, strings.Replace(original, "cert.pem", "key.pem", 1))

	shows("at first", original)
	copied(otherCert, certFile)
	shows("half way", original, "keeps its old certificate")
	copied(otherKey, keyFile)
	shows("replaced", otherCert, "has another certificate")
	if err := os.Remove(certFile); err != nil {
		t.Fatal(err)
	}
	shows("removed", otherCert, "keeps its old certificate")
	copied(otherCert, certFile)
	shows("put back", otherCert, "has another certificate")

	if _, err := newKeyPair(certFile+".not", keyFile, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a file that is not there is no error")
	}
}
