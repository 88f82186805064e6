package testproc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

const childVariable = "URLMILL_TEST_TESTPROC_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childVariable) {
	case "":
		os.Exit(m.Run())
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
	}
	fmt.Println("here")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(3)
}

const patience = 3 * time.Minute

// child starts this binary, which ends with 3 when its standard input does, and returns when it runs.
func child(t *testing.T, how string) (*Process, io.Closer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+how)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	cmd.Stdout = write
	p, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if line, err := bufio.NewReader(read).ReadString('\n'); line != "here\n" {
		t.Fatal(line, err)
	}
	return p, in
}

func TestEnd(t *testing.T) {
	p, in := child(t, "plain")
	if p.Ended() || p.Within(time.Millisecond) || p.ID() <= 0 {
		t.Fatal("it has ended")
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if !p.Within(patience) || !p.Ended() || p.Code() != 3 || p.Err() == nil {
		t.Errorf("%t, %d, %v", p.Ended(), p.Code(), p.Err())
	}
	p.Signal(syscall.SIGTERM)
	p.Kill()
}

func TestStop(t *testing.T) {
	p, _ := child(t, "plain")
	if !p.Stop(patience) || p.Code() != -1 {
		t.Errorf("%d, %v", p.Code(), p.Err())
	}
	p, _ = child(t, "deaf")
	if p.Stop(10*time.Millisecond) || !p.Ended() || !strings.Contains(p.Err().Error(), "killed") {
		t.Errorf("%d, %v", p.Code(), p.Err())
	}
}

func TestAwait(t *testing.T) {
	p, in := child(t, "plain")
	tries, away := 0, errors.New("away")
	ready := func() error {
		if tries++; tries < 3 {
			return away
		}
		return nil
	}
	if err := p.Await(patience, ready); err != nil || tries != 3 {
		t.Errorf("%d tries, %v", tries, err)
	}
	if err := p.Await(time.Millisecond, func() error { return away }); !errors.Is(err, away) || errors.Is(err, ErrEnded) {
		t.Error(err)
	}
	_ = in.Close()
	if err := p.Await(patience, func() error { return away }); !errors.Is(err, away) || !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
}

func TestNone(t *testing.T) {
	if p, err := Start(exec.Command("/nowhere/to/be/found")); p != nil || err == nil {
		t.Error(p, err)
	}
	var p *Process
	p.Signal(syscall.SIGTERM)
	p.Kill()
	if !p.Ended() || !p.Stop(time.Millisecond) {
		t.Error("no process runs")
	}
}
