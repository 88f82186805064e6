package testproc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestLog(t *testing.T) {
	var log Log
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 {
				_, _ = fmt.Fprint(&log, "x")
				_ = log.String()
			}
		})
	}
	all.Wait()
	if n := len(log.String()); n != 400 {
		t.Errorf("%d bytes", n)
	}
}

func TestRoot(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "internal", "dev", "testproc", "doc.go")); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if _, err := findRoot(); err == nil {
		t.Error("it is anywhere")
	}
}

// TestPorts checks that nobody gets a port that somebody has, whether or not it is listened on.
func TestPorts(t *testing.T) {
	had := map[int]bool{}
	for range 3 {
		for _, port := range Ports(t, 5) {
			if had[port] {
				t.Errorf("port %d is given out twice", port)
			}
			had[port] = true
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				t.Fatal(err)
			}
			_ = l.Close()
		}
	}
}

// TestCached fills a folder once for who wants it at the same time, and again when that has failed.
func TestCached(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // where the cache is elsewhere
	var fills atomic.Int32
	broken := errors.New("broken")
	if _, err := Cached("tool-1", "bin", func(string) error { return broken }); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if _, err := Cached("tool-1", "bin", func(string) error { return nil }); err == nil {
		t.Fatal("nothing was made, and that is no error")
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			path, err := Cached("tool-1", "bin", func(dir string) error {
				fills.Add(1)
				return os.WriteFile(filepath.Join(dir, "bin"), []byte("made"), 0o600)
			})
			if err != nil {
				t.Error(err)
				return
			}
			if text, err := os.ReadFile(path); string(text) != "made" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	all.Wait()
	if n := fills.Load(); n != 1 && runtime.GOOS == "linux" {
		t.Errorf("it was made %d times", n)
	}
}
