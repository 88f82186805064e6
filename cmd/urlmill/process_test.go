package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/drain"
	"github.com/urlmill/urlmill/internal/dev/conformance"
)

// process is urlmill running as a process of its own. testscript has put a link to this test binary into PATH under
// that name.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "urlmill", args...)
	cmd.WaitDelay = 5 * time.Minute
	return cmd
}

// TestCoprocess drives "urlmill url --ndjson" one line at a time: each answer is read before the next line is
// written.
func TestCoprocess(t *testing.T) {
	cmd := process(t, "url", "--ndjson")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(out)
	for i := range 50 {
		if _, err := fmt.Fprintf(in, "{\"input\":\"/p%d\",\"base\":\"https://example.com\"}\n", i); err != nil {
			t.Fatal(err)
		}
		if !answers.Scan() {
			t.Fatalf("no answer %d: %v", i, answers.Err())
		}
		var answer struct{ Pathname string }
		if err := json.Unmarshal(answers.Bytes(), &answer); err != nil || answer.Pathname != fmt.Sprintf("/p%d", i) {
			t.Fatalf("answer %d is %s, %v", i, answers.Bytes(), err)
		}
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if answers.Scan() {
		t.Errorf("an answer too many: %s", answers.Bytes())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestEndsWhenRead checks that urlmill stays until its output has been read: a host may close the pipe once it has ended.
func TestEndsWhenRead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what is in a pipe")
	}
	for _, mode := range [][]string{{"--line-protocol", "url"}, {"--ndjson"}} {
		cmd := process(t, append([]string{"url"}, mode...)...)
		cmd.Stdin = strings.NewReader("{\"input\":\"x:y\"}\n")
		out, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = out.Close() })
		cmd.Stdout = w
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		first := make([]byte, 1)
		if _, err := out.Read(first); err != nil { // it has answered, and has nothing more to do
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if time.Since(began) < drain.Patience {
				t.Fatalf("%v: it has ended before its output was read: %v", mode, err)
			}
			ended <- err
		case <-time.After(200 * time.Millisecond):
		}
		if rest, err := io.ReadAll(out); err != nil || !bytes.HasSuffix(rest, []byte("\n")) {
			t.Errorf("%v: %q, %v", mode, rest, err)
		}
		if err := <-ended; err != nil {
			t.Errorf("%v: %v", mode, err)
		}
	}
}

// TestConformance puts every entry of urltestdata.json through the command, as one file.
func TestConformance(t *testing.T) {
	type entry struct {
		Input   string  `json:"input"`
		Base    *string `json:"base"`
		Failure bool    `json:"failure"`
		Href    string  `json:"href"`
		Origin  *string `json:"origin"`
		Host    string  `json:"host"`
	}
	cases := conformance.Cases[entry](t, "urltestdata.json")
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, c := range cases {
		if err := enc.Encode(map[string]any{"input": c.Input, "base": c.Base}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "in.ndjson")
	if err := os.WriteFile(path, in.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	cmd := process(t, "url", "--ndjson")
	cmd.Stdin = file
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(cases) {
		t.Fatalf("%d answers to %d lines", len(lines), len(cases))
	}
	passed := 0
	for i, c := range cases {
		var got struct {
			Href, Origin, Host string
			Error              *string
		}
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
			t.Fatal(err)
		}
		wrongOrigin := c.Origin != nil && *c.Origin != got.Origin
		if c.Failure != (got.Error != nil) || !c.Failure && (c.Href != got.Href || c.Host != got.Host || wrongOrigin) {
			t.Errorf("%q base %v: %s", c.Input, c.Base, lines[i])
			continue
		}
		passed++
	}
	t.Logf("%d of %d passed", passed, len(cases))
}

// TestLintBadConfigurations checks that "urlmill lint" says of every bad configuration what package wire expects.
func TestLintBadConfigurations(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "internal", "wire")) // paths in a configuration are those of the working directory
	files, err := filepath.Glob(filepath.Join("testdata", "bad", "*.yaml"))
	if err != nil || len(files) < 60 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var want strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if rest, ok := strings.CutPrefix(line, "# want "); ok {
				want.WriteString(file + ":" + rest)
			}
		}
	}
	const secret = "hunter2"
	cmd := process(t, append([]string{"lint"}, files...)...)
	cmd.Env = append(os.Environ(), "PASSWORD="+secret, "BROKERS=b:1", "TOPIC=t", "TLS=true", "SIZE=1MiB", "BUFFERS=2", "EMPTY=")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != exitUsage {
		t.Errorf("exit code %d, %v", code, err)
	}
	if stdout.Len() > 0 {
		t.Errorf("standard output: %s", &stdout)
	}
	if got := stderr.String(); got != want.String() {
		gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want.String(), "\n")
		for i := range min(len(gotLines), len(wantLines)) {
			if gotLines[i] != wantLines[i] {
				t.Fatalf("line %d:\n got %s\nwant %s", i+1, gotLines[i], wantLines[i])
			}
		}
		t.Fatalf("%d lines, want %d", len(gotLines), len(wantLines))
	}
	if strings.Contains(stderr.String(), secret) {
		t.Error("the secret is in the output")
	}
}
