package doctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/testproc"
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
	testproc.Missing(t, "URLMILL_REQUIRE_HOSTS", what)
}

// wrap writes a script urlmill into a folder, in which URLMILL is the real one, and returns the environment in which it is
// found first.
func wrap(t *testing.T, dir, script string) []string {
	t.Helper()
	script = "#!/bin/sh\n" + strings.ReplaceAll(script, "URLMILL", "'"+testproc.Urlmill(t)+"'")
	write(t, filepath.Join(dir, "urlmill"), script, 0o700)
	return append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// notePID is a script for wrap that adds a line with its process number to the file pids of a folder.
func notePID(dir string) string {
	return "echo $$ >> '" + filepath.Join(dir, "pids") + "'\nexec URLMILL \"$@\"\n"
}

// pids returns the process numbers that notePID has written.
func pids(t *testing.T, dir string) (all []int) {
	t.Helper()
	for _, text := range strings.Fields(read(t, filepath.Join(dir, "pids"))) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pid)
	}
	return all
}

func kill(t *testing.T, pid int) {
	t.Helper()
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// read returns a file, nothing if there is none.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}
