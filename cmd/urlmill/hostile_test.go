package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Files that claim, or become, gigabytes.
var hostileFiles = map[string]string{
	// A page of one run of 1,000,000,000 values.
	"run.parquet": "UEFSMRUEFSwVLEwVAhUAAAASAAAAaHR0cHM6Ly9hLmV4YW1wbGUvFQAVDhUOLBWAqNa5BxUQFQYVBgAAAYCo1rkHABUCGSxIBHJvb3QVAgAVDCUAGAN1cmwl" +
		"AAAWgKjWuQcZHBkcJk4cFQwZJQAQGRgDdXJsFQAWgKjWuQcWfhZ+Jk4mCAAAFn4WgKjWuQcAKAF4AFEAAABQQVIx",
	// A footer whose schema has 2,147,483,647 columns.
	"footer.parquet": "UEFSMRUCGfz/////BxYAGQwoAXgAEQAAAFBBUjE=",
	// A footer that is nothing.
	"footer.arrow": base64.StdEncoding.EncodeToString([]byte("ARROW10000000000000000\x02\x00\x00\x00ARROW1")),
	// Metadata of 805,306,368 bytes.
	"metadata.arrows": base64.StdEncoding.EncodeToString([]byte("\xff\xff\xff\xff\x00\x00\x00\x30")),
}

// TestHostileFiles gives such files to the commands that read files: each is an error with its name, and the others are read.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range hostileFiles {
		data, err := base64.StdEncoding.DecodeString(text)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "good.ndjson"), []byte(`{"url":"https://good.example/"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(want int, says string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "urlmill", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOMEMLIMIT=512MiB")
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		if code := cmd.ProcessState.ExitCode(); code != want || !strings.Contains(out.String()+said.String(), says) {
			t.Errorf("%v: exit code %d, want %d and %q\n%s%.2000s", args, code, want, says, &out, &said)
		}
		if strings.Contains(said.String(), "goroutine ") {
			t.Errorf("%v: it crashed", args)
		}
		return out.String()
	}
	call(0, "", "convert", "good.ndjson", "good.parquet")
	rows := call(4, "run.parquet: ", "parse", "--codec", "parquet", "--url-field", "url", "run.parquet", "footer.parquet", "good.parquet")
	if !strings.Contains(rows, "good.example") {
		t.Errorf("the other file was not read:\n%s", rows)
	}
	for name := range hostileFiles {
		call(1, name+": ", "convert", name, name+".ndjson")
		if strings.HasSuffix(name, ".parquet") {
			call(5, name+": ", "parquet", "check", name, "good.parquet")
		}
	}
}
