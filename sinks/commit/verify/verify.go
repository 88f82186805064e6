package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

// RowCounter returns the number of rows that a file claims to have.
type RowCounter func(r io.ReaderAt, size int64) (int64, error)

// Inspector reads the rows of a file, and calls wrong with what is wrong with one. It returns the number of rows that it could judge.
type Inspector func(r io.ReaderAt, size int64, wrong func(what string)) (rows int64, err error)

// Options say what is verified.
type Options struct {
	// Root has the records.
	Root store.Store
	// Open opens the stores of other directories that records name.
	Open store.Opener
	// Counters count the rows of files by the suffix of their names, without its dot. The rows of others are
	// taken as the records have them.
	Counters map[string]RowCounter
	// Inspectors look into files that are undamaged, by the suffix of their names, in goroutines of their own.
	Inspectors map[string]Inspector
	// Kept, if not nil, returns the files that the one which a record names beside those with rows lists, with itself.
	Kept func(in io.ReaderAt, at pipeline.Kept) ([]pipeline.Kept, error)
	// Table, if not nil, is asked about files that are missing, and about such as no commit names.
	Table TableReader
	// Shallow looks whether files are there with their sizes, and does not read them.
	Shallow bool
	Log     *slog.Logger
}

var deadLetters = pipeline.DeadLetters.String()

// publishing is how long a file of a lane's last commit may take to become visible before it counts as unfinished. It is
// a variable for tests.
var publishing = 2 * time.Second

// verifier is one verification.
type verifier struct {
	Options
	places *commit.Places
	report *Report

	named map[string]bool // path of a file, relative to the root
	files []named
	kept  []*commit.Record // the last of each lane, if it names a file beside those with rows
	dirs  []string         // of places, ascending; "" is the root
	mu    sync.Mutex

	compacted *commit.Compactions
	live      map[string]named  // files that count, by path; nil without compactions
	replaced  map[string]string // the path of the new file, by that of the old one
	pending   []named           // files of a compaction that was going on

	gone    []named         // files that are missing
	foreign map[string]bool // places that records must not lead to
	strays  map[string]bool // paths of visible files that no record names
}

// named is a file that a record names.
type named struct {
	commit.File
	lane        string
	first, next int64
	last        bool // of its lane
	// compaction is the number of that whose file it is, 0 for a file of a commit, and stretches are its positions.
	compaction int64
	stretches  []commit.Stretch
}

func (n named) path() string { return path.Join(n.Place, n.Name) }

func newVerifier(o Options) *verifier {
	return &verifier{
		Options: o, places: commit.NewPlaces(o.Root, o.Open, o.Log), report: &Report{},
		named: map[string]bool{}, dirs: []string{""}, foreign: map[string]bool{}, replaced: map[string]string{},
	}
}

// Run verifies an output. An error means that it could not be done; what is wrong with the output is in the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	v := newVerifier(o)
	v.report = &Report{Location: o.Root.Location(), Lanes: []Lane{}, Problems: []commit.Problem{}}
	if err := v.readCompactions(ctx); err != nil {
		return nil, err
	}
	if err := v.read(ctx, v.take); err != nil {
		return nil, err
	}
	if len(v.report.Lanes) == 0 && len(v.compacted.All) == 0 {
		return nil, fmt.Errorf("%s has no commit records: it is no output with exactly-once delivery, or the wrong path", o.Root.Location())
	}
	if err := v.compactions(ctx); err != nil {
		return nil, err
	}
	if err := v.findStrays(ctx); err != nil {
		return nil, err
	}
	if err := v.findKept(ctx); err != nil {
		return nil, err
	}
	if err := v.checkFiles(ctx); err != nil {
		return nil, err
	}
	if err := v.settleCompaction(ctx); err != nil {
		return nil, err
	}
	if err := v.settleTable(ctx); err != nil {
		return nil, err
	}
	v.report.finish()
	return v.report, nil
}

// read reads the records of all lanes, and hands those of each to take.
func (v *verifier) read(ctx context.Context, take func(*commit.History, []*commit.Record)) error {
	lanes, err := commit.Lanes(ctx, v.Root)
	if err != nil {
		return err
	}
	for _, lane := range lanes {
		var records []*commit.Record
		h, err := commit.ReadHistory(ctx, v.Root, lane, func(r *commit.Record) { records = append(records, r) })
		if err != nil {
			return fmt.Errorf("%s: %w", lane, err)
		}
		take(h, records)
	}
	return nil
}

// take puts a lane into the report, and its files among those to be checked.
func (v *verifier) take(h *commit.History, records []*commit.Record) {
	v.report.Problems = append(v.report.Problems, h.Problems...)
	if h.Start == pipeline.Unknown {
		return
	}
	l := Lane{
		Lane: h.Lane, Stream: h.Stream, Partition: h.Partition, Start: h.Start, Next: h.Next,
		Commits: h.Records, Checkpoints: h.Checkpoints,
	}
	for i, r := range records {
		l.add(r)
		for _, f := range r.Files {
			n := named{File: f, lane: h.Lane, first: r.First, next: r.Next, last: i == len(records)-1}
			v.files = append(v.files, n)
			v.checkName(n)
		}
	}
	if n := len(records); n > 0 && records[n-1].Kept != nil {
		v.kept = append(v.kept, records[n-1])
	}
	v.report.Lanes = append(v.report.Lanes, l)
}

