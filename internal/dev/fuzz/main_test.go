package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "module example.org/m\n\ngo 1.26\n"

// targets are tests of a module: one target that fails on the first input, and one that does not.
const targets = `package m

import "testing"

func FuzzBad(f *testing.F) {
	f.Add([]byte("a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1 {
			t.Fatal("too long")
		}
	})
}

func FuzzGood(f *testing.F) {
	f.Add([]byte("a"))
	f.Fuzz(func(t *testing.T, b []byte) {})
}
`

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": module, "m.go": "package m\n", "in/go.mod": module, "in/m.go": "package m\n", "in/m_test.go": targets,
		"testdata/m_test.go": targets, "plain_test.go": "package m\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
	for chosen, want := range map[string][]target{"": {{"./in", "FuzzBad"}, {"./in", "FuzzGood"}}, "in FuzzG": {{"./in", "FuzzGood"}}} {
		re := regexp.MustCompile(chosen)
		if dirs, err := folders(".", re); err != nil || !slices.Equal(dirs, []string{"./in"}) {
			t.Fatalf("%v, %v", dirs, err)
		}
		if found, err := list("./in", re); err != nil || !slices.Equal(found, want) {
			t.Fatalf("%v, %v, want %v", found, err, want)
		}
	}
	var out bytes.Buffer
	f := fuzzer{guided: 1, blind: 1, workers: 1}
	err := f.run(&out, "")
	if err == nil || err.Error() != "failed: ./in FuzzBad" {
		t.Error(err)
	}
	if text := out.String(); !strings.Contains(text, "written to ./in/testdata/fuzz/FuzzBad/") || !strings.Contains(text, "targets=2 executions=") ||
		!strings.HasSuffix(text, " failed=1\n") {
		t.Error(text)
	}
	if err := f.run(&out, "Nothing"); err == nil {
		t.Error("no target ran, and nothing was said")
	}
}

func TestExecutions(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "fuzz: elapsed: 0s, gathering baseline coverage: 0/2 completed\n": 0,
		"fuzz: elapsed: 3s, execs: 12 (4/sec), new interesting: 1 (total: 3)\nfuzz: elapsed: 6s, execs: 345 (7/sec)\nPASS\n": 345,
	} {
		if got := executions([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
