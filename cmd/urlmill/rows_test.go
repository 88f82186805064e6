package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

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
	reader, err := file.OpenParquetFile(name, false)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }()
	fr, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	table, err := fr.ReadTable(context.Background())
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
	return nil
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
