package database

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
)

// Driver is a database. Its methods may be called from several goroutines, those about one lane from one at a time.
type Driver interface {
	// Start connects, makes the tables that are missing, and refuses those that rows of their schemas do not fit into.
	Start(ctx context.Context, tables [pipeline.NumTables]*Target) error
	// Limits are those of the values that it loads, once it has started.
	Limits() Limits
	// Position returns the position that a lane has to be read from, [pipeline.Unknown] if nothing of it was loaded, and the
	// ID of the last load. What was being loaded by somebody else, and can still become true, is waited for.
	Position(ctx context.Context, lane Lane) (next int64, load string, err error)
	// Lanes returns the lanes with a session of which something was loaded.
	Lanes(ctx context.Context) ([]Lane, error)
	// Load adds rows and moves the position of their lane, both or neither. The error is [ErrFenced] when the position is
	// not where the load begins. An error made by [Temporary] may pass, and the same load is tried again: if it turns out
	// that it was made, nothing happens.
	Load(ctx context.Context, l Load) error
	Close() error
}

// Target is a table that rows go to.
type Target struct {
	Name string
	// Schema is that of the rows before columns have become [JSON].
	Schema *arrow.Schema
}

// Lane names a lane in the database: texts without NUL, in UTF-8, and different for different lanes.
type Lane struct {
	Stream, Session string
	Partition       int32
}

// Load is what is loaded at once.
type Load struct {
	Lane Lane
	// First is the position that the lane is at, [pipeline.Unknown] for none, and Next the one after the rows.
	First, Next int64
	// ID is that of this load, and the same when it is tried again. Behind a space it has what the positions are of, as in
	// [pipeline.Mark].
	ID string
	// Rows are the records for each table, in order. Columns that are [JSON] are large strings, and each array begins at the start of
	// its memory.
	Rows [pipeline.NumTables][]arrow.Record
}

// Empty reports whether there are no rows.
func (l *Load) Empty() bool {
	for _, records := range l.Rows {
		for _, r := range records {
			if r.NumRows() > 0 {
				return false
			}
		}
	}
	return true
}

// ErrFenced says that somebody else has moved the position of a lane.
var ErrFenced = errors.New("the position was moved by another process")

// temporary is an error that may pass.
type temporary struct{ error }

func (t temporary) Unwrap() error { return t.error }

// Temporary returns err as one that may pass.
func Temporary(err error) error { return temporary{err} }

// laneOf returns the name of a lane in a database.
func laneOf(id pipeline.LaneID) Lane {
	return Lane{Stream: escape(id.Stream), Session: escape(id.Session), Partition: id.Partition}
}

// escape writes what no database takes as %XX, and so percent signs too.
func escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		if size := len(string(r)); r == 0 || r == '%' || r == 0xFFFD && (i+size > len(s) || s[i:i+size] != "\uFFFD") {
			fmt.Fprintf(&b, "%%%02X", s[i])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
