package readers

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

//go:embed writers.py
var writersScript string

// Writer is another program that changes an Iceberg table: pyiceberg or Spark.
type Writer struct {
	tb     testing.TB
	in     io.Writer
	out    *bufio.Scanner
	stderr *testproc.Log
}

// Written is what a [Writer] answers.
type Written struct {
	Unavailable string   `json:"unavailable"`
	Rows        int64    `json:"rows"`
	Distinct    int64    `json:"distinct"` // of the column n
	Sum         int64    `json:"sum"`
	Sites       int64    `json:"sites"` // rows with a host
	One         int64    `json:"one"`   // rows of one host
	Audit       int64    `json:"audit"` // rows of the branch
	Columns     []string `json:"columns"`
	Files       []string `json:"files"`
	Specs       []int    `json:"specs"` // partition specs of the files
}

// NewWriter starts a program, pyiceberg or spark, on the table of a REST catalog. It ends with the test. Without pyiceberg it skips
// the test, or fails it when URLMILL_REQUIRE_PYARROW is 1; Spark has to be there.
func NewWriter(tb testing.TB, engine, catalog, table string) *Writer {
	tb.Helper()
	args := []string{"-c", writersScript, engine, catalog, table}
	if engine == "spark" {
		jar, err := testproc.Maven("iceberg-spark-"+icebergVersion, icebergSpark+".jar", func(dir string) ([]string, error) {
			return []string{
				"org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy", "-DoutputDirectory=" + dir,
				"-Dartifact=org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:" + icebergVersion,
			}, nil
		})
		if err != nil {
			tb.Fatal(err)
		}
		args = append(args, jar)
	}
	cmd := exec.CommandContext(tb.Context(), pythonOf(engine), args...)
	w := &Writer{tb: tb, stderr: new(testproc.Log)}
	cmd.Stderr = w.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		without(tb, engine, err.Error())
	}
	w.in, w.out = in, bufio.NewScanner(out)
	w.out.Buffer(nil, 64<<20)
	tb.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	if first := w.answer("the start"); first.Unavailable != "" {
		without(tb, engine, first.Unavailable)
	}
	return w
}

const (
	icebergVersion = "1.10.1"
	icebergSpark   = "iceberg-spark-runtime-4.0_2.13-" + icebergVersion
)

// pythonOf returns the Python of an engine: Iceberg has a runtime for another Spark than the newest.
func pythonOf(engine string) string {
	if engine == "spark" {
		return os.Getenv("URLMILL_SPARK_PYTHON")
	}
	return python()
}

// Do makes one of the steps.
func (w *Writer) Do(step string) Written {
	w.tb.Helper()
	if _, err := io.WriteString(w.in, step+"\n"); err != nil {
		w.tb.Fatalf("%s: %v\n%s", step, err, w.stderr)
	}
	return w.answer(step)
}

func (w *Writer) answer(step string) (a Written) {
	w.tb.Helper()
	for w.out.Scan() {
		if line := bytes.TrimSpace(w.out.Bytes()); bytes.HasPrefix(line, []byte("{")) { // Spark has more to say
			if err := json.Unmarshal(line, &a); err != nil {
				w.tb.Fatalf("%s: %v", step, err)
			}
			return a
		}
	}
	w.tb.Fatalf("%s: %v\n%s", step, w.out.Err(), w.stderr)
	return a
}
