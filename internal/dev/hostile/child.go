package main

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	memoryLimit = 256 << 20
	limitText   = "256MiB" // the same, for configurations
	// secret is in the environment of every process, in the password of every configuration, and nowhere else.
	secret    = "planted-7f3a9c-secret"
	envSecret = "HOSTILE_SECRET"
)

// outcome is how a process ended.
type outcome struct {
	command string
	state   *os.ProcessState
	hung    bool
	took    time.Duration
	peak    int64
	stdout  string // files
	stderr  string
	watched error
}

// environment is that of all processes.
func environment(strict bool) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "TMPDIR=" + os.TempDir(),
		envSecret + "=" + secret, "AWS_SECRET_ACCESS_KEY=" + secret, "AWS_ACCESS_KEY_ID=hostile",
	}
	if !strict {
		env = append(env, "GOMEMLIMIT="+limitText)
	}
	return env
}

// run runs a process to its end, or until it has taken too long.
func (w *workplace) run(ctx context.Context, s step, number int) (*outcome, error) {
	o := &outcome{stdout: w.path(fmt.Sprintf("stdout%d.txt", number)), stderr: w.path(fmt.Sprintf("stderr%d.txt", number))}
	w.stdout = o.stdout
	stdout, err := os.Create(o.stdout)
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	stderr, err := os.Create(o.stderr)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()

	ctx, cancel := context.WithTimeout(ctx, w.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.binary, s.args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.dir, environment(s.strict), stdout, stderr
	o.command = fmt.Sprintf("cd %s && env %s %s", w.dir, strings.Join(cmd.Env[3:], " "), quoted(cmd.Args))
	var stdin io.WriteCloser
	if s.input != nil {
		if stdin, err = cmd.StdinPipe(); err != nil {
			return nil, err
		}
		o.command += " < INPUT"
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if stdin != nil {
		go func() {
			_ = s.input(stdin) // a process that has ended reads no more, which its exit code says
			_ = stdin.Close()
		}()
	}
	watching, watched := make(chan error, 1), context.CancelFunc(func() {})
	if s.watch != nil {
		var watch context.Context
		watch, watched = context.WithCancel(ctx)
		go func() { watching <- s.watch(watch, w, cmd.Process) }()
	} else {
		watching <- nil
	}
	err = cmd.Wait()
	o.hung, o.took, o.state = errors.Is(ctx.Err(), context.DeadlineExceeded), time.Since(began), cmd.ProcessState
	watched()
	o.watched = <-watching
	if o.state == nil {
		return nil, err
	}
	o.peak = int64(o.state.SysUsage().(*syscall.Rusage).Maxrss) << 10 //nolint:unconvert // 32 bits on machines of that size
	return o, nil
}

// judge says what went wrong with a process.
func (w *workplace) judge(s step, o *outcome) []fault {
	var all []fault
	add := func(kind, format string, args ...any) {
		all = append(all, fault{kind, fmt.Sprintf(format, args...), o.command})
	}
	said, err := os.ReadFile(o.stderr)
	if err != nil {
		add("crashed", "%v", err)
	}
	status := o.state.Sys().(syscall.WaitStatus)
	switch {
	case o.hung:
		add("hung", "it had not ended after %v", o.took.Round(time.Second))
	case status.Signaled():
		add("crashed", "%v: %s", status.Signal(), text(said))
	case crashed(said):
		add("crashed", "exit code %d: %s", status.ExitStatus(), text(said))
	case !slices.Contains(s.codes, status.ExitStatus()):
		add("crashed", "exit code %d, want one of %v: %s", status.ExitStatus(), s.codes, text(said))
	case s.good != nil:
		if err := s.good(w); err != nil {
			add("poisoned", "%v; standard error %s", err, text(said))
		}
	}
	if most := w.most(s.strict); o.peak > most {
		add("over_limit", "%d MiB, where %d MiB may be taken", o.peak>>20, most>>20)
	}
	for _, name := range []string{o.stdout, o.stderr} {
		if found, err := contains(name, secret); err != nil || found {
			add("leaked", "the planted secret is in %s (%v)", name, err)
		}
	}
	var left *leakError
	switch {
	case errors.As(o.watched, &left):
		add("leaked", "%v", left)
	case o.watched != nil && !o.hung:
		add("poisoned", "%v", o.watched)
	}
	return all
}

// most is how much memory a process may take. memory_limit is for all of the process; GOMEMLIMIT is for Go's memory, beside which
// there is the program's code.
func (w *workplace) most(strict bool) int64 {
	if strict {
		return memoryLimit * 11 / 10
	}
	return memoryLimit*11/10 + w.code
}

// crashed reports whether this is what the Go runtime prints when it ends a program.
func crashed(said []byte) bool {
	for _, mark := range []string{"panic: ", "fatal error: ", "runtime: ", "SIGSEGV: "} {
		if bytes.HasPrefix(said, []byte(mark)) || bytes.Contains(said, []byte("\n"+mark)) {
			return bytes.Contains(said, []byte("\ngoroutine "))
		}
	}
	return false
}

// mappedCode returns how many bytes of a binary are mapped that are never written to.
func mappedCode(name string) (int64, error) {
	f, err := elf.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var n int64
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_W == 0 {
			n += int64(p.Filesz)
		}
	}
	return n, nil
}

// peak returns the most memory that a process has had, or all of those that have ended.
func peak(who int) int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(who, &r); err != nil {
		return 0
	}
	return int64(r.Maxrss) << 10 //nolint:unconvert // as above
}

// contains reports whether a file has a text, without holding the file.
func contains(name, what string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	buf, kept := make([]byte, 1<<16), 0
	for {
		n, err := f.Read(buf[kept:])
		if bytes.Contains(buf[:kept+n], []byte(what)) {
			return true, nil
		}
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept = copy(buf, buf[max(0, kept+n-len(what)+1):kept+n])
	}
}

// quoted writes arguments for a shell.
func quoted(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		if strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-=,:+") != "" || a == "" {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out[i] = a
	}
	return strings.Join(out, " ")
}
