package dbtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// patience bounds how long a server may take to start or to end, on a machine that is busy with other things.
const patience = 3 * time.Minute

// program returns where a program is, among those on the path and those that match patterns; "" if it is nowhere.
func program(name string, patterns ...string) string {
	for _, p := range patterns {
		if found, err := filepath.Glob(p); err == nil && len(found) > 0 {
			return found[len(found)-1]
		}
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return found
}

// server is a process with a folder of its own.
type server struct {
	tb   testing.TB
	dir  string
	log  testproc.Log
	attr func() *syscall.SysProcAttr // of its processes
}

// newServer returns a server that does not run yet. As root, it is to run as the user nobody, because some refuse root.
func newServer(tb testing.TB) *server {
	dir := tb.TempDir()
	return &server{tb: tb, dir: dir, attr: attributes(tb, dir)}
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, &s.log, &s.log
	cmd.SysProcAttr = s.attr()
	return cmd
}

// start starts the server and waits until ready returns nil. It ends with the test, by a signal: before its folder is removed,
// and with all of its processes, which are not killed with the first one where they are in groups of their own.
func (s *server) start(cmd *exec.Cmd, end os.Signal, ready func() error) *testproc.Process {
	s.tb.Helper()
	p, err := testproc.Start(cmd)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() {
		p.Signal(end)
		if !p.Within(patience) {
			p.Kill()
			s.tb.Errorf("the server has not ended within %v:\n%s", patience, &s.log)
		}
	})
	if err := p.Await(patience, ready); err != nil {
		s.tb.Fatalf("the server: %v\n%s", err, &s.log)
	}
	return p
}
