package doctest

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
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

// host starts a command of a configuration. It has to end by itself, with 0, when done is called.
func host(t *testing.T, command []string) (in io.Writer, out *bufio.Reader, done func()) {
	t.Helper()
	if command[0] != "urlmill" {
		t.Fatalf("command %q", command)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(build(t), "urlmill"), command[1:]...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
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
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// TestRedpandaConnect does with the command of the page's configuration what the processor does: it writes length and message
// one after the other, and reads the answer before the next.
func TestRedpandaConnect(t *testing.T) {
	var c struct {
		Pipeline struct {
			Processors []struct {
				Branch struct {
					Processors []struct {
						Subprocess struct {
							Name      string
							Args      []string
							CodecSend string `yaml:"codec_send"`
							CodecRecv string `yaml:"codec_recv"`
						}
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(fenced(t, "redpanda-connect.md", "yaml")), &c); err != nil {
		t.Fatal(err)
	}
	s := c.Pipeline.Processors[0].Branch.Processors[0].Subprocess
	if s.CodecSend != "length_prefixed_uint32_be" || s.CodecRecv != s.CodecSend {
		t.Fatalf("%+v", s)
	}
	in, out, done := host(t, append([]string{s.Name}, s.Args...))
	for range 20 {
		const message = "{\"input\":\"../x\",\n\"base\":\"http://h/a/b\"}"
		for _, part := range [][]byte{binary.BigEndian.AppendUint32(nil, uint32(len(message))), []byte(message)} {
			if _, err := in.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		var head [4]byte
		if _, err := io.ReadFull(out, head[:]); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(out, answer); err != nil {
			t.Fatal(err)
		}
		var got struct{ Href string }
		if err := json.Unmarshal(answer, &got); err != nil || got.Href != "http://h/x" {
			t.Fatalf("%s: %v", answer, err)
		}
	}
	done()
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
	for _, page := range []string{"vector.md", "kafka.md", "clickhouse.md"} {
		var any map[string]any
		if err := yaml.Unmarshal([]byte(fenced(t, page, "yaml")), &any); err != nil || len(any) == 0 {
			t.Errorf("%s: %v", page, err)
		}
	}
}
