// Package report says in the end what a pipeline did.
package report

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/pipeline"
)

// Reason is an error code and the number of rows that have it.
type Reason struct {
	Code string
	Rows int64
}

// Summary is what a pipeline did.
type Summary struct {
	Totals pipeline.Totals
	// Reasons are the invalid rows, and those with a field that was made null, by code, most first.
	Reasons []Reason
	// Files and Written are the finished files and their bytes; Written also counts what went to a stream.
	Files, Written int64
	// Late are the rows that are in the directory of late ones; Separated reports whether there is one.
	Late      int64
	Separated bool
	// Duplicates are the rows whose page was there before, which are left out if DuplicatesDropped. Deduped tells
	// whether they were looked for.
	Duplicates                 int64
	Deduped, DuplicatesDropped bool
	Elapsed                    time.Duration
	// FromFiles reports whether all input is in files, so that no rows means that runs before have delivered them.
	FromFiles bool
}

// New makes a summary. sink tells about files if it counts them.
func New(t pipeline.Totals, sink pipeline.Sink, elapsed time.Duration) Summary {
	s := Summary{Totals: t, Elapsed: elapsed}
	for _, code := range slices.Sorted(maps.Keys(t.Errors)) {
		s.Reasons = append(s.Reasons, Reason{code, t.Errors[code]})
	}
	slices.SortStableFunc(s.Reasons, func(a, b Reason) int { return cmp.Compare(b.Rows, a.Rows) })
	counts := pipeline.CountsOf(nil, sink)
	if f := counts.Files; f != nil {
		s.Files, s.Written = f.Files, f.Bytes
	}
	if counts.Late != nil {
		s.Late, s.Separated = *counts.Late, true
	}
	if d := counts.Duplicates; d != nil {
		s.Duplicates, s.DuplicatesDropped, s.Deduped = d.Rows, d.Dropped, true
	}
	return s
}

// RowsPerSecond returns the mean rate.
func (s Summary) RowsPerSecond() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Totals.Rows) / s.Elapsed.Seconds()
}

// Print writes the summary for people.
func (s Summary) Print(w io.Writer) {
	t := s.Totals
	if t.Rows == 0 && s.FromFiles {
		fmt.Fprintln(w, "nothing new: every file that has records was delivered before")
		return
	}
	fmt.Fprintf(w, "%s in %s: %s rows/s, %s read, %s/s\n", plain.Plural(t.Rows, "row"), s.Elapsed.Round(time.Millisecond),
		plain.Count(int64(s.RowsPerSecond())), plain.Bytes(t.Bytes), plain.Bytes(int64(float64(t.Bytes)/max(s.Elapsed.Seconds(), 1e-9))))
	if s.Written > 0 {
		files := ""
		if s.Files > 0 {
			files = plain.Plural(s.Files, "file") + ", "
		}
		fmt.Fprintf(w, "%s%s written\n", files, plain.Bytes(s.Written))
	}
	if s.Separated {
		fmt.Fprintf(w, "%s (%.2f %%)\n", plain.Plural(s.Late, "late row"), 100*float64(s.Late)/float64(max(t.Rows, 1)))
	}
	if s.Deduped {
		fate := "marked"
		if s.DuplicatesDropped {
			fate = "left out"
		}
		fmt.Fprintf(w, "%s (%.2f %%), %s\n", plain.Plural(s.Duplicates, "duplicate"), 100*float64(s.Duplicates)/float64(max(t.Rows, 1)), fate)
	}
	s.PrintErrors(w, true)
}

// PrintErrors writes the rows with errors of each kind by code, and what became of them if fates is set.
func (s Summary) PrintErrors(w io.Writer, fates bool) {
	about := map[pipeline.Kind]string{pipeline.OfURL: "the URL", pipeline.OfRecord: "the record", pipeline.OfField: "a field"}
	for _, kind := range pipeline.Kinds() {
		reasons, rows := s.of(kind)
		if rows == 0 {
			continue
		}
		fate := ""
		if fates {
			fate = s.fate(kind, rows)
		}
		fmt.Fprintf(w, "%s with an error of %s (%.2f %%)%s\n", plain.Plural(rows, "row"), about[kind],
			100*float64(rows)/float64(max(s.Totals.Rows, 1)), fate)
		width := len(plain.Count(reasons[0].Rows))
		for _, r := range reasons {
			fmt.Fprintf(w, "  %*s  %s\n", width, plain.Count(r.Rows), plain.Text(r.Code))
		}
	}
}

// of returns the reasons of a kind, most first, and how many rows they have.
func (s Summary) of(kind pipeline.Kind) (reasons []Reason, rows int64) {
	for _, r := range s.Reasons {
		if pipeline.KindOf(r.Code) == kind {
			reasons, rows = append(reasons, r), rows+r.Rows
		}
	}
	return reasons, rows
}

// fate says what became of the rows with an error of a kind. The policy for fields may be another than that for the rest.
func (s Summary) fate(kind pipeline.Kind, rows int64) string {
	t := s.Totals
	if kind == pipeline.OfField && t.Nulled > 0 {
		return ", null there"
	}
	all := t.Invalid // what the policy was for, if not for fields alone
	if kind == pipeline.OfField {
		all = rows
	}
	switch {
	case t.DeadLetters > 0 && t.DeadLetters >= all:
		return ", among the dead letters"
	case t.Dropped >= rows:
		return ", left out"
	}
	return ", kept with their error"
}

// Log writes the summary as one log record.
func (s Summary) Log(log *slog.Logger) {
	t := s.Totals
	reasons := make([]any, 0, len(s.Reasons))
	for _, r := range s.Reasons {
		reasons = append(reasons, slog.Int64(r.Code, r.Rows))
	}
	if t.Rows > 0 && t.Invalid == t.Rows {
		log.Error("every row has an error", "rows", t.Rows, "mostly", pipeline.Mostly(t.Errors))
	}
	log.Info("done", "rows", t.Rows, "bytes", t.Bytes, "invalid", t.Invalid, "nulled", t.Nulled, "dropped", t.Dropped, "dead_letters", t.DeadLetters,
		"committed", t.Committed, "commits", t.Commits, "files", s.Files, "written", s.Written, "late", s.Late, "duplicates", s.Duplicates,
		"seconds", s.Elapsed.Seconds(), "rows_per_s", int64(s.RowsPerSecond()), slog.Group("errors", reasons...))
}
