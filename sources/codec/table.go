package codec

import "github.com/urlmill/urlmill/pipeline"

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