// checkName checks what can be told from the name of a file alone.
func (v *verifier) checkName(n named) {
	if !slices.Contains(v.dirs, n.Place) {
		v.dirs = append(v.dirs, n.Place)
	}
	if v.named[n.path()] {
		v.problem(NamedTwice, n, "two commits have the same file")
	}
	v.named[n.path()] = true
	if _, first, ok := commit.ParseFileName(path.Base(n.Name)); ok && (first < n.first || first >= n.next) {
		v.problem(commit.Overlap, n, "the file begins at position %d, and its commit is that of the positions %d to %d", first, n.first, n.next)
	}
}

// place returns the store of a place that records name, nil for one that the records must not lead to. The problem is noted once.
func (v *verifier) place(ctx context.Context, dir string) (store.Store, error) {
	s, err := v.places.Get(ctx, dir)
	var foreign *commit.ForeignPlaceError
	if !errors.As(err, &foreign) {
		return s, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.foreign[dir] {
		v.foreign[dir] = true
		v.report.Problems = append(v.report.Problems, commit.Problem{Kind: ForeignPlace, Position: -1, File: dir, Message: foreign.Error()})
	}
	return nil, nil
}

func (v *verifier) problem(kind commit.Kind, n named, format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.report.Problems = append(v.report.Problems, commit.Problem{
		Kind: kind, Lane: n.lane, Position: n.first, File: n.path(), Message: fmt.Sprintf(format, args...),
	})
}

// checkFiles checks every file, several at a time. The last look at those that are about to be published comes a while
// after the first.
func (v *verifier) checkFiles(ctx context.Context) error {
	var (
		work    = make(chan named)
		workers sync.WaitGroup
		errs    []error
		pending []named
	)
	for range max(2, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for n := range work {
				missing, err := v.checkFile(ctx, n)
				v.mu.Lock()
				if err != nil {
					errs = append(errs, err)
				} else if missing {
					pending = append(pending, n)
				}
				v.mu.Unlock()
			}
		})
	}
	for _, n := range v.files {
		if ctx.Err() != nil {
			break
		}
		work <- n
	}
	close(work)
	workers.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil || len(pending) == 0 {
		return err
	}
	select {
	case <-time.After(publishing):
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, n := range pending {
		if err := v.settle(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// settle finds out what has become of a file of a lane's last commit that was not visible a while ago.
func (v *verifier) settle(ctx context.Context, n named) error {
	s, err := v.place(ctx, n.Place)
	if err != nil || s == nil {
		return err
	}
	waiting := s.Settle(ctx, []store.Pending{n.Pending()})
	missing, err := v.checkFile(ctx, n) // after the other look, as it may be published between the two
	var gone *store.GoneError
	switch {
	case err != nil || !missing:
		return err
	case errors.As(waiting, &gone):
		return v.missing(ctx, n)
	case waiting != nil:
		return fmt.Errorf("%s: %w", n.path(), waiting)
	default:
		v.problem(UnfinishedPublish, n, "it is committed and was not published yet, because the process that did it has died: "+
			"the next start publishes it, and so does --repair")
	}
	return nil
}

func (v *verifier) missing(ctx context.Context, n named) error {
	since, err := v.compactedSince(ctx, n)
	if err == nil && !since {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.gone = append(v.gone, n)
	}
	return err
}

// checkFile returns true for a file that is missing and may be waiting to be published.
func (v *verifier) checkFile(ctx context.Context, n named) (missing bool, err error) {
	s, err := v.place(ctx, n.Place)
	if err != nil || s == nil {
		return false, err
	}
	o, err := s.Open(ctx, n.Name)
	if isMissing(err) {
		if !n.last {
			return false, v.missing(ctx, n)
		}
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", n.path(), err)
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	if o.Size() != n.Bytes {
		v.problem(WrongSize, n, "it has %d bytes, and had %d when it was committed", o.Size(), n.Bytes)
		return false, nil
	}
	if v.Shallow {
		return false, nil
	}
	return false, v.checkContent(n, o)
}

func (v *verifier) checkContent(n named, o store.Object) error {
	sum := store.NewChecksum()
	buf := make([]byte, max(1, min(o.Size(), 1<<20))) // an empty one is none
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, io.NewSectionReader(o, 0, o.Size()), buf); err != nil {
		return fmt.Errorf("%s: %w", n.path(), err)
	}
	if got := sum.String(); got != n.Checksum {
		v.problem(WrongChecksum, n, "its checksum is %s, and was %s when it was committed: it is damaged", got, n.Checksum)
		return nil
	}
	count := v.Counters[extension(n.Name)]
	if count == nil {
		return nil
	}
	rows, err := count(o, o.Size())
	if err != nil {
		v.problem(WrongRows, n, "its rows cannot be counted: %v", err)
	} else if rows != n.Rows {
		v.problem(WrongRows, n, "it has %d rows, and %d were committed", rows, n.Rows)
	}
	return v.inspect(n, o)
}

func (v *verifier) inspect(n named, o store.Object) error {
	inspect := v.Inspectors[extension(n.Name)]
	if inspect == nil {
		return nil
	}
	rows, err := inspect(o, o.Size(), func(what string) { v.problem(WrongURL, n, "%s", what) })
	if err != nil {
		v.problem(WrongURL, n, "its rows cannot be compared: %v", err)
	}
	v.mu.Lock()
	v.report.Judged += rows
	v.mu.Unlock()
	return nil
}
