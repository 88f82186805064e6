//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// plantedSecrets are the secrets of TestSecrets: of a variable, of a file, and of the variable after a change.
var plantedSecrets = []string{"vArIaBlE-planted-secret", "fIlE-planted-secret", "wRoNg-planted-secret"}

// secretConfig has a secret wherever one may stand.
func secretConfig(broker, dir, password string) string {
	return fmt.Sprintf(`source:
  kafka:
    brokers: [%q]
    topics: [clicks]
    group: g
    connect_timeout: 2s
    sasl: {mechanism: plain, username: mill, password: %q}
sink: {ndjson: {path: %q}, roll: {rows: 1}}
admin: {listen: "127.0.0.1:0", token: "${file:token}", pprof: true}
tracing: {endpoint: "http://127.0.0.1:9", token: "${PLANTED}", sample: 1}
log: {level: debug}
`, broker, password, filepath.Join(dir, "out"))
}

// noSecret checks that a text has none of the secrets, nor something that it could be read from.
func noSecret(t *testing.T, where, text string) {
	t.Helper()
	for _, s := range plantedSecrets {
		if strings.Contains(strings.ToLower(text), strings.ToLower(s)) {
			t.Errorf("%s has a secret:\n%s", where, text)
		}
	}
}

// TestSecrets plants secrets in a variable and a file, and looks for them in everything that urlmill says: of a
// configuration that is right, one that is wrong, one that brokers refuse, and one that changes while it runs.
func TestSecrets(t *testing.T) {
	cluster := kafkatest.Fake(t, kfake.SeedTopics(1, "clicks"), kfake.EnableSASL(), kfake.Superuser("PLAIN", "mill", plantedSecrets[0]))
	broker := cluster.ListenAddrs()[0]
	client := kafkatest.Client(t, cluster.ListenAddrs(), kgo.SASL(plain.Auth{User: "mill", Pass: plantedSecrets[0]}.AsMechanism()))
	kafkatest.Produce(t, client, []*kgo.Record{{Topic: "clicks", Value: []byte("https://example.com/")}})
	dir := t.TempDir()
	file := filepath.Join(dir, "c.yaml")
	writeFile(t, dir, "token", plantedSecrets[1]+"\n")
	writeFile(t, dir, "c.yaml", secretConfig(broker, dir, "${PLANTED}"))
	t.Setenv("PLANTED", plantedSecrets[0])

	for name, args := range map[string][]string{
		"lint": {"lint", file}, "dry-run": {"dry-run", file, "--log-level", "debug"}, "dry-run in JSON": {"dry-run", file, "--log-format", "json"},
	} {
		out, err := process(t, args...).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		noSecret(t, name, string(out))
	}

	writeFile(t, dir, "wrong.yaml", secretConfig(broker, dir, "${PLANTED}")+"on_error: ${PLANTED}\nmemory_limit: ${file:token}\ncolumns: {include: ['${PLANTED}']}\n")
	out, err := process(t, "lint", filepath.Join(dir, "wrong.yaml")).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "on_error") {
		t.Errorf("lint of what is wrong: %v\n%s", err, out)
	}
	noSecret(t, "lint of what is wrong", string(out))

	writeFile(t, dir, "refused.yaml", secretConfig(broker, dir, plantedSecrets[2]))
	refused := process(t, "run", filepath.Join(dir, "refused.yaml"))
	if out, err = refused.CombinedOutput(); err == nil {
		t.Errorf("a wrong password is taken:\n%s", out)
	}
	noSecret(t, "run with a wrong password", string(out))

	secretsWhileRunning(t, dir, file, broker)
}

// secretsWhileRunning looks at all pages of a process that runs, and at its log, also after SIGHUP.
func secretsWhileRunning(t *testing.T, dir, file, broker string) {
	cmd := process(t, "run", file)
	var log testproc.Log
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`url=(http://[0-9.:]+/)`)
	eventually(t, &log, func() bool { return address.MatchString(log.String()) && hasRows(t, dir) })
	base := address.FindStringSubmatch(log.String())[1]
	for _, name := range []string{"", "api/status", "metrics", "livez", "readyz", "debug/pprof/cmdline", "debug/pprof/goroutine?debug=2"} {
		noSecret(t, "/"+name+" for strangers", answer(t, base+name, ""))
		noSecret(t, "/"+name, answer(t, base+name, plantedSecrets[1]))
	}
	if status := answer(t, base+"api/status", plantedSecrets[1]); !strings.Contains(status, redactedWord) {
		t.Errorf("the status has no configuration:\n%s", status)
	}
	writeFile(t, dir, "c.yaml", secretConfig(broker, dir, plantedSecrets[2]))
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	eventually(t, &log, func() bool { return strings.Contains(log.String(), "source.kafka.sasl.password") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := wait(t, cmd); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	noSecret(t, "the log", log.String())
	err := filepath.WalkDir(filepath.Join(dir, "out"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		noSecret(t, path, string(text))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

const redactedWord = "[redacted]"

func hasRows(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "out", "*.ndjson*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(files) > 0
}

// answer returns what the listener answers to a request, with a token or without, with its headers.
func answer(t *testing.T, url, token string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	got, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(got.Header) + string(body)
}
