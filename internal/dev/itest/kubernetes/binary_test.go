package kubernetes

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// folder is where the binary is that the tests share.
var folder string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kubernetes")
	if err != nil {
		panic(err)
	}
	folder = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// buildOnce builds the binary without a dependency on urlmill's module, whose versions this one need not follow.
var buildOnce = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(folder, "urlmill")
	cmd := exec.Command("go", "build", "-trimpath", "-tags", "grpcnotrace", "-o", bin, "./cmd/urlmill")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return bin, cmd.Run()
})

// binary returns the path of urlmill.
func binary(t *testing.T) string {
	t.Helper()
	bin, err := buildOnce()
	if err != nil {
		t.Fatalf("go build: %v", err)
	}
	return bin
}
