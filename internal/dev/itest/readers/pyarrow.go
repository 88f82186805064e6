package readers

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

//go:embed read.py
var script string

// About is what pyarrow says of a file besides its rows.
type About struct {
	Rows      int64             `json:"rows"` // of a Parquet file
	CreatedBy string            `json:"created_by"`
	Schema    string            `json:"schema"`
	Groups    []Group           `json:"groups"`
	Types     map[string]string `json:"types"` // Arrow type by column
	Metadata  map[string]string `json:"metadata"`
	Version   string            `json:"version"` // pyarrow's

	Unavailable string `json:"unavailable"`
}

// Group is a row group.
type Group struct {
	Rows   int64   `json:"rows"`
	Chunks []Chunk `json:"chunks"`
}

// Chunk is a column chunk.
type Chunk struct {
	Path        string `json:"path"`
	Compression string `json:"compression"`
	Values      int64  `json:"values"`
	Nulls       *int64 `json:"nulls"`
	Distinct    *int64 `json:"distinct"`
	Bounded     bool   `json:"bounded"` // has a minimum and maximum
}

// Pyarrow reads a file of the given format, one of parquet, arrow, stream and json. Without a Python that can
// import pyarrow it skips the test, or fails it when URLMILL_REQUIRE_PYARROW is 1.
func Pyarrow(tb testing.TB, format, path string) (About, []Row) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), python(), "-c", script, format, path)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if _, notThere := err.(*exec.Error); notThere { //nolint:errorlint // Output returns it as it is
		without(tb, "pyarrow", err.Error())
	}
	if err != nil {
		tb.Fatalf("pyarrow cannot read %s: %v\n%s", path, err, stderr.String())
	}
	lines := bufio.NewReader(bytes.NewReader(out))
	var about About
	first, err := lines.ReadBytes('\n')
	if err != nil {
		tb.Fatalf("%v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(first, &about); err != nil {
		tb.Fatal(err)
	}
	if about.Unavailable != "" {
		without(tb, "pyarrow", about.Unavailable)
	}
	var rows []Row
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return about, rows
		}
		var pairs [][2]any
		if err := json.Unmarshal(line, &pairs); err != nil {
			tb.Fatal(err)
		}
		rows = append(rows, rowOf(pairs))
	}
}

// without skips a test for which a library of Python is missing, or fails it where it has to be there.
func without(tb testing.TB, library, reason string) {
	tb.Helper()
	reason = "there is no " + library + ": " + reason + "; run: pip install -r internal/dev/itest/requirements.txt, or set URLMILL_PYTHON to a Python that has them"
	if library == "spark" { // which runs only where it was asked for
		tb.Fatal(reason)
	}
	testproc.Missing(tb, "URLMILL_REQUIRE_PYARROW", reason)
}

func rowOf(pairs [][2]any) Row {
	row := make(Row, len(pairs))
	for _, p := range pairs {
		row[p[0].(string)] = fromPython(p[1])
	}
	return row
}

// fromPython brings a value of the script's output into canonical form.
func fromPython(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = fromPython(e)
		}
		return list
	case map[string]any:
		for kind, content := range v {
			return typed(kind, content)
		}
	}
	return v
}

func typed(kind string, content any) any {
	if kind == "struct" {
		row := Row{}
		for _, field := range content.([]any) {
			pair := field.([]any)
			row[pair[0].(string)] = fromPython(pair[1])
		}
		return row
	}
	text := content.(string)
	switch kind {
	case "int":
		return Number(text)
	case "bytes":
		b, err := hex.DecodeString(text)
		if err != nil {
			panic(err)
		}
		return Bytes(b)
	case "nanos":
		// More than 64 bits: the range of microseconds in nanoseconds.
		seconds, rest := "0", text
		if n := len(text) - 9; n > 0 && text[:n] != "-" {
			seconds, rest = text[:n], text[n:]
		}
		s, err1 := strconv.ParseInt(seconds, 10, 64)
		r, err2 := strconv.ParseInt(strings.TrimPrefix(rest, "-"), 10, 64)
		if err1 != nil || err2 != nil {
			panic(fmt.Sprint(err1, err2))
		}
		if strings.HasPrefix(text, "-") {
			r = -r
		}
		return Canon(time.Unix(s, r))
	}
	// A float in hexadecimal.
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return float(f)
}

// DatasetRows returns the number of rows of a folder of Parquet files with Hive partitions, as pyarrow's datasets read it.
func DatasetRows(tb testing.TB, folder string) int {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), python(), "-c", "import sys, pyarrow.dataset as d; print(d.dataset(sys.argv[1], format='parquet', partitioning='hive').count_rows())", folder)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		without(tb, "pyarrow", err.Error()+"\n"+stderr.String())
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		tb.Fatal(err)
	}
	return n
}
