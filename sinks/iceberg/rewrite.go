package iceberg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	iceberg "github.com/apache/iceberg-go"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/compact"
	"github.com/urlmill/urlmill/sinks/store"
)

const (
	// mergesPerSnapshot and bytesPerSnapshot bound what one snapshot does, and what is lost when the process dies before it.
	mergesPerSnapshot = 64
	bytesPerSnapshot  = 2 // times the target
	// mergedMark is in the names of merged files, and in none of those of commits: no compaction of the chain has this number.
	mergedMark = "-compact0-"
)

// liveFile is a data file of the current snapshot.
type liveFile struct {
	location  string
	key       string // in the output, "" if it is elsewhere
	spec      int
	partition string // of the spec, in a form that is equal for equal values
	rows      int64
	bytes     int64
	sequence  int64
	time      int64 // of the snapshot that added it, in milliseconds; 0 if that is not known any more
}

// ours reports whether the file is one of the chain, or was merged of such.
func (f *liveFile) ours() bool {
	name := path.Base(f.key)
	_, _, ok := commit.ParseFileName(name)
	return f.key != "" && (ok || strings.Contains(name, mergedMark))
}

// contents is what a snapshot has.
type contents struct {
	files map[string]*liveFile
	// Files whose rows may be deleted by files of their own: all, those of partitions, single ones.
	allBlocked bool
	partitions map[string]bool
	single     map[string]bool
}

func (c *contents) blocked(f *liveFile) bool {
	return c.allBlocked || c.partitions[f.partition] || c.single[f.location]
}

// partitionKey writes what a file has in the fields of its partition spec.
func partitionKey(f iceberg.DataFile) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", f.SpecID())
	values := f.Partition()
	for _, id := range slices.Sorted(maps.Keys(values)) {
		v := values[id]
		if n, ok := v.(int32); ok { // of before the column was widened
			v = int64(n)
		}
		fmt.Fprintf(&b, ";%d=%T %v", id, v, v)
	}
	return b.String()
}

// contents reads what the current snapshot has.
func (k *Keeper) contents(ctx context.Context, now *state) (*contents, error) {
	c := &contents{files: map[string]*liveFile{}, partitions: map[string]bool{}, single: map[string]bool{}}
	times := map[int64]int64{}
	for _, s := range now.meta.Snapshots {
		times[s.ID] = s.Time
	}
	manifests, err := k.manifests(ctx, now.meta.snapshot(now.meta.Current))
	if err != nil {
		return nil, err
	}
	read := map[string][]iceberg.ManifestEntry{}
	for _, m := range manifests {
		entries, err := k.table.entriesOf(ctx, m)
		if err != nil {
			return nil, err
		}
		read[m.FilePath()] = entries
		for _, e := range entries {
			f := e.DataFile()
			if f.ContentType() != iceberg.EntryContentData {
				c.block(f)
				continue
			}
			key, _ := keyOf(k.table.base, f.FilePath())
			c.files[f.FilePath()] = &liveFile{
				location: f.FilePath(), key: key, spec: int(f.SpecID()), partition: partitionKey(f), rows: f.Count(), bytes: f.FileSizeBytes(),
				sequence: e.SequenceNum(), time: times[e.SnapshotID()],
			}
		}
	}
	k.table.entries = read // those of other snapshots are not asked for again
	return c, nil
}

// pathColumn is the field of files of deleted positions that has the location of the data file.
const pathColumn = 2147483546

// block notes which files a delete file may be about.
func (c *contents) block(f iceberg.DataFile) {
	lower, upper := f.LowerBoundValues()[pathColumn], f.UpperBoundValues()[pathColumn]
	switch at := f.ReferencedDataFile(); {
	case at != nil:
		c.single[*at] = true
	case f.ContentType() == iceberg.EntryContentPosDeletes && lower != nil && string(lower) == string(upper):
		c.single[string(lower)] = true
	case len(f.Partition()) == 0:
		c.allBlocked = true
	default:
		c.partitions[partitionKey(f)] = true
	}
}

// merged is a file that is to take the place of others.
type merged struct {
	file commit.File
	old  []*liveFile
}

// rewrite merges small files.
func (k *Keeper) rewrite(ctx context.Context, r *compact.TableReport) error {
	var now *state
	var c *contents
	err := again(func() (err error) {
		if now, err = k.load(ctx); err == nil {
			c, err = k.contents(ctx, now)
		}
		return err
	})
	if err != nil {
		return err
	}
	bins, err := k.plan(now, c, r)
	if err != nil || len(bins) == 0 {
		return err
	}
	k.pace.look(k.opts.Now(), bytesOf(bins[len(bins)-1]))
	for len(bins) > 0 && k.pace.affords(bytesOf(bins[0])) {
		if k.opts.DryRun {
			r.Merged, r.MergedBytes = r.Merged+len(bins[0]), r.MergedBytes+bytesOf(bins[0])
			bins = bins[1:]
			continue
		}
		ready, rest, err := k.mergeSome(ctx, bins, r)
		if err != nil {
			k.discard(ctx, ready)
			return err
		}
		if err := k.replace(ctx, ready, r); err != nil {
			return err
		}
		bins = rest
	}
	return nil
}

