package doctest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// setting returns a setting of the filter on the page, as Logstash reads it: a string in double quotes, without escapes.
func setting(t *testing.T, filter, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(filter, name+` => "`)
	value, _, closed := strings.Cut(rest, `"`)
	if !ok || !closed || strings.Contains(value, `\`) {
		t.Fatalf("no setting %s without escapes in\n%s", name, filter)
	}
	return value
}

// TestLogstash runs the filter of the page in JRuby for the events of eight workers, and has urlmill killed meanwhile: every
// event has to get the parts of its own URL. It is run with the locale that Logstash sets, and with none.
func TestLogstash(t *testing.T) {
	jar := hostProgram(t, "jruby-complete.jar")
	java, err := exec.LookPath("java")
	if err != nil {
		missing(t, "there is no java: apt-get install openjdk-17-jre-headless")
	}
	const events = 20_000
	var in bytes.Buffer
	for i := range events {
		url := fmt.Sprintf(`"https://bücher%d.example/ü%d?q=\"\n"`, i, i)
		switch i % 10 {
		case 1:
			url = `"https://1.2.3.300/"`
		case 2:
			url = "null"
		}
		fmt.Fprintf(&in, "{\"id\":%d,\"url\":%s}\n", i, url)
	}
	filter := fenced(t, "logstash.md", "")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "init"), setting(t, filter, "init"), 0o600)
	write(t, filepath.Join(dir, "code"), setting(t, filter, "code"), 0o600)
	script, err := filepath.Abs(filepath.Join("testdata", "logstash.rb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, locale := range []string{"C.UTF-8", "C"} {
		cmd := exec.CommandContext(t.Context(), java, "-jar", jar, script, "init", "code", "8", "pids")
		cmd.Dir = dir
		cmd.Env = append(wrap(t, dir, notePID(dir)), "LC_ALL="+locale)
		cmd.Stdin = bytes.NewReader(in.Bytes())
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil || said.Len() > 0 {
			t.Fatalf("%s: %v\n%.4000s", locale, err, said.Bytes())
		}
		checkEvents(t, events, out)
	}
	if n := len(pids(t, dir)); n != 6 {
		t.Errorf("urlmill was started %d times, of 2 runs with 2 kills each", n)
	}
}

func checkEvents(t *testing.T, events int, out []byte) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSuffix(out, []byte("\n")), []byte("\n"))
	if len(lines) != events {
		t.Fatalf("%d events of %d", len(lines), events)
	}
	for i, line := range lines {
		var event struct {
			ID     int
			Tags   []string
			Parsed struct{ Href, Error string }
		}
		if err := json.Unmarshal(line, &event); err != nil || event.ID != i || len(event.Tags) > 0 {
			t.Fatalf("event %d is %s, %v", i, line, err)
		}
		href, failure := "", ""
		switch i % 10 {
		case 1:
			failure = "IPv4-out-of-range-part"
		case 2:
			failure = "missing-scheme-non-relative-URL"
		default:
			href = fmt.Sprintf("/%%C3%%BC%d?q=%%22", i)
		}
		if event.Parsed.Error != failure || !strings.HasSuffix(event.Parsed.Href, href) || !strings.HasPrefix(event.Parsed.Href, "https://xn--bcher") == (href != "") {
			t.Fatalf("event %d is %s", i, line)
		}
	}
}
