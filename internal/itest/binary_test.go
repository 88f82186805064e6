package itest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// buildOnce builds the command for all tests of this process, into a folder that git ignores.
var buildOnce = sync.OnceValues(func() (string, error) {
	name, err := filepath.Abs(filepath.Join("..", "..", "bin", "itest", "urlmill"))
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", name, "./cmd/urlmill")
	build.Dir = filepath.Join("..", "..")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	return name, build.Run()
})

// binary returns the path of the command urlmill.
func binary(t *testing.T) string {
	t.Helper()
	name, err := buildOnce()
	if err != nil {
		t.Fatalf("go build: %v", err)
	}
	return name
}
