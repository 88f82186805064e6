package parquet

import (
	"io"

	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/urlmill/urlmill/internal/pqread"
)

// CountRows returns the number of rows that the footer of a Parquet file of the given size tells of.
func CountRows(r io.ReaderAt, size int64) (_ int64, err error) {
	defer damaged(&err)
	f, err := pqread.Open(r, size)
	if err != nil {
		return 0, err
	}
	return f.NumRows(), nil
}

// RowGroups returns what the footer of a Parquet file of the given size says of its row groups.
func RowGroups(r io.ReaderAt, size int64) (_ []pqformat.RowGroup, err error) {
	defer damaged(&err)
	f, err := pqread.Open(r, size)
	if err != nil {
		return nil, err
	}
	return f.Metadata().RowGroups, nil
}
