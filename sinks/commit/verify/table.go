package verify

import (
	"context"
	"fmt"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

// TableReader reads what a table that names the files of an output says of them; nil if there is none.
type TableReader func(ctx context.Context, root store.Store) (*TableState, error)

// TableState is what a table says of the files of an output, by their names in it.
type TableState struct {
	Metadata string // what it was read by
	Rows     int64  // in all data files that it has
	// Positions are those up to which the table has had the files of each lane.
	Positions map[string]int64
	// Has are the data files that it has, and Had others that one of its snapshots has had.
	Has, Had map[string]bool
	// LeftOut are files of commits that were gone before the table could name them.
	LeftOut map[string]bool
}

// Table is what a table has made of the files. It is there only if some of them are not, or others are.
type Table struct {
	Metadata string `json:"metadata"`
	// Removed is how many files are not there any more because the table had them once and does not any more, with
	// RemovedRows rows: it has those in other files, or they were deleted from it.
	Removed     int   `json:"removed"`
	RemovedRows int64 `json:"removed_rows"`
	// Rows is how many rows the table has, and Committed how many were committed up to its positions. There are fewer where
	// somebody has deleted rows from it.
	Rows      int64 `json:"rows"`
	Committed int64 `json:"committed"`
}

// settleTable finds out which of the files that are missing are so because a table has removed them, and which that no commit
// names are a table's own. It comes last: who removes files of a table has said so in it before.
func (v *verifier) settleTable(ctx context.Context) error {
	if len(v.gone) == 0 && len(v.strays) == 0 {
		return nil
	}
	now, err := v.tableState(ctx)
	why := ""
	if err != nil {
		why = fmt.Sprintf("; what the Iceberg table has made of it cannot be told: %v", err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if now != nil {
		v.report.Table = &Table{Metadata: now.Metadata, Rows: now.Rows, Committed: v.committed(now)}
	}
	for _, n := range v.gone {
		switch {
		case now == nil:
			v.problem(MissingFile, n, "%d rows are in it, and it is not there: restore it, unless it was moved away on purpose%s", n.Rows, why)
		case now.Has[n.path()]:
			v.problem(MissingFile, n, "%d rows are in it, and it is not there, though the Iceberg table names it: restore it", n.Rows)
		case !now.removed(n):
			v.problem(MissingFile, n, "%d rows are in it, and it is not there, and the Iceberg table never had it: restore it, unless it was moved away on purpose", n.Rows)
		default:
			v.report.Table.Removed++
			v.report.Table.RemovedRows += n.Rows
		}
	}
	for file := range v.strays {
		if now == nil || !now.Has[file] && !now.Had[file] {
			v.problem(StrayFile, named{File: commit.File{Name: file}, first: -1},
				"no commit names it, and readers take it for a part of the output: move it away unless you have put it there%s", why)
		}
	}
	return nil
}

func (v *verifier) tableState(ctx context.Context) (*TableState, error) {
	if v.Table == nil {
		return nil, nil
	}
	return v.Table(ctx, v.Root)
}

// removed reports whether the table had a file once, and does not have it any more.
func (t *TableState) removed(n named) bool {
	return t.covers(n) && !t.Has[n.path()] && !t.LeftOut[n.path()]
}

// covers reports whether a file is one of those that a table up to its positions is made of.
func (t *TableState) covers(n named) bool {
	next, ok := t.Positions[n.lane]
	return ok && n.compaction == 0 && n.Place == "" && n.Table == pipeline.Rows.String() && n.next <= next
}

// committed returns how many rows were committed up to the positions of a table.
func (v *verifier) committed(t *TableState) (rows int64) {
	for _, n := range v.files {
		if t.covers(n) && !t.LeftOut[n.path()] {
			rows += n.Rows
		}
	}
	return rows
}
