package arrowipc

import (
	"errors"
	"io"

	"github.com/urlmill/urlmill/internal/ipcread"
)

// CountRows returns the number of rows of an Arrow IPC file of the given size. It reads all of it.
func CountRows(r io.ReaderAt, size int64) (int64, error) {
	f, err := ipcread.NewFileReader(io.NewSectionReader(r, 0, size), size)
	if err != nil {
		return 0, err
	}
	rows := int64(0)
	for i := range f.NumRecords() {
		record, err := f.Record(i) // valid until the next call
		if err != nil {
			return 0, errors.Join(err, f.Close())
		}
		rows += record.NumRows()
	}
	return rows, f.Close()
}