// plan returns which files are to become one each.
func (k *Keeper) plan(now *state, c *contents, r *compact.TableReport) ([][]*liveFile, error) {
	schema, err := now.meta.schema()
	if err != nil {
		return nil, err
	}
	parts := map[string][]*liveFile{}
	for _, f := range c.files {
		parts[f.partition] = append(parts[f.partition], f)
	}
	var bins [][]*liveFile
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		files := parts[key]
		r.Live, r.InPartition = r.Live+len(files), max(r.InPartition, len(files))
		spec, err := now.meta.spec(files[0].spec)
		if err != nil || !usable(spec, schema) {
			continue
		}
		newest := int64(0)
		var small []*liveFile
		for _, f := range files {
			newest = max(newest, f.time)
			switch {
			case !compact.Small(f.bytes, k.opts.TargetBytes) || !k.under(f) || k.alone[f.location]:
			case !f.ours():
				r.Foreign++
			case c.blocked(f):
				r.Deletes++
			default:
				small = append(small, f)
			}
		}
		bins = append(bins, pick(k.opts, small, newest, k.opts.Now())...)
	}
	slices.SortStableFunc(bins, func(a, b []*liveFile) int { return cmp.Compare(bytesOf(a), bytesOf(b)) })
	return bins, nil
}

// under reports whether a file is in the directory that is asked for.
func (k *Keeper) under(f *liveFile) bool {
	under := path.Clean("./" + k.opts.Under)
	dir := strings.TrimPrefix(path.Dir(f.key), dataDir+"/")
	return under == "." || dir == under || strings.HasPrefix(dir, under+"/")
}

// mergeSome writes the files of the first bins, as many as one snapshot takes. It returns the others.
func (k *Keeper) mergeSome(ctx context.Context, bins [][]*liveFile, r *compact.TableReport) (ready []*merged, rest [][]*liveFile, err error) {
	size := int64(0)
	for len(bins) > 0 && len(ready) < mergesPerSnapshot && size < bytesPerSnapshot*k.opts.TargetBytes && k.pace.affords(bytesOf(bins[0])) {
		files, wanted, start := bins[0], bytesOf(bins[0]), k.opts.Now()
		bins = bins[1:]
		for len(files) > 1 {
			if ctx.Err() != nil {
				return ready, bins, context.Cause(ctx)
			}
			m, taken, err := k.merge(ctx, files)
			var bad *compact.InputError
			switch {
			case errors.As(err, &bad) && !errors.Is(err, context.Canceled):
				k.skip(bad, files, r)
				files = nil
			case err != nil:
				return ready, bins, err
			case m == nil:
				k.alone[files[0].location] = true
				files = files[1:]
			default:
				ready, size = append(ready, m), size+m.file.Bytes
				files = files[taken:]
			}
		}
		k.pace.spend(wanted, k.opts.Now().Sub(start))
	}
	return ready, bins, nil
}

// skip leaves a file as it is that cannot be read.
func (k *Keeper) skip(bad *compact.InputError, files []*liveFile, r *compact.TableReport) {
	for _, f := range files {
		if f.key == bad.Path {
			k.alone[f.location] = true
		}
	}
	if errors.Is(bad, fs.ErrNotExist) { // who maintains the table as well has been faster, or else readers will tell
		k.opts.Log.Warn("a file of the table is not there, and stays in it: this is fine if another program has just merged it", "file", bad.Path)
		return
	}
	r.Skipped = append(r.Skipped, bad.Path)
	k.opts.Log.Warn("a file of the table cannot be merged: it is left as it is, and so are those that it was to be merged with", "file", bad.Path, "error", bad.Err)
}

// merge makes one file of those that can be in one. It is nil if that is only the first.
func (k *Keeper) merge(ctx context.Context, files []*liveFile) (_ *merged, taken int, err error) {
	live := make([]commit.Live, len(files))
	for i, f := range files {
		live[i] = f.live()
	}
	first := files[0].key
	if !strings.HasPrefix(first, dataDir+"/") {
		first = path.Join(dataDir, first)
	}
	k.seq++
	name, err := mergedName(first, k.opts.Root.Run(), k.seq)
	if err != nil {
		return nil, 0, err
	}
	f, taken, err := compact.Merge(ctx, k.opts.Root, name, k.opts.Format, live, k.opts.TempDir)
	if err != nil || f == nil {
		return nil, taken, err
	}
	m := &merged{file: *f, old: files[:taken]}
	pending := []store.Pending{f.Pending()}
	if err = k.opts.Root.Settle(ctx, pending); err == nil {
		err = k.opts.Root.Publish(ctx, pending)
	}
	if err != nil {
		return nil, 0, errors.Join(err, k.opts.Root.Discard(context.WithoutCancel(ctx), pending))
	}
	return m, taken, nil
}

