package filesink

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
)

// Format is a file format.
type Format interface {
	// Ext is the suffix of file names, without its dot.
	Ext() string
	// Check refuses a schema that the format cannot hold.
	Check(s *arrow.Schema) error
	// NewEncoder returns the encoder of one file. It may write at once.
	NewEncoder(w io.Writer, s *arrow.Schema) (Encoder, error)
}

// Encoder writes one file. It is used by one goroutine at a time, not always the same one.
type Encoder interface {
	// Write adds rows. r and its memory are the caller's again when it returns.
	Write(r arrow.Record) error
	// Buffered estimates the bytes that are still to be written for the rows added.
	Buffered() int64
	// Memory returns the bytes of memory that the encoder holds now: buffers with their capacities, and what it
	// keeps for the end of the file. What it shares with other encoders does not count.
	Memory() int64
	// Flush writes what it can of the rows added, and gives back the memory that they took. Writing may go on
	// after it. Parquet ends a row group early by it, which costs space: it is for when memory is short.
	Flush() error
	// Finish writes all that is left, and what ends the file. The encoder has given back its memory when it returns, also
	// with an error.
	Finish(p Provenance) error
	// Discard gives back the encoder's memory instead, and writes nothing.
	Discard()
}

// Provenance says what is in a file.
type Provenance struct {
	Table pipeline.Table
	Lane  pipeline.LaneID
	Span  pipeline.Span
	Rows  int64
}

// Stream is an output that all lanes share.
type Stream = sinks.Stream
