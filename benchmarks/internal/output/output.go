// Package output reads what a system that is measured has written into a folder.
package output

import (
	"io/fs"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
)

// Bytes returns the bytes of the files below a folder, which may change meanwhile.
func Bytes(folder string) (sum int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// EachRow calls each with the rows of the Parquet files in a folder.
func EachRow[T any](folder string, each func(T) error) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.parquet"))
	if err != nil {
		return err
	}
	for _, path := range files {
		rows, err := parquet.ReadFile[T](path)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := each(row); err != nil {
				return err
			}
		}
	}
	return nil
}
