package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// page returns what the admin listener at port answers, "" while it does not.
func page(t *testing.T, port int, name string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/%s", port, name))
	if err != nil {
		return ""
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return ""
	}
	return string(body)
}

// TestDeadBroker starts a pipeline whose broker is not there: log, probe, metrics and status page all say so.
func TestDeadBroker(t *testing.T) {
	ports := testproc.Ports(t, 2)
	dir := t.TempDir()
	file := filepath.Join(dir, "c.yaml")
	config := fmt.Sprintf(`source: {kafka: {brokers: ["127.0.0.1:%d"], topics: [clicks], group: g}}
sink: {parquet: {path: %q}, roll: {every: 500ms}}
admin: {listen: "127.0.0.1:%d", stuck_after: 1s}
`, ports[0], filepath.Join(dir, "out"), ports[1])
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := process(t, "run", file)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const wanted = "source: failing for "
	for start := time.Now(); !strings.Contains(page(t, ports[1], "readyz"), wanted); time.Sleep(50 * time.Millisecond) {
		if time.Since(start) > 3*time.Minute {
			t.Errorf("readyz does not say %q: %s", wanted, page(t, ports[1], "readyz"))
			break
		}
	}
	for name, want := range map[string]string{
		"livez": "ok", "metrics": `urlmill_problem{code="source"} 1`, "api/status": `"name":"c, group g"`, "": "<title>urlmill</title>",
	} {
		if got := page(t, ports[1], name); !strings.Contains(got, want) {
			t.Errorf("/%s has no %q:\n%s", name, want, got)
		}
	}
	top, err := process(t, "top", "--once", fmt.Sprintf("127.0.0.1:%d", ports[1])).Output()
	if err != nil || !strings.HasPrefix(string(top), "c, group g: urlmill ") || !strings.Contains(string(top), "\nNOT READY  source: failing for ") {
		t.Errorf("%v\n%s", err, top)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &log)
	}
	if !strings.Contains(log.String(), "no Kafka broker yet") {
		t.Errorf("log: %s", &log)
	}
}
