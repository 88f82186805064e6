package testproc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Urlmill returns the path of the command urlmill, which is built once for all tests of this process, into a folder of theirs
// that git ignores.
func Urlmill(tb testing.TB) string {
	tb.Helper()
	name, err := urlmill()
	if err != nil {
		tb.Fatal(err)
	}
	return name
}

var urlmill = sync.OnceValues(func() (string, error) {
	root, err := findRoot()
	if err != nil {
		return "", err
	}
	name := filepath.Join(root, "bin", strings.TrimSuffix(filepath.Base(os.Args[0]), ".test"), "urlmill")
	build := exec.Command("go", "build", "-o", name, "./cmd/urlmill")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return name, nil
})

// InRepository returns the path of a file or folder of the repository that the working directory is in.
func InRepository(name string) (string, error) {
	root, err := findRoot()
	return filepath.Join(root, filepath.FromSlash(name)), err
}

// findRoot returns the root of the repository that the working directory is in.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, "cmd", "urlmill")); err == nil && info.IsDir() {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is not in the repository of urlmill", dir)
		}
	}
}
