package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/table"
)

// Files returns the Parquet files of a folder and of its partitions in the order of their names; none if there is no folder.
func Files(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == dir:
			return nil
		case err != nil:
			return err
		case d.IsDir() && name != dir && (d.Name()[0] == '_' || d.Name()[0] == '.'):
			return filepath.SkipDir
		case !d.IsDir() && filepath.Ext(name) == ".parquet":
			files = append(files, name)
		}
		return nil
	})
	return files, err
}

// Rows counts the rows of files.
func Rows(files []string) (rows int64, err error) {
	for _, name := range files {
		n, err := rowsOf(name)
		if err != nil {
			return 0, err
		}
		rows += n
	}
	return rows, nil
}

func rowsOf(name string) (int64, error) {
	reader, err := file.OpenParquetFile(name, false)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	defer func() { _ = reader.Close() }() // only read from
	return reader.NumRows(), nil
}

// Partitions counts the rows of files by the directories that they are in, in the order of their names.
func Partitions(files []string) (parts []Count, err error) {
	for _, name := range files {
		n, err := rowsOf(name)
		if err != nil {
			return nil, err
		}
		part := filepath.Base(filepath.Dir(name))
		if last := len(parts) - 1; last >= 0 && parts[last].Value == part {
			parts[last].Rows += n
		} else {
			parts = append(parts, Count{part, n})
		}
	}
	return parts, nil
}

// Count is a value and the number of rows that have it.
type Count struct {
	Value string
	Rows  int64
}

// Top returns the most frequent values of a text column over all files, most first.
func Top(ctx context.Context, files []string, column string, n int) (top []Count, err error) {
	counts := map[string]int64{}
	for _, name := range files {
		err := read(ctx, name, []string{column}, func(r arrow.Record) (bool, error) {
			values, ok := r.Column(0).(*array.String)
			if !ok {
				return false, fmt.Errorf("column %s is %s", column, r.Column(0).DataType())
			}
			for i := range values.Len() {
				if values.IsValid(i) {
					counts[values.Value(i)]++
				}
			}
			return true, nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, value := range slices.Sorted(maps.Keys(counts)) {
		top = append(top, Count{value, counts[value]})
	}
	slices.SortStableFunc(top, func(a, b Count) int { return cmp.Compare(b.Rows, a.Rows) })
	return top[:min(n, len(top))], nil
}

// Sample shows the first rows of a file as a table, not wider than width.
func Sample(ctx context.Context, w io.Writer, name string, columns []string, rows, width int) error {
	var cells [][]table.Cell
	err := read(ctx, name, columns, func(r arrow.Record) (bool, error) {
		for i := 0; i < int(r.NumRows()) && len(cells) < rows; i++ {
			row := make([]table.Cell, len(columns))
			for c, column := range columns {
				row[c] = table.CellOf(r.Column(r.Schema().FieldIndices(column)[0]), i)
			}
			cells = append(cells, row)
		}
		return len(cells) < rows, nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	layout := table.NewLayout(columns, cells, width)
	header := make([]table.Cell, len(columns))
	for i, column := range columns {
		header[i] = table.Cell{Text: column, Right: len(cells) > 0 && cells[0][i].Right}
	}
	for _, row := range append([][]table.Cell{header}, cells...) {
		if err := layout.WriteRow(w, row, width > 0); err != nil {
			return err
		}
	}
	return nil
}

// read calls each for the records of a file, with the given columns, until it returns false.
func read(ctx context.Context, name string, columns []string, each func(arrow.Record) (bool, error)) error {
	reader, err := file.OpenParquetFile(name, false)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }() // only read from
	const batch = 8192
	fr, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{BatchSize: batch}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	leaves, err := leavesOf(fr, columns)
	if err != nil {
		return err
	}
	records, err := fr.GetRecordReader(ctx, leaves, nil)
	if err != nil {
		return err
	}
	defer records.Release()
	for records.Next() {
		more, err := each(records.Record())
		if err != nil || !more {
			return err
		}
	}
	if err := records.Err(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// leavesOf returns the indices of the leaf columns that make up the named columns.
func leavesOf(fr *pqarrow.FileReader, columns []string) ([]int, error) {
	var leaves []int
	for _, column := range columns {
		i := slices.IndexFunc(fr.Manifest.Fields, func(f pqarrow.SchemaField) bool { return f.Field.Name == column })
		if i < 0 {
			return nil, fmt.Errorf("there is no column %s", column)
		}
		leaves = appendLeaves(leaves, &fr.Manifest.Fields[i])
	}
	return leaves, nil
}

func appendLeaves(leaves []int, f *pqarrow.SchemaField) []int {
	if len(f.Children) == 0 { // IsLeaf takes lists for leaves
		return append(leaves, f.ColIndex)
	}
	for i := range f.Children {
		leaves = appendLeaves(leaves, &f.Children[i])
	}
	return leaves
}
