package parquet

import (
	"io"

	"github.com/apache/arrow/go/v15/parquet/file"
)

// CountRows returns the number of rows that the footer of a Parquet file of the given size tells of.
func CountRows(r io.ReaderAt, size int64) (int64, error) {
	f, err := file.NewParquetReader(io.NewSectionReader(r, 0, size))
	if err != nil {
		return 0, err
	}
	return f.NumRows(), f.Close()
}
