//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// eventually waits for something that a process does, as long as a slow machine needs.
func eventually(t *testing.T, what fmt.Stringer, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain; the process says:\n%s", what)
		}
	}
}

// wait returns the exit code of a process.
func wait(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// endless writes the configuration of a generator without end into a folder.
func endless(t *testing.T, dir string) (file, out string) {
	t.Helper()
	out = filepath.Join(dir, "out")
	file = filepath.Join(dir, "endless.yaml")
	text := fmt.Sprintf("source: {generate: {rate: 5000}}\nsink: {parquet: {path: %s}, roll: {rows: 1000}}\n", out)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, out
}

// TestDrain checks that the first signal lets a pipeline write what it has read, and that it then ends with 0.
func TestDrain(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(sig.String(), func(t *testing.T) {
			file, out := endless(t, t.TempDir())
			cmd := process(t, "run", file)
			var log testproc.Log
			cmd.Stderr = &log
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, &log, func() bool { return len(parquetIn(t, out)) > 0 })
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if code := wait(t, cmd); code != exitOK {
				t.Errorf("exit code %d\n%s", code, &log)
			}
			if text := log.String(); !strings.Contains(text, "a second signal stops at once") || !strings.Contains(text, "rows in ") {
				t.Errorf("log: %s", text)
			}
			if left, _ := filepath.Glob(filepath.Join(out, ".*", "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestSignalBeforeTheEnd checks that a signal before the end that --until names is exit code 4, that what was read is committed
// then, and that the same command goes on there.
func TestSignalBeforeTheEnd(t *testing.T) {
	const rows = 3000
	for _, sig := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel() // a rate is waited for
			dir := t.TempDir()
			out, file := filepath.Join(dir, "out"), filepath.Join(dir, "slow.yaml")
			var urls strings.Builder
			for i := range rows {
				fmt.Fprintf(&urls, "https://example.com/%d\n", i)
			}
			in := filepath.Join(dir, "urls.txt")
			slow := fmt.Sprintf("source: {file: {paths: [%s]}}\npipeline: {rate: 500, batch_rows: 100}\nsink: {parquet: {path: %s}, roll: {rows: 100}}\n", in, out)
			if err := errors.Join(os.WriteFile(in, []byte(urls.String()), 0o600), os.WriteFile(file, []byte(slow), 0o600)); err != nil {
				t.Fatal(err)
			}
			type done struct {
				Ended           string
				Rows, Committed int
				ExitCode        int `json:"exit_code"`
			}
			run := func(signal bool) (d done, code int) {
				cmd := process(t, "run", file, "--until", "end", "--summary", "json")
				var said bytes.Buffer
				var log testproc.Log
				cmd.Stdout, cmd.Stderr = &said, &log
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				if signal {
					eventually(t, &log, func() bool { return len(parquetIn(t, out)) > 0 })
					if err := cmd.Process.Signal(sig); err != nil {
						t.Fatal(err)
					}
				}
				code = wait(t, cmd)
				if err := json.Unmarshal(said.Bytes(), &d); err != nil {
					t.Fatalf("%s: %v\n%s", &said, err, &log)
				}
				return d, code
			}
			first, code := run(true)
			if code != exitIncomplete || first.Ended != "signal" || first.Rows == 0 || first.Rows >= rows || first.Committed != first.Rows || first.ExitCode != code {
				t.Fatalf("exit code %d, %+v", code, first)
			}
			if second, code := run(false); code != exitOK || second != (done{"end", rows - first.Rows, rows - first.Rows, exitOK}) {
				t.Errorf("exit code %d, %+v after %+v", code, second, first)
			}
		})
	}
}

// TestSecondSignal checks that the second signal ends a process that cannot drain, because nobody reads what it
// writes, with 130.
func TestSecondSignal(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "blocked.yaml")
	text := "source: {generate: {}}\nsink: {ndjson: {stdout: true}}\npipeline: {drain_timeout: 1h}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := process(t, "run", file)
	out, err := cmd.StdoutPipe() // which is never read to its end
	if err != nil {
		t.Fatal(err)
	}
	var log testproc.Log
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, &log, func() bool { return strings.Contains(log.String(), "a second signal stops at once") })
	time.Sleep(2 * echo)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := wait(t, cmd); code != exitInterrupt {
		t.Errorf("exit code %d\n%s", code, &log)
	}
}

// TestWatchSignals checks what the signals do within a process, which would be ended by now if it did nothing.
func TestWatchSignals(t *testing.T) {
	exited := make(chan struct{})
	ctx, drain, release := watchSignalsOr(context.Background(), slog.New(slog.DiscardHandler), func() { close(exited) })
	defer release()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-drain.Done()
	if ctx.Err() != nil {
		t.Error("the first signal ended the context")
	}
	time.Sleep(2 * echo)
	if err := self.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, errInterrupted) || exitCode(cause) != exitInterrupt {
		t.Errorf("cause %v", cause)
	}
	select {
	case <-exited:
	case <-time.After(5 * time.Minute):
		t.Error("the process goes on after its grace")
	}
}

// TestSignalTwice checks that a signal that comes twice, as timeout(1) sends it, is one.
func TestSignalTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		signals, ended, soft := make(chan os.Signal), make(chan struct{}), make(chan struct{})
		exit := make(chan bool)
		go func() {
			exit <- followSignals(signals, ended, func() { close(soft) }, cancel, slog.New(slog.DiscardHandler))
		}()
		signals <- syscall.SIGTERM
		<-soft
		time.Sleep(echo)
		signals <- syscall.SIGTERM
		synctest.Wait()
		if ctx.Err() != nil {
			t.Error("the same signal once more has ended the context")
		}
		time.Sleep(time.Millisecond)
		signals <- syscall.SIGTERM
		<-ctx.Done()
		if !<-exit {
			t.Error("the process does not end after its grace")
		}
	})
}

// TestPromptRows checks that rows come out while standard input goes on, and that a signal ends a process that waits
// for more input.
func TestPromptRows(t *testing.T) {
	cmd := process(t, "parse", "--to", "ndjson", "--columns", "href")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log testproc.Log
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	rows := bufio.NewScanner(out)
	for i := range 5 {
		if _, err := fmt.Fprintf(in, "https://example.com/%d\n", i); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`{"href":"https://example.com/%d"}`, i)
		if !rows.Scan() || rows.Text() != want {
			t.Fatalf("row %d: %s", i, rows.Text())
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if rows.Scan() {
		t.Errorf("a row too many: %s", rows.Text())
	}
	if code := wait(t, cmd); code != exitOK {
		t.Errorf("exit code %d\n%s", code, &log)
	}
}
