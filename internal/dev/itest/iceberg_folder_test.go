package itest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

const icebergInFolder = `
source: {generate: {records: 4000, lanes: 2}}
columns: {include: [host, ts]}
on_error: keep
sink:
  parquet: {path: lake, partition_by: ["date(ts)"], iceberg: {table: web.clicks}}
  roll: {rows: 500}
pipeline: {batch_rows: 500}
`

// TestIcebergFolder has the files of a table merged: who reads the folder has every row once, since merged files are below a directory
// that readers leave out, and those that they replace stay until a snapshot goes.
func TestIcebergFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "table.yaml"), []byte(icebergInFolder), 0o600); err != nil {
		t.Fatal(err)
	}
	mill := func(args ...string) {
		t.Helper()
		cmd := exec.Command(testproc.Urlmill(t), args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	lake := filepath.Join(dir, "lake")
	rows := func(want int) {
		t.Helper()
		got := readers.DuckRows(t, readers.Duck(t), fmt.Sprintf("SELECT count(*) AS rows FROM read_parquet('%s/*/*.parquet', hive_partitioning = true)", lake))
		if fmt.Sprint(got) != fmt.Sprintf("[map[rows:%d]]", want) {
			t.Errorf("DuckDB: %v, want %d rows", got, want)
		}
		if n := readers.DatasetRows(t, lake); n != want {
			t.Errorf("pyarrow: %d rows, want %d", n, want)
		}
	}
	mill("run", "table.yaml")
	before := readers.DatasetRows(t, lake)
	rows(before)
	mill("compact", "lake", "--min-age", "0s")
	if merged, err := filepath.Glob(filepath.Join(lake, "_iceberg", "data", "*", "*.parquet")); err != nil || len(merged) == 0 {
		t.Fatalf("no merged files: %v", err)
	}
	rows(before)
}
