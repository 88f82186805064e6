package codec

import (
	"context"

	"github.com/urlmill/urlmill/pipeline"
)

// Table is an open file. It is used by one goroutine.
type Table interface {
	// Rows returns the number of rows.
	Rows() int64
	// Skip makes the row with that number, of those that there are, the next one.
	Skip(to int64) error
	// Append adds the next rows, from the one with the number at, to b, until b is full or there are no more, and returns the
	// number of the row behind the last that it has taken; at, where there is none. Their numbers become Offsets; a row may
	// be none of the batch. b has been prepared by the factory's codec. An error takes nothing back: rows that are whole in b
	// come first.
	Append(ctx context.Context, b *pipeline.Batch, at int64) (next int64, err error)
	// Close lets go of the memory. The file is the caller's.
	Close() error
}
