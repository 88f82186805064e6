//go:build unix

package dbtest

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// attributes returns those of processes that work in a folder of the test: as root, they are the user nobody's, as the folder is
// then.
func attributes(tb testing.TB, folder string) func() *syscall.SysProcAttr {
	if os.Getuid() != 0 {
		return func() *syscall.SysProcAttr { return nil }
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		tb.Fatal(err)
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	if err := os.Chown(folder, uid, gid); err != nil {
		tb.Fatal(err)
	}
	for dir := filepath.Dir(folder); dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	return func() *syscall.SysProcAttr {
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
}
