package doctest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// TestVector does with the command of the page what Vector's source exec does: it starts it without standard input and error, and
// reads lines; at the end it sends SIGTERM to the child, and reads on until the pipe is closed.
func TestVector(t *testing.T) {
	if version, err := exec.Command("tail", "--version").Output(); err != nil || !strings.Contains(string(version), "GNU") {
		t.Skip("there is no tail of GNU, which ends when nobody reads from it: Debian has it in coreutils")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash: apt-get install bash")
	}
	for _, end := range []string{"SIGTERM to the child", "urlmill is killed"} {
		t.Run(end, func(t *testing.T) {
			dir := t.TempDir()
			followed := filepath.Join(dir, "clicks.ndjson")
			write(t, followed, "{\"input\":\"https://before.example/\"}\n", 0o600)
			v := startVector(t, dir, followed)
			log, err := os.OpenFile(followed, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			v.awake(t, log)
			for i := range 3000 {
				fmt.Fprintf(log, "{\"input\":\"https://a.example/%d\"}\n", i)
			}
			for i := range 3000 {
				if line := v.next(t); !strings.Contains(line, fmt.Sprintf(`"href":"https://a.example/%d"`, i)) {
					t.Fatalf("line %d is %q", i, line)
				}
			}
			if end == "urlmill is killed" {
				kill(t, pids(t, dir)[0])
			} else if err := v.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if line := v.next(t); line != "" {
				t.Errorf("%q behind the last answer", line)
			}
			select {
			case <-v.ended:
			case <-time.After(2 * time.Minute):
				t.Error("the child stays")
			}
		})
	}
}

// vector is a running source.
type vector struct {
	cmd   *exec.Cmd
	lines chan string   // closed at the end of the pipe
	ended chan struct{} // closed when the child has ended
}

func startVector(t *testing.T, dir, followed string) *vector {
	t.Helper()
	var c struct {
		Sources struct {
			Clicks struct {
				Type, Mode string
				Command    []string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(fenced(t, "vector.md", "yaml")), &c); err != nil {
		t.Fatal(err)
	}
	command := c.Sources.Clicks.Command
	if len(command) == 0 || c.Sources.Clicks.Type != "exec" || c.Sources.Clicks.Mode != "streaming" {
		t.Fatalf("%+v", c)
	}
	last := &command[len(command)-1]
	if !strings.Contains(*last, "/var/log/clicks.ndjson") {
		t.Fatal(*last)
	}
	*last = strings.ReplaceAll(*last, "/var/log/clicks.ndjson", followed)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	v := &vector{cmd: exec.Command(command[0], command[1:]...), lines: make(chan string), ended: make(chan struct{})}
	v.cmd.Env, v.cmd.Stdout = wrap(t, dir, notePID(dir)), w
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	t.Cleanup(func() {
		_ = v.cmd.Process.Kill() // urlmill ends when tail has
		_ = r.Close()
	})
	go func() {
		_ = v.cmd.Wait()
		close(v.ended)
	}()
	go func() {
		defer close(v.lines)
		for in := bufio.NewReader(r); ; {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			select {
			case v.lines <- line:
			case <-t.Context().Done():
				return
			}
		}
	}()
	return v
}

// awake waits until lines of the file are seen: tail begins at the end that the file has when it starts.
func (v *vector) awake(t *testing.T, log io.Writer) {
	t.Helper()
	seen := false
	for limit := time.Now().Add(3 * time.Minute); !seen; {
		if time.Now().After(limit) {
			t.Fatal("no line is seen")
		}
		fmt.Fprintln(log, `{"input":"x:awake"}`)
		select {
		case line := <-v.lines:
			if !strings.Contains(line, "x:awake") {
				t.Fatal(line)
			}
			seen = true
		case <-time.After(200 * time.Millisecond):
		}
	}
	// Of the lines above, more may be to come.
	fmt.Fprintln(log, `{"input":"x:now"}`)
	for line := ""; !strings.Contains(line, "x:now"); {
		if line = v.next(t); line == "" {
			t.Fatal("the pipe has ended")
		}
	}
}

// next returns the next line, nothing at the end of the pipe.
func (v *vector) next(t *testing.T) string {
	t.Helper()
	select {
	case line := <-v.lines:
		return line
	case <-time.After(3 * time.Minute):
		t.Fatal("neither a line nor the end of the pipe")
		return ""
	}
}
