package main

import (
	"compress/gzip"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are the commands that the scripts have beside those of testscript.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"rows":        scriptRows,
	"exec-code":   scriptExecCode,
	"gzip":        scriptGzip,
	"cutfile":     scriptCutFile,
	"bytes":       scriptBytes,
	"catfiles":    scriptCatFiles,
	"spoil":       scriptSpoil,
	"rename-only": scriptRenameOnly,
}

// scriptExecCode is "exec-code CODE PROGRAM ARG...": exec that wants an exit code.
func scriptExecCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exec-code CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// scriptGzip is "gzip FILE...": it writes FILE.gz beside every file.
func scriptGzip(ts *testscript.TestScript, _ bool, files []string) {
	for _, name := range files {
		data := ts.ReadFile(name)
		var b strings.Builder
		w := gzip.NewWriter(&b)
		_, err := w.Write([]byte(data))
		ts.Check(err)
		ts.Check(w.Close())
		ts.Check(os.WriteFile(ts.MkAbs(name+".gz"), []byte(b.String()), 0o600))
	}
}

// scriptCutFile is "cutfile FROM TO BYTES": it copies the start of a file.
func scriptCutFile(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	data := ts.ReadFile(args[0])
	if n < 0 {
		n += len(data)
	}
	ts.Check(os.WriteFile(filepath.Clean(ts.MkAbs(args[1])), []byte(data[:n]), 0o600))
}

// scriptBytes is "bytes FILE TEXT": it writes a file from the inside of a Go string literal.
func scriptBytes(ts *testscript.TestScript, _ bool, args []string) {
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// scriptRenameOnly is "rename-only FOLDER NAME": it gives the only Parquet file of a folder another name.
func scriptRenameOnly(ts *testscript.TestScript, _ bool, args []string) {
	found, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.parquet"))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%d files in %s", len(found), args[0])
	}
	ts.Check(os.Rename(found[0], ts.MkAbs(args[1])))
}

// scriptCatFiles is "catfiles FOLDER": it prints the files of a folder in the order of their names, but not what is
// below it.
func scriptCatFiles(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		_, err := ts.Stdout().Write([]byte(ts.ReadFile(filepath.Join(args[0], e.Name()))))
		ts.Check(err)
	}
}

// scriptSpoil is "spoil FOLDER": it changes a byte in the middle of every file of a folder that is not hidden.
func scriptSpoil(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "[^._]*.*"))
	ts.Check(err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		ts.Check(err)
		data[len(data)/2] ^= 1
		ts.Check(os.WriteFile(name, data, 0o600))
	}
}
