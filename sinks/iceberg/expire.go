package iceberg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"time"

	iceberg "github.com/apache/iceberg-go"

	"github.com/urlmill/urlmill/sinks/compact"
)

// Properties of the table that say how long snapshots stay, and what they are where it has none.
const (
	maxAgeKey     = "history.expire.max-snapshot-age-ms"
	minKeepKey    = "history.expire.min-snapshots-to-keep"
	defaultMaxAge = 5 * 24 * time.Hour
)

// retention is for how long and how many snapshots of a branch stay.
type retention struct {
	age  int64 // milliseconds
	keep int   // at least
	most int   // 0: as many as there are
}

func (k *Keeper) retention(m *metadata) retention {
	r := retention{age: k.opts.SnapshotAge.Milliseconds(), keep: 1, most: k.opts.MaxSnapshots}
	if r.age == 0 {
		r.age = defaultMaxAge.Milliseconds()
		if n, err := strconv.ParseInt(m.Properties[maxAgeKey], 10, 64); err == nil {
			r.age = n
		}
	}
	if n, err := strconv.Atoi(m.Properties[minKeepKey]); err == nil {
		r.keep = max(1, n)
	}
	return r
}

// expired returns the snapshots that nobody wants any more. What branches and tags say for themselves goes before what is said for the
// table.
func (m *metadata) expired(r retention, now time.Time) (ids []int64) {
	byID, keep := map[int64]*snapshot{}, map[int64]bool{}
	for _, s := range m.Snapshots {
		byID[s.ID] = s
	}
	heads := map[string]*ref{}
	maps.Copy(heads, m.Refs)
	if m.Current != nil && heads[mainBranch] == nil {
		heads[mainBranch] = &ref{Snapshot: *m.Current, Type: "branch"}
	}
	referenced := map[int64]bool{}
	for name, head := range heads {
		own := r
		if name != mainBranch {
			own.most = 0
		}
		if head.Age != nil {
			own.age, own.most = *head.Age, 0
		}
		if head.Keep != nil {
			own.keep = *head.Keep
		}
		at := byID[head.Snapshot]
		for i := 0; at != nil && i <= len(byID); i++ {
			referenced[at.ID] = true
			young := now.UnixMilli()-at.Time <= own.age && (own.most == 0 || i < own.most)
			if i == 0 || head.Type == "branch" && (i < own.keep || young) {
				keep[at.ID] = true
			}
			if at.Parent == nil || head.Type != "branch" {
				break
			}
			at = byID[*at.Parent]
		}
	}
	for _, s := range m.Snapshots {
		if !keep[s.ID] && (referenced[s.ID] || now.UnixMilli()-s.Time > r.age) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// errStranger says that files of the output may be needed by another table.
var errStranger = errors.New("another table has its metadata in the output as well, and may need the files that this one does not")

// expire removes snapshots, and the files that only they had.
func (k *Keeper) expire(ctx context.Context, r *compact.TableReport) error {
	for range maxAttempts {
		now, err := k.load(ctx)
		if err != nil {
			return err
		}
		ids := now.meta.expired(k.retention(now.meta), k.opts.Now())
		r.Snapshots = len(ids)
		// Who looks again and again does not write metadata for every single one.
		if len(ids) == 0 || k.opts.Steady && len(ids) < k.opts.MaxSnapshots/20 {
			r.Snapshots = 0
			return nil
		}
		if err := k.checkStrangers(ctx, now); err != nil || k.opts.DryRun {
			return err
		}
		var old []*snapshot
		for _, id := range ids {
			old = append(old, now.meta.snapshot(&id))
		}
		before, err := k.needed(ctx, old)
		if err == nil {
			before.statistics(now.meta, ids)
			err = k.table.catalog.commit(ctx, k.table.id, now, change{expired: ids})
		}
		if stale(err) {
			continue
		}
		if err != nil {
			return err
		}
		return again(func() error { return k.clear(ctx, before, r) })
	}
	return errConflict
}

// needs is what snapshots need: locations.
type needs struct {
	lists, others map[string]bool
	manifests     map[string]iceberg.ManifestFile
}

// needed returns what snapshots need, without the files of their manifests.
func (k *Keeper) needed(ctx context.Context, snapshots []*snapshot) (*needs, error) {
	n := &needs{map[string]bool{}, map[string]bool{}, map[string]iceberg.ManifestFile{}}
	for _, s := range snapshots {
		n.lists[s.ManifestList] = true
		manifests, err := k.manifests(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, m := range manifests {
			n.manifests[m.FilePath()] = m
		}
	}
	return n, nil
}

// statistics adds those of snapshots.
func (n *needs) statistics(m *metadata, ids []int64) {
	for _, s := range slices.Concat(m.Statistics, m.PartStats) {
		if slices.Contains(ids, s.Snapshot) {
			n.others[s.Path] = true
		}
	}
}

// all returns what a table needs, with the files of all of its snapshots, by their places.
func (k *Keeper) all(ctx context.Context, now *state) (places map[string]bool, n *needs, err error) {
	if n, err = k.needed(ctx, now.meta.Snapshots); err != nil {
		return nil, nil, err
	}
	var ids []int64
	for _, s := range now.meta.Snapshots {
		ids = append(ids, s.ID)
	}
	n.statistics(now.meta, ids)
	places = map[string]bool{place(now.location): true}
	for _, l := range now.meta.Log {
		places[place(l.File)] = true
	}
	for at := range n.lists {
		places[place(at)] = true
	}
	for at := range n.others {
		places[place(at)] = true
	}
	for at, m := range n.manifests {
		places[place(at)] = true
		files, err := k.filesOf(ctx, m)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range files {
			places[place(f)] = true
		}
	}
	// What is not needed any more is forgotten.
	maps.DeleteFunc(k.lists, func(at string, _ []iceberg.ManifestFile) bool { return !n.lists[at] })
	maps.DeleteFunc(k.paths, func(at string, _ []string) bool { return n.manifests[at] == nil })
	return places, n, nil
}

// filesOf returns the locations of the files that a manifest has.
func (k *Keeper) filesOf(ctx context.Context, m iceberg.ManifestFile) ([]string, error) {
	if found, ok := k.paths[m.FilePath()]; ok {
		return found, nil
	}
	kept := k.table.entries
	k.table.entries = nil // they are more than is needed here
	entries, err := k.table.entriesOf(ctx, m)
	k.table.entries = kept
	if err != nil {
		return nil, err
	}
	files := make([]string, len(entries))
	for i, e := range entries {
		files[i] = e.DataFile().FilePath()
	}
	k.paths[m.FilePath()] = files
	return files, nil
}

// clear removes the files that snapshots needed which are gone now, but for those that another one needs. What a process that dies
// leaves of them are orphans.
func (k *Keeper) clear(ctx context.Context, before *needs, r *compact.TableReport) error {
	gone := map[string]bool{}
	after, err := k.load(ctx)
	if err != nil {
		return err
	}
	for _, m := range before.manifests {
		files, err := k.filesOf(ctx, m)
		if errors.Is(err, fs.ErrNotExist) { // another process is clearing as well
			continue
		}
		if err != nil {
			return err
		}
		for _, f := range files {
			gone[f] = true
		}
	}
	needed, _, err := k.all(ctx, after)
	if err != nil {
		return err
	}
	maps.Copy(gone, before.others)
	r.Removed = 0
	var last []string // what names others goes after them
	for at := range gone {
		last = append(last, at)
	}
	last = append(append(last, slices.Collect(maps.Keys(before.manifests))...), slices.Collect(maps.Keys(before.lists))...)
	for _, at := range last {
		key, err := keyOf(k.table.base, at)
		if needed[place(at)] || err != nil { // others may have put theirs elsewhere
			continue
		}
		if err := k.opts.Root.Delete(ctx, key); err != nil {
			return err
		}
		r.Removed++
	}
	return nil
}

// checkStrangers returns [errStranger] if another table has metadata in the output.
func (k *Keeper) checkStrangers(ctx context.Context, now *state) error {
	found, err := k.table.listed(ctx)
	if err != nil {
		return err
	}
	there := map[string]string{}
	for _, at := range found {
		id, known := k.strangers[at]
		if !known {
			if id, err = k.uuidOf(ctx, at); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
		}
		if there[at] = id; id != now.meta.UUID {
			return fmt.Errorf("%w: %s is of the table %s; nothing is removed: remove the metadata of that table if it was dropped, or give it an output of its own", errStranger, path.Base(at), id)
		}
	}
	k.strangers = there
	return nil
}

// partly is how long metadata may be there in part: in a folder, others write it where it is.
const partly = 2 * time.Second

// uuidOf returns the identifier of the table that the metadata at a place is of.
func (k *Keeper) uuidOf(ctx context.Context, at string) (string, error) {
	for tries, begun := 1, time.Now(); ; tries++ {
		raw, err := k.table.read(ctx, at)
		if err != nil {
			return "", err
		}
		id, err := tableUUID(at, raw)
		if err == nil || time.Since(begun) > partly && tries > 3 {
			return id, err
		}
		select {
		case <-time.After(partly / 20):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// tableUUID returns the identifier of the table that metadata is of.
func tableUUID(at string, raw []byte) (string, error) {
	var m struct {
		UUID string `json:"table-uuid"`
	}
	content, err := uncompressed(at, raw)
	if err == nil {
		err = json.Unmarshal(content, &m)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", at, err)
	}
	return m.UUID, nil
}
