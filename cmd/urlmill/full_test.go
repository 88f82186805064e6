//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// TestFullDisk checks what the commands say when standard output is full.
func TestFullDisk(t *testing.T) {
	input := t.TempDir() + "/urls.txt"
	if err := os.WriteFile(input, []byte("https://example.com/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := t.TempDir() + "/ok.yaml"
	if err := os.WriteFile(config, []byte("source: {file: {paths: [urls.txt]}}\nsink: {parquet: {path: out}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"lint", config},
		{"parse", input, "--to", "ndjson"},
		{"parse", input, "--to", "arrow"},
		{"parse", input, "--to", "table"},
		{"url", "https://example.com"},
		{"url", "--ndjson"},
		{"version"},
		{"demo", "--records", "10"},
	} {
		t.Run(strings.Join(args[:1], " "), func(t *testing.T) {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = full.Close() }()
			cmd := process(t, args...)
			cmd.Stdin = strings.NewReader("{}\n")
			cmd.Stdout = full
			var log testproc.Log
			cmd.Stderr = &log
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if code := wait(t, cmd); code != exitFailure || !strings.Contains(log.String(), "no space left on device") {
				t.Errorf("exit code %d\n%s", code, &log)
			}
		})
	}
}
