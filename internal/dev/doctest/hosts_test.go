package doctest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// fenced returns the first block of a language in a page of docs/plugins.
func fenced(t *testing.T, page, language string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "plugins", page))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```"+language+"\n")
	block, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("%s has no block of %s", page, language)
	}
	return block
}

// host starts a command of a configuration. It has to end by itself, with 0, when done is called, and to say nothing on
// standard error, which makes messages fail in some hosts.
func host(t *testing.T, command []string) (in io.Writer, out *bufio.Reader, done func()) {
	t.Helper()
	if command[0] != "urlmill" {
		t.Fatalf("command %q", command)
	}
	cmd := exec.CommandContext(t.Context(), testproc.Urlmill(t), command[1:]...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out = bufio.NewReader(stdout)
	return stdin, out, func() {
		if err := stdin.Close(); err != nil {
			t.Error(err)
		}
		if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
			t.Errorf("%q, %v behind the last answer", rest, err)
		}
		if err := cmd.Wait(); err != nil || said.Len() > 0 {
			t.Errorf("%v: %s", err, said.Bytes())
		}
	}
}

// TestTelegraf writes metrics to the command of the page's configuration as the processor does.
func TestTelegraf(t *testing.T) {
	_, rest, ok := strings.Cut(fenced(t, "telegraf.md", "toml"), "command = ")
	list, _, _ := strings.Cut(rest, "\n")
	var command []string
	if err := json.Unmarshal([]byte(list), &command); err != nil || !ok {
		t.Fatalf("%q: %v", list, err)
	}
	in, out, done := host(t, command)
	for range 20 {
		if _, err := io.WriteString(in, "nginx_access,host=a url=\"http://a.com/b\",ms=3i 1\n"); err != nil {
			t.Fatal(err)
		}
		const want = "nginx_access,host=a url=\"http://a.com/b\",ms=3i,url_scheme=\"http\",url_host=\"a.com\",url_registrable_domain=\"a.com\",url_path=\"/b\" 1\n"
		if got, err := out.ReadString('\n'); err != nil || got != want {
			t.Fatalf("%q, %v", got, err)
		}
	}
	done()
}

// TestHostsIndex checks that every page of docs/plugins is in its index, and that the configurations in YAML are that.
func TestHostsIndex(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(root, "docs", "plugins", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "plugins", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(string(index), "("+name+")") {
			t.Errorf("%s is not in the index", name)
		}
	}
	for _, page := range []string{"vector.md", "redpanda-connect.md", "kafka.md", "clickhouse.md"} {
		var any map[string]any
		if err := yaml.Unmarshal([]byte(fenced(t, page, "yaml")), &any); err != nil || len(any) == 0 {
			t.Errorf("%s: %v", page, err)
		}
	}
}
