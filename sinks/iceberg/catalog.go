package iceberg

import (
	"context"
	"errors"
	"strings"

	iceberg "github.com/apache/iceberg-go"
)

// Catalog knows where the metadata of tables is, and replaces it on condition. Its methods may be called from several
// goroutines.
type Catalog interface {
	// load returns a table as it is now; the error is errNoTable if there is none.
	load(ctx context.Context, table []string) (*state, error)
	// create makes a table and its namespace; the error is errExists if it is there.
	create(ctx context.Context, table []string, n creation) error
	// commit makes a change to a table that is as base says; the error is errConflict if it is not any more. After any
	// other error, and if it is errUncertain as well, it may have been made or not.
	commit(ctx context.Context, table []string, base *state, c change) error
	Close() error
}

var (
	errNoTable  = errors.New("there is no such table")
	errExists   = errors.New("the table is there already")
	errConflict = errors.New("somebody else has changed the table meanwhile")
	// errUncertain goes with errConflict when an attempt came before whose answer was lost.
	errUncertain = errors.New("whether an attempt was made before that cannot be told")
)

// state is a table at a moment.
type state struct {
	location string // of the metadata
	raw      []byte
	meta     *metadata
}

// creation is a table to be made.
type creation struct {
	location   string
	schema     *iceberg.Schema
	lastColumn int
	spec       *iceberg.PartitionSpec
	properties map[string]string
}

// change is what becomes of a table at once.
type change struct {
	schema     *iceberg.Schema // the new current one, nil if that stays
	lastColumn int             // the greatest identifier of a column, with schema
	properties map[string]string
	snapshot   *snapshot // the new current one, nil if that stays
	expired    []int64   // snapshots that are forgotten: no ref may be one of them
}

// tableFiles are where metadata is read and written.
type tableFiles interface {
	read(ctx context.Context, location string) ([]byte, error)
	create(ctx context.Context, location string, content []byte) error
	remove(ctx context.Context, location string) error
}

func dotted(parts []string) string { return strings.Join(parts, ".") }
