package demo

import (
	"os"
	"path/filepath"
	"testing"
)

// TestIcebergBrackets checks that the newest metadata is read, whatever the folder is called.
func TestIcebergBrackets(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "d[1]")
	if err := os.MkdirAll(filepath.Join(folder, "_iceberg"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, rows := range map[string]string{"00001-a": "5", "00002-a": "7"} {
		text := `{"current-snapshot-id": 1, "snapshots": [{"snapshot-id": 1, "summary": {"total-records": "` + rows + `", "total-data-files": "2"}}]}`
		if err := os.WriteFile(filepath.Join(folder, "_iceberg", name+".metadata.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Iceberg(folder)
	if want := (Table{Rows: 7, Files: 2, Snapshots: 1}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}
