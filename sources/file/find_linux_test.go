package file

import (
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFindUnreadable looks for files with the rights of somebody who may not read them, also when the tests run as
// root, whom no permission stops: the thread takes another user's place as far as files go.
func TestFindUnreadable(t *testing.T) {
	tree(t, "logs/a.log", "logs/closed/b.log", "closed.log")
	for path, mode := range map[string]os.FileMode{"closed.log": 0, "logs/closed": 0, ".": 0o755, "logs": 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod("logs/closed", 0o755)
	if os.Geteuid() == 0 {
		// The folders above the working directory are not open to others.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		const nobody = 65534
		if err := unix.Setfsuid(nobody); err != nil {
			t.Fatal(err)
		}
		defer unix.Setfsuid(0)
	}
	for path, want := range map[string]string{
		"closed.log":        "open closed.log: permission denied; check its permissions",
		"c*.log":            "open closed.log: permission denied; check its permissions",
		"logs":              "logs/closed: permission denied; check its permissions",
		"logs/*/*.log":      "logs/closed: permission denied; check its permissions",
		"logs/**":           "logs/closed: permission denied; check its permissions",
		"logs/closed/b.log": "logs/closed/b.log: permission denied; check the path and its permissions",
		"logs/*/b.log":      "logs/closed/b.log: permission denied; check its permissions",
	} {
		if _, err := find([]string{path}, nil, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
