package deploy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var toolchainLine = regexp.MustCompile(`(?m)^toolchain (go\d+\.\d+\.\d+)$`)

// toolchain returns the toolchain that a go.mod names.
func toolchain(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := toolchainLine.FindSubmatch(text)
	if m == nil {
		t.Fatalf("%s names no toolchain: what it builds has the tables of Unicode of whatever Go is there", path)
	}
	return string(m[1])
}

// TestToolchains checks that all modules of the repository are built by the same Go: its version decides which version of
// Unicode the parser has, and so what wheels, images and binaries make of domains.
func TestToolchains(t *testing.T) {
	want, modules := toolchain(t, filepath.Join(root, "go.mod")), 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "bin" || e.Name() == ".git" || e.Name() == "testdata"):
			return fs.SkipDir
		case e.Name() != "go.mod":
			return nil
		}
		modules++
		if got := toolchain(t, path); got != want {
			t.Errorf("%s has %s and not %s", path, got, want)
		}
		return nil
	})
	if err != nil || modules < 5 {
		t.Errorf("%d modules, %v", modules, err)
	}
}
