package compact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"time"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

// Format merges files of one format.
type Format interface {
	// Ext is the suffix of their names, without its dot.
	Ext() string
	// Merge writes the rows of files to w as one file: those of the first, and of as many after it as can be in one file
	// with it. It returns how many that are, one at least, and their rows. An error that is an [*InputError] is about one
	// of the files, any other about w.
	Merge(ctx context.Context, files []Input, w io.Writer) (taken int, rows int64, err error)
}

// Input is a file to be merged.
type Input struct {
	commit.Live
	// Open opens the file when all of it has been found to be what was committed.
	Open func(ctx context.Context) (store.Object, error)
}

// InputError is the error of one file that cannot be merged.
type InputError struct {
	Path string
	Err  error
}

func (e *InputError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// Options say what is compacted.
type Options struct {
	// Root has the records, and Open opens the stores of other directories that they name.
	Root store.Store
	Open store.Opener
	// Format is that of the files; others are left alone.
	Format Format
	// TargetBytes is the size that files are to have. Those that have three quarters of it stay as they are.
	TargetBytes int64
	// MinAge is how old a file has to be, and MinFiles how many have to be together, for them to be merged.
	MinAge   time.Duration
	MinFiles int
	// Under is the directory, relative to Root, that is compacted with all below it; "" stands for all.
	Under string
	// DryRun has nothing changed.
	DryRun     bool
	Provenance commit.Provenance
	Log        *slog.Logger
	// Progress, if not nil, is told after every merged file.
	Progress func(Report)
	// TempDir is where files of distant places are kept while they are read, "" for the system's own.
	TempDir string
}

// Report says what was done, or would be.
type Report struct {
	Location string `json:"location"`
	DryRun   bool   `json:"dry_run,omitempty"`
	// Planned is how many files are to be merged, of PlannedBytes bytes.
	Planned      int   `json:"planned"`
	PlannedBytes int64 `json:"planned_bytes"`
	// Merged is how many were, into Files.
	Merged      int   `json:"merged"`
	MergedBytes int64 `json:"merged_bytes"`
	Files       int   `json:"files"`
	Bytes       int64 `json:"bytes"`
	Rows        int64 `json:"rows"`
	// Compactions is how many records were written.
	Compactions int `json:"compactions"`
	// Skipped are files that could not be read, and were left as they are.
	Skipped []string `json:"skipped,omitempty"`
}

const (
	// groupsPerRecord and bytesPerRecord bound what a record has, and what is lost when the process dies before it.
	groupsPerRecord = 64
	bytesPerRecord  = 2 // times the target
	// maxOutrun is how often another process may be faster before this one leaves it to it.
	maxOutrun = 10
)

// Run compacts an output. It may be interrupted, and it may run beside pipelines and other compactions.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &runner{Options: o, report: &Report{Location: o.Root.Location(), DryRun: o.DryRun}, prepared: map[string]bool{}, bad: map[string]bool{}}
	r.places = commit.NewPlaces(o.Root, o.Open, o.Log)
	err := r.run(ctx)
	for _, s := range r.stores {
		err = errors.Join(err, s.Close())
	}
	return r.report, err
}

type runner struct {
	Options
	places   *commit.Places
	chain    *commit.Chain
	report   *Report
	prepared map[string]bool
	stores   []store.Store // that are prepared
	seq      uint64
	bad      map[string]bool // paths of files that cannot be read, and of places that are not followed
}

func (r *runner) run(ctx context.Context) error {
	records, err := commit.HasRecords(ctx, r.Root)
	if err != nil {
		return err
	}
	if !records {
		return fmt.Errorf("%s has no commit records: it is no output with exactly-once delivery, or the wrong path", r.Root.Location())
	}
	if err := commit.CheckUnregistered(ctx, r.Root); err != nil {
		return fmt.Errorf("%s: %w", r.Root.Location(), err)
	}
	if r.DryRun {
		snap, err := commit.ReadSnapshot(ctx, r.Root, r.places.Get)
		if err == nil {
			var bins []bin
			if bins, err = r.plan(ctx, snap); err == nil {
				r.announce(bins)
			}
		}
		return err
	}
	if _, err := r.store(ctx, ""); err != nil {
		return err
	}
	r.chain = commit.New(commit.Options{Root: r.Root, Place: r.places.Get, Provenance: r.Provenance, Log: r.Log})
	if err := errors.Join(r.chain.Probe(ctx), r.chain.Sweep(ctx, r.Root)); err != nil {
		return err
	}
	for range maxOutrun {
		err := r.pass(ctx)
		if !errors.Is(err, commit.ErrOutrun) {
			return err
		}
		r.Log.Info("another process compacts here as well; looking again")
	}
	return fmt.Errorf("%w all the time; this one leaves it to that", commit.ErrOutrun)
}