// mergedName returns the name of a file that takes the place of others, the first of which has the given one.
func mergedName(first, run string, seq uint64) (string, error) {
	if at := strings.Index(first, mergedMark); at > 0 {
		return fmt.Sprintf("%s%s%s%04d%s", first[:at], mergedMark, run, seq, path.Ext(first)), nil
	}
	return commit.CompactedName(first, 0, run, seq)
}

// discard removes merged files that nobody has been told of.
func (k *Keeper) discard(ctx context.Context, all []*merged) {
	for _, m := range all {
		_ = k.opts.Root.Delete(context.WithoutCancel(ctx), m.file.Name) // or else it is an orphan
	}
}

// replace puts merged files in the place of others, those that are still what the table has. Whatever others have done to the table
// meanwhile stays. Of a commit whose outcome is not known, nothing is removed.
func (k *Keeper) replace(ctx context.Context, ready []*merged, r *compact.TableReport) (err error) {
	certain := true
	for n := 0; len(ready) > 0; n++ {
		var attempted bool
		var fit []*merged
		if fit, attempted, err = k.tryReplace(ctx, ready, certain); err == nil {
			for _, m := range fit {
				r.Files, r.Bytes, r.Rows = r.Files+1, r.Bytes+m.file.Bytes, r.Rows+m.file.Rows
				r.Merged, r.MergedBytes = r.Merged+len(m.old), r.MergedBytes+bytesOf(m.old)
			}
			return nil
		}
		certain = certain && (!attempted || errors.Is(err, errConflict) && !errors.Is(err, errUncertain))
		if !stale(err) || n >= maxAttempts {
			break
		}
		pause := min(maxWait, wait<<min(n, 10))
		if sleepErr := sleep(ctx, pause/2+rand.N(pause)); sleepErr != nil {
			err = sleepErr
			break
		}
	}
	if certain {
		k.discard(ctx, ready)
	}
	return err
}

// tryReplace makes one attempt, with those whose files are all in the table. The others are discarded.
func (k *Keeper) tryReplace(ctx context.Context, ready []*merged, certain bool) (fit []*merged, attempted bool, err error) {
	now, err := k.load(ctx)
	if err != nil {
		return nil, false, err
	}
	c, err := k.contents(ctx, now)
	if err != nil {
		return nil, false, err
	}
	rev := revision{operation: "replace", removed: map[string]bool{}}
	for _, m := range ready {
		at := k.table.base + "/" + m.file.Name
		switch {
		case c.files[at] != nil: // an attempt whose outcome was not known was made
			fit = append(fit, m)
			continue
		case slices.ContainsFunc(m.old, func(f *liveFile) bool { return c.files[f.location] == nil || c.blocked(f) }):
			if certain {
				k.discard(ctx, []*merged{m})
			}
			continue
		}
		d, err := k.describe(ctx, now, m)
		if err != nil {
			return nil, false, err
		}
		fit, rev.added = append(fit, m), append(rev.added, d)
		for _, f := range m.old {
			rev.removed[f.location] = true
		}
	}
	if len(rev.added) == 0 {
		return fit, false, nil
	}
	a, err := k.table.revise(ctx, now, rev)
	if attempted = err == nil; attempted {
		err = k.table.catalog.commit(ctx, k.table.id, now, change{snapshot: a.snapshot})
	}
	if err != nil {
		k.table.withdraw(ctx, a, attempted, err)
	}
	return fit, attempted, err
}

// describe describes a merged file, which is of the partition of those that it replaces.
func (k *Keeper) describe(ctx context.Context, now *state, m *merged) (iceberg.DataFile, error) {
	schema, err := now.meta.schema()
	if err != nil {
		return nil, err
	}
	columns, err := now.meta.columns(schema)
	if err != nil {
		return nil, err
	}
	spec, err := now.meta.spec(m.old[0].spec)
	if err != nil {
		return nil, err
	}
	d, err := dataFile(ctx, k.opts.Root, k.table.base, m.file, &layout{columns: columns, specs: []iceberg.PartitionSpec{spec}})
	if err == nil && partitionKey(d) != m.old[0].partition {
		err = fmt.Errorf("%s is of the partition %s, and those that it is to replace are of %s", m.file.Name, partitionKey(d), m.old[0].partition)
	}
	return d, err
}
