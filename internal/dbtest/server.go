package dbtest

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/testproc"
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
	tb  testing.TB
	dir string
	log testproc.Log
	as  *syscall.Credential
}

// newServer returns a server that does not run yet. As root, it is to run as the user nobody, because some refuse root.
func newServer(tb testing.TB) *server {
	s := &server{tb: tb, dir: tb.TempDir()}
	if os.Getuid() != 0 {
		return s
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		tb.Fatal(err)
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	if err := os.Chown(s.dir, uid, gid); err != nil {
		tb.Fatal(err)
	}
	for dir := filepath.Dir(s.dir); dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, &s.log, &s.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	return cmd
}

// start starts the server and waits until ready returns nil. It ends with the test, by a signal: before its folder is removed,
// and with all of its processes, which are not killed with the first one where they are in groups of their own.
func (s *server) start(cmd *exec.Cmd, end os.Signal, ready func() error) {
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
}