// store returns the store of a place, ready to be written to.
func (r *runner) store(ctx context.Context, place string) (store.Store, error) {
	s, err := r.places.Get(ctx, place)
	if err != nil || r.prepared[place] {
		return s, err
	}
	if err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	r.prepared[place] = true
	r.stores = append(r.stores, s)
	if r.chain == nil {
		return s, nil // Root itself, before there is a chain
	}
	return s, r.chain.Sweep(ctx, s)
}

// plan returns what is to be merged. Files in places that records must not lead to are left as they are.
func (r *runner) plan(ctx context.Context, snap *commit.Snapshot) ([]bin, error) {
	var files []commit.Live
	for _, f := range snap.Files {
		if r.bad[f.Path()] || r.bad[f.Place] {
			continue
		}
		_, err := r.places.Get(ctx, f.Place)
		var foreign *commit.ForeignPlaceError
		if errors.As(err, &foreign) {
			r.bad[f.Place] = true
			r.Log.Warn("leaving alone a directory that commit records name", "directory", foreign.Location, "error", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return plan(files, limits{
		ext: r.Format.Ext(), target: r.TargetBytes, few: r.MinFiles, before: time.Now().Add(-r.MinAge), under: path.Clean("./" + r.Under),
	}.clean()), nil
}

// clean turns the directory that stands for all into none.
func (l limits) clean() limits {
	if l.under == "." {
		l.under = ""
	}
	return l
}

func (r *runner) announce(bins []bin) {
	r.report.Planned, r.report.PlannedBytes = r.report.Merged, r.report.MergedBytes
	for _, b := range bins {
		r.report.Planned += len(b.files)
		r.report.PlannedBytes += b.bytes
	}
	r.progress()
}

func (r *runner) progress() {
	if r.Progress != nil {
		r.Progress(*r.report)
	}
}

// pass finishes what others have left, looks what there is to do, and does it, until another process is faster.
func (r *runner) pass(ctx context.Context) error {
	snap, lost, err := r.chain.Settled(ctx)
	if err != nil {
		return err
	}
	bins, err := r.plan(ctx, snap)
	if err != nil {
		return err
	}
	r.announce(bins)
	number := snap.Compactions.Next()
	for len(bins) > 0 || lost != nil {
		var groups []commit.Group
		if groups, bins, err = r.merge(ctx, bins, number); err != nil {
			return errors.Join(err, r.discard(ctx, groups))
		}
		if len(groups) == 0 && lost == nil {
			continue
		}
		if err := r.chain.Compact(ctx, number, lost, groups); err != nil {
			return err
		}
		r.count(groups)
		number, lost = number+1, nil
	}
	return nil
}

func (r *runner) count(groups []commit.Group) {
	r.report.Compactions++
	for _, g := range groups {
		r.report.Files++
		r.report.Bytes += g.File.Bytes
		r.report.Rows += g.File.Rows
		for _, old := range g.Replaces {
			r.report.Merged++
			r.report.MergedBytes += old.Bytes
		}
	}
	r.progress()
}

func (r *runner) discard(ctx context.Context, groups []commit.Group) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for _, g := range groups {
		s, err := r.places.Get(ctx, g.File.Place)
		if err == nil {
			err = s.Discard(ctx, []store.Pending{g.File.Pending()})
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// merge writes the files of the first bins, as many as one record has. It returns the others. With an error, groups are
// those that are complete.
func (r *runner) merge(ctx context.Context, bins []bin, number int64) (groups []commit.Group, rest []bin, err error) {
	bytes := int64(0)
	for len(bins) > 0 && len(groups) < groupsPerRecord && bytes < bytesPerRecord*r.TargetBytes {
		files := bins[0].files
		bins = bins[1:]
		for len(files) > 1 {
			if ctx.Err() != nil {
				return groups, bins, context.Cause(ctx)
			}
			g, taken, err := r.mergeFiles(ctx, files, number)
			var bad *InputError
			if errors.As(err, &bad) {
				if err = r.skip(ctx, bad, number); err == nil {
					break // the rest of the bin waits for the next time
				}
			}
			if err != nil {
				return groups, bins, err
			}
			files = files[taken:]
			if g != nil {
				groups, bytes = append(groups, *g), bytes+g.File.Bytes
			}
		}
	}
	return groups, bins, nil
}

// skip leaves a file as it is that cannot be read, unless the reason is that another process has replaced it.
func (r *runner) skip(ctx context.Context, bad *InputError, number int64) error {
	if errors.Is(bad, context.Canceled) {
		return bad
	}
	now, err := commit.ReadCompactions(ctx, r.Root)
	if err != nil {
		return err
	}
	if now.Next() != number {
		return commit.ErrOutrun
	}
	r.bad[bad.Path] = true
	r.report.Skipped = append(r.report.Skipped, bad.Path)
	why := "it is left as it is, and so are those that it was to be merged with; \"urlmill verify\" tells more"
	if errors.Is(bad, fs.ErrNotExist) {
		why = "it is not there any more, which is fine if it was moved away or deleted on purpose"
	}
	r.Log.Warn("a file cannot be merged: "+why, "file", bad.Path, "error", bad.Err)
	return nil
}

// mergeFiles makes one file of those that can be in one. The group is nil if that is only the first.
func (r *runner) mergeFiles(ctx context.Context, files []commit.Live, number int64) (*commit.Group, int, error) {
	first := files[0]
	s, err := r.store(ctx, first.Place)
	if err != nil {
		return nil, 0, err
	}
	r.seq++
	name, err := commit.CompactedName(first.Name, number, s.Run(), r.seq)
	if err != nil {
		return nil, 0, err
	}
	file, taken, err := Merge(ctx, s, name, r.Format, files, r.TempDir)
	if err != nil || file == nil {
		return nil, taken, err
	}
	g := &commit.Group{File: *file, Positions: Stretches(files[:taken])}
	for _, f := range files[:taken] {
		g.Replaces = append(g.Replaces, commit.Replaced{Name: f.Name, Rows: f.Rows, Bytes: f.Bytes, Checksum: f.Checksum})
	}
	return g, taken, nil
}

// Merge writes one file of those of a store that can be in one: the first, and taken-1 after it. It is finished and has its name in
// the store only when it is published. The file is nil, and nothing is written, if that is only the first. Errors of single files are
// each an [*InputError].
func Merge(ctx context.Context, s store.Store, name string, format Format, files []commit.Live, tempDir string) (_ *commit.File, taken int, err error) {
	first := files[0]
	out, err := s.Begin(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	inputs := make([]Input, len(files))
	for i, f := range files {
		inputs[i] = Input{Live: f, Open: func(ctx context.Context) (store.Object, error) { return open(ctx, s, f, tempDir) }}
	}
	taken, rows, err := format.Merge(ctx, inputs, out)
	if out.Err() != nil {
		err = out.Err() // says more than what a format makes of it
	}
	if err != nil || taken == 1 {
		return nil, taken, errors.Join(err, out.Discard())
	}
	pending, err := out.Finish()
	if err != nil {
		return nil, 0, errors.Join(err, out.Discard())
	}
	want := int64(0)
	for _, f := range files[:taken] {
		want += f.Rows
	}
	if rows != want {
		return nil, 0, errors.Join(fmt.Errorf("%d rows were merged of %s and %d more files, which have %d", rows, first.Path(), taken-1, want),
			s.Discard(ctx, []store.Pending{pending}))
	}
	return &commit.File{
		Table: first.Table, Place: first.Place, Name: pending.Name, Rows: rows, Bytes: pending.Bytes, Checksum: pending.Checksum, Token: pending.Token,
	}, taken, nil
}

// remote reports whether reading a part of a file there is a request over the network.
func remote(s store.Store) bool { return strings.Contains(s.Location(), "://") }
