//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// terminal returns the two ends of a terminal of eighty columns and ten lines.
func terminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	fd := int(ours.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 10, Col: 80}); err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// TestTop watches a pipeline that starts after the watching and ends before it.
func TestTop(t *testing.T) {
	port := testproc.Ports(t, 1)[0]
	ours, theirs := terminal(t)
	var screen, log testproc.Log
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := ours.Read(b)
			if err != nil {
				return
			}
			_, _ = screen.Write(b[:n])
		}
	}()
	top := process(t, "top", fmt.Sprintf("localhost:%d", port), "--every", "100ms")
	top.Env = append(os.Environ(), "TERM=xterm")
	top.Stdout, top.Stderr = theirs, &log
	if err := top.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	shows := func(text string) {
		t.Helper()
		eventually(t, &screen, func() bool { return strings.Contains(screen.String(), text) })
	}
	shows("\x1b[?1049h")
	shows("NO ANSWER  Get ")
	dir := t.TempDir()
	writeFile(t, dir, "c.yaml", fmt.Sprintf("source: {generate: {rate: 1000}}\nsink: {parquet: {path: %q}}\nadmin: {listen: \"127.0.0.1:%d\"}\n", dir+"/out", port))
	run := startCommand(t, process(t, "run", filepath.Join(dir, "c.yaml")))
	shows("LANE ")
	shows("generate/0 ")
	once, err := process(t, "top", fmt.Sprintf("http://127.0.0.1:%d", port), "--once").Output()
	if err != nil || !strings.Contains(string(once), "\ngenerate/0 ") || strings.Contains(string(once), "\x1b") {
		t.Errorf("%v\n%q", err, once)
	}
	run.killWithin(1, func() {})
	if err := top.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := wait(t, top); code != exitOK {
		t.Errorf("exit code %d\n%s", code, &log)
	}
	shows("\x1b[?25h\x1b[?1049l")
}
