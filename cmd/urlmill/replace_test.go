//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const replaceConfig = `
source: {generate: {records: %d, lanes: 4, seed: %d}}
columns: {include: [href, registrable_domain, ts]}
sink:
  parquet: {path: %s, partition_by: ["bucket(8, registrable_domain)"]}
  roll: {rows: 2000}
pipeline: {batch_rows: 500}
`

// TestKillReplace kills runs that replace all partitions, at random moments and right after the record. At every moment the files
// that are listed have all old rows or all new ones, and the run after them replaces everything.
func TestKillReplace(t *testing.T) {
	const kills = 10
	rows := [2]int{20_000, 30_000}
	dir := t.TempDir()
	out, config := filepath.Join(dir, "out"), filepath.Join(dir, "run.yaml")
	configure := func(records, seed int) {
		if err := os.WriteFile(config, fmt.Appendf(nil, replaceConfig, records, seed, out), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure(rows[0], 0)
	if text, err := process(t, "run", config).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	records := func() int {
		files, err := filepath.Glob(filepath.Join(out, "_compactions", "*[0-9].json"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	now, replaced := 0, 0
	for i := range kills {
		configure(rows[1-now], 1-now)
		had := records()
		run := startCommand(t, process(t, "run", config, "--until", "end", "--replace-partitions"))
		if i%2 == 0 {
			run.killWithin(time.Second, func() {})
		} else {
			run.waitFor(t, "the record", func() bool { return records() > had })
			run.Kill()
		}
		switch n := listedRows(t, out); n {
		case int64(rows[1-now]):
			now, replaced = 1-now, replaced+1
		case int64(rows[now]):
		default:
			t.Fatalf("kill %d: %d rows are listed", i, n)
		}
	}
	t.Logf("after %d of %d kills the new rows were there", replaced, kills)
	configure(rows[1], 1)
	for _, args := range [][]string{{"run", config, "--until", "end", "--replace-partitions"}, {"verify", out}} {
		if text, err := process(t, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
	}
	seen := int64(0)
	for _, name := range parquetIn(t, filepath.Join(out, "*")) {
		seen += parquetRows(t, name)
	}
	if n := listedRows(t, out); n != int64(rows[1]) || seen != n {
		t.Errorf("%d rows are listed, and the folder has %d", n, seen)
	}
	if left, _ := os.ReadDir(filepath.Join(out, "_replace")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	// The positions of the pipeline are as they were.
	configure(rows[0], 0)
	text, err := process(t, "run", config).CombinedOutput()
	if err != nil || !strings.Contains(string(text), "0 rows") && !strings.Contains(string(text), "nothing new") {
		t.Errorf("%v\n%s", err, text)
	}
}
