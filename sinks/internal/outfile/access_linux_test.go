package outfile

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// asUser runs f with the file permissions of another user. The thread is thrown away afterwards.
func asUser(uid int, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked
		if os.Getuid() == 0 {
			_ = unix.Setfsuid(uid)
		}
		f()
	}()
	<-done
}

func TestOpenWithoutPermission(t *testing.T) {
	dir := t.TempDir()
	// What is above it is closed to other users already, which is not what this is about.
	err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o555))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, dir + "/new"} {
		asUser(65534, func() { _, err = Open(path, slog.New(slog.DiscardHandler), System) })
		if err == nil || !strings.Contains(err.Error(), "no permission to write in "+path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}
