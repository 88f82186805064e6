package demo

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Table is what the newest metadata of an Iceberg table says.
type Table struct {
	Rows, Files, Snapshots int64
}

// Iceberg reads the metadata of the only table below a folder.
func Iceberg(folder string) (Table, error) {
	below := filepath.Join(folder, "_iceberg")
	names, err := fs.Glob(os.DirFS(below), "*.metadata.json") // what the folder is called is no pattern
	if err != nil {
		return Table{}, err
	}
	if len(names) == 0 {
		return Table{}, fmt.Errorf("%s has no metadata of an Iceberg table", folder)
	}
	newest := filepath.Join(below, names[len(names)-1]) // their names begin with a number of five digits
	text, err := os.ReadFile(newest)
	if err != nil {
		return Table{}, err
	}
	var metadata struct {
		Current   int64 `json:"current-snapshot-id"`
		Snapshots []struct {
			ID      int64             `json:"snapshot-id"`
			Summary map[string]string `json:"summary"`
		} `json:"snapshots"`
	}
	if err := json.Unmarshal(text, &metadata); err != nil {
		return Table{}, fmt.Errorf("%s: %w", newest, err)
	}
	t := Table{Snapshots: int64(len(metadata.Snapshots))}
	for _, s := range metadata.Snapshots {
		if s.ID != metadata.Current {
			continue
		}
		if t.Rows, err = strconv.ParseInt(s.Summary["total-records"], 10, 64); err != nil {
			return Table{}, fmt.Errorf("%s: total-records: %w", newest, err)
		}
		if t.Files, err = strconv.ParseInt(s.Summary["total-data-files"], 10, 64); err != nil {
			return Table{}, fmt.Errorf("%s: total-data-files: %w", newest, err)
		}
	}
	return t, nil
}
