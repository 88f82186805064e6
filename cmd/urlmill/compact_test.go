//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/sinks/parquet"
)

const compactConfig = `
source: {generate: {records: %d, lanes: 4, seed: 7}}
columns: {include: [href, registrable_domain, ts]}
sink:
  parquet: {path: %s, partition_by: ["bucket(8, registrable_domain)"]}
  roll: {rows: 500}
pipeline: {batch_rows: 500}
`

// Compactions are killed at any moment, while a pipeline delivers to the same place and is killed as well. At every moment
// the files that are listed have all rows that are committed once, and in the end the directory has.
func TestCompactKill(t *testing.T) {
	const rows, kills = 40_000, 12
	dir := t.TempDir()
	out, config := filepath.Join(dir, "out"), filepath.Join(dir, "run.yaml")
	configure := func(records int) {
		if err := os.WriteFile(config, fmt.Appendf(nil, compactConfig, records, out), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure(rows / 2)
	if text, err := process(t, "run", config).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	configure(rows)
	died, least := 0, int64(rows/2)
	for i := range kills {
		var delivering *running
		if i%3 == 2 {
			delivering = startRun(t, config)
		}
		compacting := startCommand(t, process(t, "compact", out, "--min-age", "0s", "--target-size", fmt.Sprint(16<<(i%4), "KiB")))
		select {
		case <-time.After(time.Duration(rand.IntN(400)) * time.Millisecond):
			died++
		case <-compacting.Done():
		}
		compacting.Kill()
		if delivering != nil {
			delivering.Kill()
		}
		n := listedRows(t, out)
		if n < least || n > rows {
			t.Fatalf("kill %d: %d rows are listed, and there were %d", i, n, least)
		}
		least = n
	}
	t.Logf("%d of %d compactions were killed", died, kills)
	for _, args := range [][]string{{"run", config}, {"compact", out, "--min-age", "0s"}, {"verify", out}, {"compact", out, "--min-age", "0s"}} {
		text, err := process(t, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
		if args[0] == "verify" && !strings.Contains(string(text), "complete; 40,000 rows") {
			t.Errorf("%s", text)
		}
	}
	if n := listedRows(t, out); n != rows {
		t.Errorf("%d rows are listed", n)
	}
	seen := int64(0)
	files, err := filepath.Glob(filepath.Join(out, "*", "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		seen += parquetRows(t, name)
	}
	if seen != rows || len(files) != 9 {
		t.Errorf("the directory has %d rows in %d files", seen, len(files))
	}
}

// listedRows returns the rows of the files that count, as their own footers have them.
func listedRows(t *testing.T, out string) (n int64) {
	t.Helper()
	text, err := process(t, "files", out, "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var f listed
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		if rows := parquetRows(t, f.Path); rows != f.Rows {
			t.Fatalf("%s has %d rows, and %d are listed", f.Path, rows, f.Rows)
		}
		n += f.Rows
	}
	return n
}

func parquetRows(t *testing.T, name string) int64 {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.CountRows(f, info.Size())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rows
}
