package readers

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed matrix.py
var matrixScript string

//go:embed prune.py
var pruneScript string

// Table is a table in Parquet files.
type Table struct {
	Name     string   `json:"name"`
	Files    []string `json:"files"`    // in the order of the rows
	Expected string   `json:"expected"` // file of [WriteNeutral]
}

// Comparison is what a reader in Python found.
type Comparison struct {
	Version     string   `json:"version"`
	Tables      int      `json:"tables"`
	Values      int      `json:"values"`
	Wrong       []string `json:"wrong"`
	Unavailable string   `json:"unavailable"`
}

// Compare has a library of Python, one of pyarrow, polars, datafusion and spark, read tables and compare every value.
func Compare(tb testing.TB, library string, tables []Table) Comparison {
	tb.Helper()
	manifest := filepath.Join(tb.TempDir(), "manifest.json")
	text, err := json.Marshal(tables)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(manifest, text, 0o600); err != nil {
		tb.Fatal(err)
	}
	var c Comparison
	runPython(tb, &c, matrixScript, library, manifest)
	if c.Unavailable != "" {
		without(tb, library, c.Unavailable)
	}
	return c
}

// Pruning is what a query read of a file by DataFusion's count.
type Pruning struct {
	Rows []int64 `json:"rows"` // the ids that were found
	// Groups and Pages are numbers before and after pruning by statistics, bloom filters and the page index.
	Statistics [2]int64 `json:"statistics"`
	Bloom      [2]int64 `json:"bloom"`
	PageRows   [2]int64 `json:"page_rows"`
}

// Prune runs queries, conditions on the columns of a file, by DataFusion.
func Prune(tb testing.TB, path string, conditions []string) []Pruning {
	tb.Helper()
	text, err := json.Marshal(conditions)
	if err != nil {
		tb.Fatal(err)
	}
	var out struct {
		Unavailable string    `json:"unavailable"`
		Results     []Pruning `json:"results"`
	}
	runPython(tb, &out, pruneScript, path, string(text))
	if out.Unavailable != "" {
		without(tb, "datafusion", out.Unavailable)
	}
	return out.Results
}

// runPython runs a script, whose last line of output is JSON. Libraries may write other lines before.
func runPython(tb testing.TB, result any, script string, args ...string) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), python(), append([]string{"-c", script}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if _, notThere := err.(*exec.Error); notThere { //nolint:errorlint // Output returns it as it is
		without(tb, "python3", err.Error())
	}
	if err != nil {
		tb.Fatalf("%v\n%s", err, stderr.String())
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], result); err != nil {
		tb.Fatalf("%v: %.1000s\n%s", err, out, stderr.String())
	}
}

func python() string {
	if p := os.Getenv("URLMILL_PYTHON"); p != "" {
		return p
	}
	return "python3"
}
