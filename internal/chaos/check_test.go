package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// writeRows writes a file of rows with these paths; "" is none.
func writeRows(t *testing.T, name string, partition int32, paths ...string) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "path", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "partition", Type: arrow.PrimitiveTypes.Int32},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, p := range paths {
		if p == "" {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.StringBuilder).Append(p)
		}
		b.Field(1).(*array.Int32Builder).Append(partition)
	}
	r := b.NewRecord()
	defer r.Release()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(schema, f, parquet.NewWriterProperties(parquet.WithMaxRowGroupLength(2)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// What counts the rows has to see every kind of wrong one.
func TestChecker(t *testing.T) {
	for name, c := range map[string]struct {
		write         func(t *testing.T, dir string)
		lost, twice   int64
		phantom, err  string
		phantomsCount int
	}{
		"all there": {write: func(t *testing.T, dir string) {
			writeRows(t, filepath.Join(dir, "a.parquet"), 0, "/0/0", "/0/1", "/0/2")
			writeRows(t, filepath.Join(dir, "dt=1", "b.parquet"), 1, "/1/0")
		}},
		"lost": {lost: 2, write: func(t *testing.T, dir string) {
			writeRows(t, filepath.Join(dir, "a.parquet"), 0, "/0/1")
			writeRows(t, filepath.Join(dir, "b.parquet"), 1, "/1/0")
		}},
		"twice in two files": {twice: 1, write: func(t *testing.T, dir string) {
			writeRows(t, filepath.Join(dir, "a.parquet"), 0, "/0/0", "/0/1", "/0/2")
			writeRows(t, filepath.Join(dir, "b.parquet"), 0, "/0/1")
			writeRows(t, filepath.Join(dir, "c.parquet"), 1, "/1/0")
		}},
		"twice in one": {twice: 1, lost: 1, write: func(t *testing.T, dir string) {
			writeRows(t, filepath.Join(dir, "a.parquet"), 0, "/0/0", "/0/1", "/0/2", "/0/2")
		}},
		"another partition": {lost: 1, phantomsCount: 1, phantom: "/1/0 in partition 0", write: func(t *testing.T, dir string) {
			writeRows(t, filepath.Join(dir, "a.parquet"), 0, "/0/0", "/0/1", "/0/2", "/1/0")
		}},
		"never produced": {lost: 1, phantomsCount: 3, phantom: "/0/3", write: func(t *testing.T, dir string) {
			writeRows(t, filepath.Join(dir, "a.parquet"), 0, "/0/0", "/0/1", "/0/2", "/0/3", "/aborted/0/1", "/2/0")
		}},
		"without a path": {lost: 2, phantomsCount: 1, phantom: "1 rows without", write: func(t *testing.T, dir string) {
			writeRows(t, filepath.Join(dir, "a.parquet"), 0, "/0/0", "/0/1", "/0/2", "")
		}},
		"a hidden file": {lost: 4, write: func(t *testing.T, dir string) {
			writeRows(t, filepath.Join(dir, "_tmp", "a.parquet"), 0, "/0/0", "/0/1", "/0/2")
		}},
		"no Parquet": {lost: 4, err: "a.parquet", write: func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "a.parquet"), []byte("PAR1PAR1"), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, sub := range []string{"dt=1", "_tmp"} {
				if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			c.write(t, dir)
			check := newChecker([]int64{3, 1})
			err := check.readAll(dir)
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v", err)
			}
			lost := check.missing(func(int, int64) {})
			if lost != c.lost || check.twice != c.twice || len(check.phantom) != c.phantomsCount ||
				!strings.Contains(strings.Join(check.phantom, "\n"), c.phantom) {
				t.Errorf("%d lost, %d twice, nobody produced %q", lost, check.twice, check.phantom)
			}
		})
	}
}

// The last line and the verdict are not "all well" unless all is.
func TestTotals(t *testing.T) {
	good := outcome{Name: "a", Faults: map[string]int{"x": 2, "y": 1}, Rows: 10, Starts: 3}
	for name, c := range map[string]struct {
		outcomes []outcome
		ok       bool
		line     string
	}{
		"good":       {[]outcome{good, good}, true, "faults=6 rows=20 lost=0 duplicated=0"},
		"nothing":    {nil, false, "faults=0 rows=0 lost=0 duplicated=0"},
		"lost":       {[]outcome{good, {Lost: 1}}, false, "faults=3 rows=10 lost=1 duplicated=0"},
		"duplicated": {[]outcome{good, {Duplicated: 2}}, false, "faults=3 rows=10 lost=0 duplicated=2"},
		"error":      {[]outcome{good, {Errors: []string{"x"}}}, false, "faults=3 rows=10 lost=0 duplicated=0"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := add(c.outcomes); got.ok != c.ok || got.line() != c.line {
				t.Errorf("%v %s", got.ok, got.line())
			}
		})
	}
}
