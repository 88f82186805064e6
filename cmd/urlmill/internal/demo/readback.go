package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/rowview"
	"github.com/urlmill/urlmill/sinks/parquet"
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

func rowsOf(name string) (rows int64, err error) {
	f, info, err := openFile(name)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // only read from
	if rows, err = parquet.CountRows(f, info.Size()); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}

func openFile(name string) (*os.File, fs.FileInfo, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
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

// Top returns the most frequent values of a text column over all files, most first; of rows alone in which the column without is null,
// if it is not "".
func Top(ctx context.Context, files []string, column, without string, n int) (top []Count, err error) {
	counts := map[string]int64{}
	for _, name := range files {
		wanted := []string{column}
		if without != "" {
			wanted = append(wanted, without)
		}
		err := read(ctx, name, wanted, func(r arrow.Record) (bool, error) {
			at := func(name string) arrow.Array { return r.Column(r.Schema().FieldIndices(name)[0]) }
			values, ok := at(column).(*array.String)
			if !ok {
				return false, fmt.Errorf("column %s is %s", column, at(column).DataType())
			}
			for i := range values.Len() {
				if values.IsValid(i) && (without == "" || at(without).IsNull(i)) {
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
	var cells [][]rowview.Cell
	err := read(ctx, name, columns, func(r arrow.Record) (bool, error) {
		for i := 0; i < int(r.NumRows()) && len(cells) < rows; i++ {
			row := make([]rowview.Cell, len(columns))
			for c, column := range columns {
				row[c] = rowview.CellOf(r.Column(r.Schema().FieldIndices(column)[0]), i)
			}
			cells = append(cells, row)
		}
		return len(cells) < rows, nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return rowview.NewLayout(columns, cells, width).Write(w, columns, cells, width > 0)
}

// read calls each for the records of a file, with the given columns in the order of the file, until it returns false.
func read(ctx context.Context, name string, columns []string, each func(arrow.Record) (bool, error)) error {
	f, info, err := openFile(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read from
	r, err := parquet.NewReader(f, info.Size())
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	for _, column := range columns {
		if !r.Schema().HasField(column) {
			return fmt.Errorf("there is no column %s", column)
		}
	}
	r.Select(func(i int) bool { return slices.Contains(columns, r.Schema().Field(i).Name) })
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if more, err := each(rec); err != nil || !more {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}
