package codec

import (
	"io"

	"github.com/urlmill/urlmill/pipeline"
)

// Tables is a [Factory] for files that are tables, whose records are rows and not bytes that somebody could frame. The
// file source reads such files with it.
type Tables interface {
	Factory
	// OpenTable opens a file of size bytes. A value of the URL that is longer than maxValue is cut there.
	OpenTable(r io.ReaderAt, size int64, maxValue int) (Table, error)
}

// Table is an open file. It is used by one goroutine.
type Table interface {
	// Rows returns the number of rows.
	Rows() int64
	// Skip makes the row with that number, of those that there are, the next one.
	Skip(to int64) error
	// Append adds the next rows to the URLs, Bases, Carried and Faults of b, until b is full or there are no more, and
	// returns how many; 0 at the end. b has been prepared by the factory's codec. An error takes nothing back: rows
	// that are whole in b come first.
	Append(b *pipeline.Batch) (rows int, err error)
	// Close lets go of the memory. The file is the caller's.
	Close() error
}
