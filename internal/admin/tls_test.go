package admin

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// certificate writes a server's certificate for 127.0.0.1 and its key, and returns the files and a client that trusts it.
func certificate(t *testing.T) (certFile, keyFile string, client *http.Client) {
	t.Helper()
	authority, server := kafkatest.Certificate(t)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	key, err := x509.MarshalPKCS8PrivateKey(server.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: server.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots := x509.NewCertPool()
	text, err := os.ReadFile(authority)
	if err != nil || !roots.AppendCertsFromPEM(text) {
		t.Fatalf("no authority: %v", err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	return certFile, keyFile, &http.Client{Transport: transport}
}

// TestTLS listens for everybody, which takes a token and a certificate.
func TestTLS(t *testing.T) {
	certFile, keyFile, client := certificate(t)
	m := newWatched(time.Hour, nil).monitor
	s := started(t, Options{Listen: "0.0.0.0:0", Token: "0123456789abcdef", CertFile: certFile, KeyFile: keyFile}, m)
	address := strings.Replace(strings.Replace(s.URL(), "0.0.0.0", "127.0.0.1", 1), "[::]", "127.0.0.1", 1)
	if !strings.HasPrefix(address, "https://") {
		t.Fatal(address)
	}
	ask := func(path, token string) (int, string) {
		t.Helper()
		r, err := http.NewRequest("GET", address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.SetBasicAuth("anybody", token)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.TLS.Version < tls.VersionTLS12 {
			t.Errorf("TLS version %x", answer.TLS.Version)
		}
		return answer.StatusCode, answer.Header.Get("Content-Security-Policy")
	}
	for path, want := range map[string]int{"": 401, "metrics": 401, "readyz": 200} {
		if code, _ := ask(path, ""); code != want {
			t.Errorf("%s without a token: %d, want %d", path, code, want)
		}
	}
	if code, policy := ask("", "0123456789abcdef"); code != 200 || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("with it: %d, %s", code, policy)
	}
	// An older TLS, and none at all, are not answered.
	old := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11}}}
	if answer, err := old.Get(address + "readyz"); err == nil {
		_ = answer.Body.Close()
		t.Error("TLS 1.1 is taken")
	}
	if answer, err := client.Get("http" + strings.TrimPrefix(address, "https") + "readyz"); err == nil {
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			t.Error("it answers without TLS")
		}
	}
	for _, o := range []Options{{CertFile: certFile, KeyFile: certFile}, {CertFile: "nowhere.pem", KeyFile: keyFile}} {
		o.Listen = "127.0.0.1:0"
		if _, err := Start(o, m, slog.Default()); err == nil || !strings.Contains(err.Error(), "admin: certificate: ") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
