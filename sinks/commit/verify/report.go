package verify

import (
	"cmp"
	"slices"

	"github.com/urlmill/urlmill/sinks/commit"
)

// What can be wrong with the files of an output; the kinds of package commit are about its records.
const (
	// MissingFile is a file that a record names and that is neither visible nor waiting to be published.
	MissingFile commit.Kind = "missing_file"
	// UnfinishedPublish is a committed file whose process died before it was visible. The next start of a
	// pipeline publishes it, and so does repairing.
	UnfinishedPublish commit.Kind = "unfinished_publish"
	// WrongSize, WrongChecksum and WrongRows are files that hold something else than was written.
	WrongSize     commit.Kind = "wrong_size"
	WrongChecksum commit.Kind = "wrong_checksum"
	WrongRows     commit.Kind = "wrong_rows"
	// WrongURL is a row whose columns do not belong to one URL.
	WrongURL commit.Kind = "wrong_url"
	// NamedTwice is a file that two commits have.
	NamedTwice commit.Kind = "named_twice"
	// ReplacedFile is a visible file whose rows are in another one, by which a compaction has replaced it: readers of the
	// directory see them twice.
	ReplacedFile commit.Kind = "replaced_file"
	// WrongCompaction is a compaction whose files are not those of the commits that it names.
	WrongCompaction commit.Kind = "wrong_compaction"
	// UnfinishedCompaction is one whose process died before it was done. The next start of a pipeline ends it, and so do the
	// next compaction and repairing.
	UnfinishedCompaction commit.Kind = "unfinished_compaction"
	// ForeignPlace is a place outside of the output that records name and that does not say that it belongs to the output. It
	// is left alone, and the files in it are not looked at.
	ForeignPlace commit.Kind = "foreign_place"
	// StrayFile is a visible file that no record names. Readers take its rows for delivered.
	StrayFile commit.Kind = "stray_file"
)

// Report is what was found. It has no problems if the output is as it has to be.
type Report struct {
	Location string `json:"location"`
	OK       bool   `json:"ok"`
	Lanes    []Lane `json:"lanes"`
	Commits  int    `json:"commits"`
	Files    int    `json:"files"`
	Rows     int64  `json:"rows"`
	Dead     int64  `json:"dead_letters"`
	Bytes    int64  `json:"bytes"`
	// Judged is the number of rows that an [Inspector] has compared, if there was one.
	Judged int64 `json:"judged,omitempty"`
	// Compacted tells of the compactions, if there are any. Files and Bytes count what there was before them.
	Compacted *Compactions `json:"compacted,omitempty"`
	// Against is what the source has, if it was asked.
	Against *Against `json:"against,omitempty"`
	// Table tells of the table that names the files, if it has removed some of them or has others of its own.
	Table    *Table           `json:"table,omitempty"`
	Problems []commit.Problem `json:"problems"`
}

// Lane is what the records of a lane tell.
type Lane struct {
	Lane        string `json:"lane"` // directory of its records
	Stream      string `json:"stream"`
	Partition   int32  `json:"partition"`
	Start       int64  `json:"start"`        // position of the first record
	Next        int64  `json:"next"`         // position after the last
	Of          string `json:"of,omitempty"` // what they are positions of, as in [pipeline.Mark]
	Commits     int    `json:"commits"`
	Checkpoints int    `json:"checkpoints"`
	Files       int    `json:"files"`
	Rows        int64  `json:"rows"`
	Dead        int64  `json:"dead_letters"`
	Bytes       int64  `json:"bytes"`
	// LeftOut are the positions that were left out because the configuration says so, or because the source had
	// them no more.
	LeftOut []Range `json:"left_out,omitempty"`
}

// Range is a range of positions, the last one exclusive.
type Range struct {
	First int64 `json:"first"`
	Next  int64 `json:"next"`
}

// add counts a record.
func (l *Lane) add(r *commit.Record) {
	if r.Of != "" {
		l.Of = r.Of
	}
	for _, f := range r.Files {
		l.Files++
		l.Bytes += f.Bytes
		if f.Table == deadLetters {
			l.Dead += f.Rows
		} else {
			l.Rows += f.Rows
		}
	}
	if r.From > r.First {
		l.LeftOut = append(l.LeftOut, Range{r.First, r.From})
	}
}

// finish sums the lanes up and puts the problems into an order that does not depend on how fast files were read.
func (r *Report) finish() {
	for _, l := range r.Lanes {
		r.Commits += l.Commits
		r.Files += l.Files
		r.Rows += l.Rows
		r.Dead += l.Dead
		r.Bytes += l.Bytes
	}
	r.sortProblems()
}

// sortProblems sorts the problems and says whether there are any.
func (r *Report) sortProblems() {
	slices.SortStableFunc(r.Problems, func(a, b commit.Problem) int {
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Position, b.Position), cmp.Compare(a.File, b.File), cmp.Compare(a.Kind, b.Kind))
	})
	r.OK = len(r.Problems) == 0
}
