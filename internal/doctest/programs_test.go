package doctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// hostProgram returns where a host is that "make hosts" has got: in the folder URLMILL_HOSTS or bin/hosts, or on the
// PATH. Without it the test is skipped, and fails if URLMILL_REQUIRE_HOSTS is 1.
func hostProgram(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("URLMILL_HOSTS")
	if dir == "" {
		dir = filepath.Join(root, "bin", "hosts")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	missing(t, "there is no "+name+" in "+dir+" or on the PATH: make hosts gets it")
	return ""
}

// missing skips a test for the want of a host, or fails it where hosts are required.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("URLMILL_REQUIRE_HOSTS") == "1" {
		t.Fatal(what)
	}
	t.Skip(what)
}
