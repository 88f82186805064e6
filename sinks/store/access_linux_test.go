package store_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/urlmill/urlmill/sinks/store"
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

func TestPrepareWithoutPermission(t *testing.T) {
	dir := t.TempDir()
	// What is above it is closed to other users already, which is not what this is about.
	must(t, os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o555))
	for _, path := range []string{dir, dir + "/new"} {
		var err error
		asUser(65534, func() { err = store.NewLocal(path, store.System, quiet).Prepare(t.Context()) })
		if err == nil || !strings.Contains(err.Error(), "no permission to write in "+path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	must(t, os.Chmod(dir, 0o755))
}
