package kubernetes

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const token = "0123456789abcdef0123456789abcdef"

// TestProbes runs the pipeline of a rendering, with brokers that are not there, and asks what the kubelet and Prometheus ask.
func TestProbes(t *testing.T) {
	bin, dir := binary(t), t.TempDir()
	certificate(t, dir)
	port := freePort(t)
	set, err := gather(mustRender(t, clicksWith(t, fmt.Sprintf(`
config: {source: {kafka: {brokers: ["127.0.0.1:1"]}}, sink: {parquet: {path: %q}}}
admin: {port: %d}
volumes: [{name: lake, emptyDir: {}}]
volumeMounts: [{name: lake, mountPath: %q}]
`, filepath.Join(dir, "out"), port, dir))))
	if err != nil {
		t.Fatal(err)
	}
	c := set.deployment.Spec.Template.Spec.Containers[0]
	file := filepath.Join(dir, "pipeline.yaml")
	text := strings.ReplaceAll(set.config.Data["pipeline.yaml"], "/etc/urlmill/tls", dir)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	mill := exec.Command(bin, append([]string{c.Args[0], file}, c.Args[2:]...)...)
	mill.Stderr = &log
	for name := range variables(c) {
		mill.Env = append(mill.Env, name+"="+token)
	}
	if err := mill.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- mill.Wait() }()
	t.Cleanup(func() {
		_ = mill.Process.Signal(syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(2 * time.Minute):
			_ = mill.Process.Kill()
			<-done
		}
		if t.Failed() {
			t.Log(log.String())
		}
	})
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	base := fmt.Sprintf("https://127.0.0.1:%d", port)
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		select {
		case err := <-done:
			done <- err
			t.Fatalf("it ended: %v", err)
		default:
		}
		if status, _ := get(client, base+c.StartupProbe.HTTPGet.Path, ""); status == http.StatusOK {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("%s: %d", c.StartupProbe.HTTPGet.Path, status)
		}
	}
	for probe, want := range map[*corev1.Probe][]int{c.LivenessProbe: {200}, c.ReadinessProbe: {200, 503}} {
		status, _ := get(client, base+probe.HTTPGet.Path, "")
		if status != want[0] && status != want[len(want)-1] {
			t.Errorf("%s: %d", probe.HTTPGet.Path, status)
		}
	}
	if status, _ := get(client, base+"/metrics", ""); status != http.StatusUnauthorized {
		t.Errorf("/metrics without the token: %d", status)
	}
	// The metric that an autoscaler follows.
	if status, body := get(client, base+"/metrics", token); status != http.StatusOK || !strings.Contains(body, "\nurlmill_lag_total_records ") {
		t.Errorf("/metrics: %d\n%s", status, body)
	}
}

// get returns the status and the body of an answer, or 0 where there is none.
func get(client *http.Client, url, token string) (int, string) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, err.Error()
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(body)
}

// freePort returns a port that nothing listens at, and that no system hands out by itself until it is listened at.
func freePort(t *testing.T) int {
	t.Helper()
	for {
		port := 10_000 + mathrand.IntN(10_000)
		if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			l.Close()
			return port
		}
	}
}

// certificate writes a certificate and its key, named as in a Secret of type kubernetes.io/tls.
func certificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), DNSNames: []string{"urlmill"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: der}, "tls.key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
