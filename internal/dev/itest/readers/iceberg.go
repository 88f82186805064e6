package readers

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os/exec"
	"testing"
)

//go:embed iceberg.py
var icebergScript string

// Iceberg is what pyiceberg reads in a table.
type Iceberg struct {
	Unavailable string            `json:"unavailable"`
	Rows        int64             `json:"rows"`
	Columns     []string          `json:"columns"`
	Sum         int64             `json:"sum"` // of a column of integers
	Distinct    int64             `json:"distinct"`
	Partitions  []string          `json:"partitions"` // names of the fields
	Files       []string          `json:"files"`
	Filtered    int64             `json:"filtered"` // rows that a filter leaves
	Planned     int               `json:"planned"`  // files that are read for it
	Snapshots   int               `json:"snapshots"`
	Summary     map[string]string `json:"summary"` // of the last one
}

// Pyiceberg reads a table of a catalog in SQLite, and adds up a column. Without pyiceberg it skips the test, or fails it when
// URLMILL_REQUIRE_PYARROW is 1.
func Pyiceberg(tb testing.TB, catalog, table, column, filter string) Iceberg {
	tb.Helper()
	return PyicebergWith(tb, nil, catalog, table, column, filter)
}

// PyicebergWith is Pyiceberg with properties of its catalog, such as those by which it reaches S3.
func PyicebergWith(tb testing.TB, properties map[string]string, catalog, table, column, filter string) Iceberg {
	tb.Helper()
	with, err := json.Marshal(properties)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), python(), "-c", icebergScript, catalog, table, column, filter, string(with))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if _, notThere := err.(*exec.Error); notThere { //nolint:errorlint // Output returns it as it is
		without(tb, "pyiceberg", err.Error())
	}
	if err != nil {
		tb.Fatalf("pyiceberg cannot read %s: %v\n%s", table, err, stderr.String())
	}
	var i Iceberg
	if err := json.Unmarshal(out, &i); err != nil {
		tb.Fatal(err)
	}
	if i.Unavailable != "" {
		without(tb, "pyiceberg", i.Unavailable)
	}
	return i
}
