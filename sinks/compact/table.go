package compact

import (
	"context"
	"log/slog"
	"time"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/store"
)

// TableOptions say how a table of the files of an output is maintained.
type TableOptions struct {
	// Root has the records, and Options say where the table is known; nil: in the catalog of the folder.
	Root    store.Store
	Options parquet.TableOptions
	Format  Format
	// TargetBytes is the size that files are to have. Those that have three quarters of it stay as they are.
	TargetBytes int64
	// MinAge is how old files are that are merged as far as that goes, if MinFiles are together.
	MinAge   time.Duration
	MinFiles int
	// Steady has younger ones merged as well, each a few times, so that there are never many. It is for who looks again and again.
	Steady bool
	// Load is the part of the time that merging takes at most, 0 for all of it. A pass leaves what there is no time for.
	Load float64
	// Under is the directory, relative to Root, whose files are merged; "" stands for all.
	Under string
	// Snapshots are removed that are older than SnapshotAge, 0 for what the table itself says, or more than MaxSnapshots.
	SnapshotAge  time.Duration
	MaxSnapshots int
	// OrphanAge is how old files are that no snapshot names and that are removed; 0: none are.
	OrphanAge time.Duration
	// DryRun has nothing changed.
	DryRun     bool
	Provenance commit.Provenance
	Log        *slog.Logger
	TempDir    string
	// Now is the time, for tests; nil: that of the system.
	Now func() time.Time
}

// TableReport says what was done to a table, or would be.
type TableReport struct {
	Location string `json:"location"`
	Table    string `json:"table"`
	DryRun   bool   `json:"dry_run,omitempty"`
	// Merged is how many files with how many bytes were merged, into Files.
	Merged      int   `json:"merged"`
	MergedBytes int64 `json:"merged_bytes"`
	Files       int   `json:"files"`
	Bytes       int64 `json:"bytes"`
	Rows        int64 `json:"rows"`
	// Live is how many data files the table had, and InPartition how many of a partition at most.
	Live        int `json:"live"`
	InPartition int `json:"in_partition"`
	// Deletes are small files that stay as they are, since rows of them are deleted by files of their own, and Foreign those of
	// other programs.
	Deletes int `json:"deletes,omitempty"`
	Foreign int `json:"foreign,omitempty"`
	// Snapshots were removed, and Removed files with them.
	Snapshots int `json:"snapshots"`
	Removed   int `json:"removed"`
	// Orphans are files that no snapshot names, by their names in the output.
	Orphans []string `json:"orphans,omitempty"`
	// Skipped are files that could not be read, and were left as they are.
	Skipped []string `json:"skipped,omitempty"`
}

// TableKeeper maintains a table. It may be interrupted, and it may work beside pipelines, other programs, and others of its kind.
type TableKeeper interface {
	// Pass does what there is to do.
	Pass(ctx context.Context) (*TableReport, error)
	Close() error
}

// OpenTable opens the table of an output.
type OpenTable func(ctx context.Context, o TableOptions) (TableKeeper, error)
