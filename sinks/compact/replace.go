package compact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

const (
	// replaceDir has the outputs whose files are to take the place of others, until they do.
	replaceDir = "_replace"
	// beginName and usedName are objects of such an output: it is there, and its files are where they belong.
	beginName = "_begun"
	usedName  = "_used"
)

// ReplaceOptions say which files are to be replaced, and by which.
type ReplaceOptions struct {
	// Root is the output, and Open opens stores of other directories.
	Root store.Store
	Open store.Opener
	// Identity is that of the rows: the same text makes the same ones. What a process with the same identity has left is
	// gone on with. It is a part of a file name.
	Identity   string
	Provenance commit.Provenance
	Log        *slog.Logger
}

// Replacement is an output of its own below another one, hidden from readers. When it is complete, its files take the place of all
// files of the partitions that it has rows in.
//
// Until then the other output is as it was. A process that dies leaves what it has committed here, and the next one goes on. The
// positions are of this output alone, so that those of the pipelines that write to the other one stay.
type Replacement struct {
	ReplaceOptions
	dir    string // relative to Root
	chain  *commit.Chain
	places *commit.Places
}

// Begin claims an output for a replacement, and finds or makes the place for its files. The error says so when another process
// writes there. Close has to be called unless there is an error.
func Begin(ctx context.Context, o ReplaceOptions) (*Replacement, error) {
	r := &Replacement{ReplaceOptions: o, places: commit.NewPlaces(o.Root, o.Open, o.Log)}
	if err := o.Root.Prepare(ctx); err != nil {
		return nil, err
	}
	if err := r.begin(ctx); err != nil {
		return nil, errors.Join(err, o.Root.Close())
	}
	return r, nil
}

// Close gives the output back.
func (r *Replacement) Close() error { return r.Root.Close() }

// Location is where the rows have to be written, with exactly-once delivery.
func (r *Replacement) Location() string { return store.Join(r.Root.Location(), r.dir) }

// Attempt returns a text that tells this replacement from all others, also from those of the same rows.
func (r *Replacement) Attempt() string { return path.Base(r.dir) }

func (r *Replacement) begin(ctx context.Context) error {
	if err := r.alone(ctx); err != nil {
		return err
	}
	if err := commit.CheckUnregistered(ctx, r.Root); err != nil {
		return err
	}
	r.chain = commit.New(commit.Options{Root: r.Root, Place: r.places.Get, Provenance: r.Provenance, Log: r.Log})
	if err := r.chain.Probe(ctx); err != nil {
		return err
	}
	if _, err := r.chain.FinishCompaction(ctx); err != nil {
		return err
	}
	entries, err := r.Root.List(ctx, replaceDir, "")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name, r.Identity+"-") {
			continue
		}
		dir := path.Join(replaceDir, e.Name)
		used, err := r.used(ctx, dir)
		if err != nil {
			return err
		}
		if !used {
			r.dir = dir
			r.Log.Info("going on with a replacement that another process has begun", "directory", r.Location())
			return nil
		}
		if err := r.remove(ctx, dir); err != nil {
			return err
		}
	}
	r.dir = path.Join(replaceDir, r.Identity+"-"+r.Root.Run())
	return r.Root.Create(ctx, path.Join(r.dir, beginName), []byte("{}\n"))
}

// alone returns an error when another process may be writing to the output. Its files would be among those that are replaced, or
// not, as the case may be.
func (r *Replacement) alone(ctx context.Context) error {
	runs, err := r.Root.Others(ctx)
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%s: whether another process writes there cannot be told in a bucket, so that its partitions cannot be replaced: "+
			"deliver to a new prefix, and let readers take those days from there", r.Root.Location())
	}
	if err == nil && len(runs) > 0 {
		err = fmt.Errorf("another process writes to %s, and partitions are replaced by one that is alone: stop it, and start it again afterwards "+
			"(its claim is %s; should it have run on another machine and be dead, remove that)", r.Root.Location(), path.Join("_tmp", runs[0]))
	}
	return err
}

