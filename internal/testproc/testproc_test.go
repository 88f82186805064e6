package testproc

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
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
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "internal", "testproc", "doc.go")); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if _, err := Root(); err == nil {
		t.Error("it is anywhere")
	}
}
