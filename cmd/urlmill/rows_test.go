package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/rogpeppe/go-internal/testscript"
)

// scriptRows is the script command "rows PATTERN...": it reads Parquet and Arrow files and prints a header and every
// row, tab-separated, to standard output, for the commands stdout and cmp.
func scriptRows(ts *testscript.TestScript, neg bool, patterns []string) {
	if neg {
		ts.Fatalf("rows cannot be negated")
	}
	var b strings.Builder
	for _, pattern := range patterns {
		files, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		if len(files) == 0 {
			ts.Fatalf("rows: no file %s", pattern)
		}
		sort.Strings(files)
		for _, f := range files {
			ts.Check(printRows(&b, f))
		}
	}
	_, err := ts.Stdout().Write([]byte(b.String()))
	ts.Check(err)
}

// printRows prints the rows of one file.
func printRows(b *strings.Builder, name string) error {
	if strings.HasSuffix(name, ".parquet") {
		return printParquet(b, name)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if strings.HasSuffix(name, ".arrow") {
		r, err := ipc.NewFileReader(f)
		if err != nil {
			return err
		}
		printHeader(b, r.Schema())
		for i := range r.NumRecords() {
			record, err := r.Record(i)
			if err != nil {
				return err
			}
			printRecord(b, record)
		}
		return r.Close()
	}
	r, err := ipc.NewReader(f)
	if err != nil {
		return err
	}
	defer r.Release()
	printHeader(b, r.Schema())
	for r.Next() {
		printRecord(b, r.Record())
	}
	return r.Err()
}

func printParquet(b *strings.Builder, name string) error {
	table, err := readParquet(name)
	if err != nil {
		return err
	}
	defer table.Release()
	printHeader(b, table.Schema())
	rows := array.NewTableReader(table, -1)
	defer rows.Release()
	for rows.Next() {
		printRecord(b, rows.Record())
	}
	return rows.Err()
}

// readParquet returns what is in a Parquet file, which the caller releases.
func readParquet(name string) (arrow.Table, error) {
	reader, err := file.OpenParquetFile(name, false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reader.Close() }()
	fr, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	return fr.ReadTable(context.Background())
}

// eachRecord reads a Parquet file, and returns how many rows it has.
func eachRecord(t *testing.T, name string, each func(arrow.Record)) int {
	t.Helper()
	table, err := readParquet(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer table.Release()
	rows := array.NewTableReader(table, -1)
	defer rows.Release()
	for rows.Next() {
		each(rows.Record())
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return int(table.NumRows())
}

// parquetIn returns the names of the Parquet files right in a folder.
func parquetIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func printHeader(b *strings.Builder, s *arrow.Schema) {
	names := make([]string, s.NumFields())
	for i := range names {
		names[i] = s.Field(i).Name
	}
	fmt.Fprintln(b, strings.Join(names, "\t"))
}

func printRecord(b *strings.Builder, r arrow.Record) {
	for i := range int(r.NumRows()) {
		values := make([]string, r.NumCols())
		for c := range values {
			values[c] = r.Column(c).ValueStr(i)
		}
		fmt.Fprintln(b, strings.Join(values, "\t"))
	}
}