// files returns the files of the replacement, when the columns of the output have been found to go with theirs. A commit whose
// process has died before it had published all of it is finished first.
func (r *Replacement) files(ctx context.Context) (files []commit.Live, err error) {
	s, err := r.Open(r.Location(), r.Log)
	if err != nil {
		return nil, err
	}
	if err := s.Prepare(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	places := commit.NewPlaces(s, r.Open, r.Log)
	if _, err := commit.New(commit.Options{Root: s, Place: places.Get, Log: r.Log}).Recover(ctx); err != nil {
		return nil, err
	}
	snap, err := commit.ReadSnapshot(ctx, s, places.Get)
	if err != nil || len(snap.Files) == 0 {
		return nil, err
	}
	return snap.Files, r.chain.TakeColumns(ctx, s, pipeline.Rows.String())
}

// used reports whether the files of a replacement are where they belong. The process that has moved them may have died before it
// could say so, but not before its record was there; and should a power failure have given them their old names back, they
// must not replace themselves.
func (r *Replacement) used(ctx context.Context, dir string) (bool, error) {
	there, err := commit.Visible(ctx, r.Root, path.Join(dir, usedName))
	if there || err != nil {
		return there, err
	}
	all, err := commit.ReadCompactions(ctx, r.Root)
	if err != nil {
		return false, err
	}
	for _, c := range all.All {
		if c.Replacement && strings.HasPrefix(c.Groups[0].File.Token, dir+"/") {
			return true, nil
		}
	}
	return false, nil
}

// Commit has the files take the place of the others, and removes what is left of the replacement. All rows of it have been
// committed to [Replacement.Location], and the sink that did so is closed.
func (r *Replacement) Commit(ctx context.Context) (partitions, old int, err error) {
	if err := r.alone(ctx); err != nil {
		return 0, 0, err
	}
	files, err := r.files(ctx)
	if err != nil {
		return 0, 0, err
	}
	if len(files) > 0 {
		for range maxOutrun {
			partitions, old, err = r.replace(ctx, files)
			if !errors.Is(err, commit.ErrOutrun) {
				break
			}
			// By a compaction that came before the record, so that it is tried again; or by one that came after another process had
			// done what the record says.
			if used, usedErr := r.used(ctx, r.dir); used || usedErr != nil {
				err = usedErr
				break
			}
		}
		if err != nil {
			return 0, 0, err
		}
	}
	// What other replacements have left is of nobody: their processes are dead, as this one is alone.
	entries, err := r.Root.List(ctx, replaceDir, "")
	for _, e := range entries {
		err = errors.Join(err, r.remove(ctx, path.Join(replaceDir, e.Name)))
	}
	if err == nil {
		err = r.Root.Delete(ctx, replaceDir)
	}
	return partitions, old, err
}

func (r *Replacement) replace(ctx context.Context, files []commit.Live) (partitions, old int, err error) {
	snap, lost, err := r.chain.Settled(ctx)
	if err != nil {
		return 0, 0, err
	}
	replaced := map[string][]commit.Replaced{}
	for _, f := range snap.Files {
		if f.Table == pipeline.Rows.String() && f.Place == "" {
			dir := path.Dir(f.Name)
			replaced[dir] = append(replaced[dir], commit.Replaced{Name: f.Name, Rows: f.Rows, Bytes: f.Bytes, Checksum: f.Checksum})
		}
	}
	slices.SortStableFunc(files, func(a, b commit.Live) int { return cmp.Compare(path.Dir(a.Name), path.Dir(b.Name)) })
	groups, seen := make([]commit.Group, 0, len(files)), map[string]bool{}
	for _, f := range files {
		g := commit.Group{File: f.File, Positions: f.Positions}
		if dir := path.Dir(f.Name); !seen[dir] { // the first file of a partition has all that it replaces
			seen[dir], g.Replaces = true, replaced[dir]
			old += len(g.Replaces)
		}
		g.File.Token = path.Join(r.dir, f.Name)
		groups = append(groups, g)
	}
	return len(seen), old, r.chain.Replace(ctx, snap.Compactions.Next(), lost, groups)
}

// remove removes a replacement whose files are used, or that is of nobody. Should it end on the way, what is left is known to be
// garbage.
func (r *Replacement) remove(ctx context.Context, dir string) error {
	used := path.Join(dir, usedName)
	there, err := commit.Visible(ctx, r.Root, used)
	if err == nil && !there {
		err = r.Root.Create(ctx, used, []byte("{}\n"))
	}
	if err == nil {
		err = r.removeBelow(ctx, dir, usedName)
	}
	if err == nil {
		err = r.Root.Sync(ctx, dir)
	}
	if err == nil {
		err = r.Root.Delete(ctx, used)
	}
	if err == nil {
		err = r.Root.Delete(ctx, dir)
	}
	return err
}

func (r *Replacement) removeBelow(ctx context.Context, dir, but string) error {
	entries, err := r.Root.List(ctx, dir, "")
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name)
		if e.Name == but {
			continue
		}
		if e.Dir {
			if err := r.removeBelow(ctx, at, ""); err != nil {
				return err
			}
		}
		if err := r.Root.Delete(ctx, at); err != nil {
			return err
		}
	}
	return nil
}
