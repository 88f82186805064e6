//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/demo"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// TestDedupeFullDisk has the file system of the state run full. The pipeline stops and says which it is; with room again it
// goes on, and every page is there once.
func TestDedupeFullDisk(t *testing.T) {
	dir := t.TempDir()
	small := filepath.Join(dir, "small")
	if err := os.Mkdir(small, 0o777); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small).CombinedOutput(); err != nil {
		t.Skipf("a file system of its own takes root (%v: %s); pipeline/dedupe has the test without one", err, text)
	}
	t.Cleanup(func() {
		if text, err := exec.Command("umount", small).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, text)
		}
	})
	const pages = 400_000
	var urls strings.Builder
	for i := range pages {
		fmt.Fprintf(&urls, "https://a.example/%d\n", i)
	}
	input, out, config := filepath.Join(dir, "urls.txt"), filepath.Join(dir, "out"), filepath.Join(dir, "c.yaml")
	for name, text := range map[string]string{input: urls.String(), config: fmt.Sprintf(`
source:
  file: {paths: [%q]}
  codec: {lines: {}}
columns: {include: [path, url_key], canonical: {form: dedupe}}
dedupe: {path: %q, mode: drop, memory: 16MiB}
pipeline: {drain_timeout: 2s}
sink:
  parquet: {path: %q}
  roll: {rows: 50000}
`, input, filepath.Join(small, "seen"), out)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, code := runToEnd(t, config)
	for _, want := range []string{"no space left on device", filepath.Join(small, "seen"), "dedupe.path"} {
		if code != exitFailure || !strings.Contains(log, want) {
			t.Fatalf("exit code %d, and the log is to have %q:\n%s", code, want, log)
		}
	}
	if text, err := exec.Command("mount", "-o", "remount,size=256m", small).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, text)
	}
	if log, code := runToEnd(t, config); code != 0 {
		t.Fatalf("with room again: exit code %d\n%s", code, log)
	}
	if got := pagesIn(t, out); len(got) != pages {
		t.Errorf("%d pages, want %d", len(got), pages)
	} else {
		for page, n := range got {
			if n != 1 {
				t.Fatalf("page %s is there %d times", page, n)
			}
		}
	}
}

// runToEnd runs a configuration until it ends, and tells it to after minutes, which nothing takes that goes on.
func runToEnd(t *testing.T, config string) (string, int) {
	t.Helper()
	cmd := process(t, "run", config)
	var log testproc.Log
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	defer stop.Stop()
	code := wait(t, cmd)
	return log.String(), code
}

// pagesIn counts the rows of an output by their first column.
func pagesIn(t *testing.T, out string) map[string]int {
	t.Helper()
	pages := make(map[string]int)
	for _, name := range parquetIn(t, out) {
		eachRecord(t, name, func(r arrow.Record) {
			for i := range int(r.NumRows()) {
				pages[strings.Clone(r.Column(0).(*array.String).Value(i))]++
			}
		})
	}
	return pages
}

// TestDedupeRestoredOutput puts an output back from a backup, and reads again what it has lost, as the error recommends. Every
// page is there in the end. A state that cannot forget is refused; and so is the state of another output.
func TestDedupeRestoredOutput(t *testing.T) {
	const group = "group"
	for _, extra := range []string{"", ", approximate: {memory: 1MiB, keys: 100000}"} {
		t.Run("state"+extra, func(t *testing.T) {
			broker, err := demo.StartBroker("crawl", 1)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(broker.Close)
			client := kafkatest.Client(t, []string{broker.Addr})
			dir := t.TempDir()
			out, config := filepath.Join(dir, "out"), filepath.Join(dir, "c.yaml")
			configure := func(seen, out string) {
				text := fmt.Sprintf(dedupeKillConfig, broker.Addr, group, filepath.Join(dir, seen), "drop", extra, out)
				text = strings.Replace(text, "start: earliest", "start: earliest, on_group_ahead: rewind", 1)
				if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			configure("seen", out)
			produced := 0
			produce := func(upTo int) {
				var records []*kgo.Record
				for ; produced < upTo; produced++ {
					records = append(records, &kgo.Record{Topic: "crawl", Value: fmt.Appendf(nil, "https://example.com/%d", produced)})
				}
				kafkatest.Produce(t, client, records)
			}
			deliver := func() {
				run := startCommand(t, process(t, "run", config))
				run.finish(t, "every record to be committed", func() bool {
					return kafkatest.Committed(t, client, group, "crawl", 0) >= int64(produced) && len(pagesIn(t, out)) >= produced
				})
			}
			produce(100)
			deliver()
			if err := os.CopyFS(out+".backup", os.DirFS(out)); err != nil {
				t.Fatal(err)
			}
			produce(200)
			deliver()
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(out+".backup", out); err != nil {
				t.Fatal(err)
			}
			if extra == "" {
				deliver()
			} else {
				if log, code := runToEnd(t, config); code != exitFailure || !strings.Contains(log, "dedupe.path") {
					t.Fatalf("exit code %d\n%s", code, log)
				}
				configure("anew", out)
				deliver()
			}
			if got := pagesIn(t, out); len(got) != produced {
				t.Errorf("%d pages, want %d", len(got), produced)
			}
			configure("seen", out+".other")
			if log, code := runToEnd(t, config); code != exitFailure || !strings.Contains(log, "is of the output "+out) {
				t.Errorf("with another output: exit code %d\n%s", code, log)
			}
		})
	}
}
