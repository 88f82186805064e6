package iceberg

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	iceberg "github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// mergeAt is how many manifests of a table may be small before they become one. smallManifest is the size up to which one is.
const (
	mergeAt       = 100
	smallManifest = 8 << 20
)

// appended is a snapshot that is ready to be committed, and what was written for it.
type appended struct {
	snapshot *snapshot
	written  []string // locations
}

// revision is what a snapshot does to the files of a table.
type revision struct {
	operation string
	added     []iceberg.DataFile
	removed   map[string]bool // locations
	summary   map[string]string
}

// errMissing says that a file that was to be taken from the table is not in it.
var errMissing = errors.New("a file is not in the table any more")

// appendFiles writes the manifests of a snapshot that adds files to those of base.
func (t *tableOf) appendFiles(ctx context.Context, base *state, added []iceberg.DataFile, summary map[string]string) (*appended, error) {
	return t.revise(ctx, base, revision{operation: "append", added: added, summary: summary})
}

// revise writes the manifests of a snapshot. With an error, what it returns says what was written.
func (t *tableOf) revise(ctx context.Context, base *state, r revision) (*appended, error) {
	parent := base.meta.snapshot(base.meta.Current)
	s := &snapshot{
		ID: newSnapshotID(), Parent: base.meta.Current, Sequence: base.meta.LastSequence + 1,
		Time: max(time.Now().UnixMilli(), base.meta.LastUpdated), Schema: base.meta.CurrentSchema,
	}
	a := &appended{snapshot: s}
	before, err := t.manifestsOf(ctx, parent)
	if err != nil {
		return nil, err
	}
	bySpec := map[int][]iceberg.ManifestEntry{}
	for _, f := range r.added {
		bySpec[int(f.SpecID())] = append(bySpec[int(f.SpecID())], iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &s.ID, nil, nil, f))
	}
	manifests, err := t.writeManifests(ctx, base, a, bySpec)
	if err != nil {
		return a, err
	}
	kept, changed, removed, err := t.take(ctx, base, a, before, r.removed)
	if err != nil {
		return a, err
	}
	if kept, err = t.merge(ctx, base, a, kept); err != nil {
		return a, err
	}
	manifests = slices.Concat(manifests, changed, kept)
	var list bytes.Buffer
	if err = iceberg.WriteManifestList(formatVersion, &list, s.ID, s.Parent, &s.Sequence, 0, manifests); err != nil {
		return a, err
	}
	s.ManifestList = fmt.Sprintf("%s/snap-%d-1-%s.avro", t.metadata(), s.ID, uuid.NewString())
	a.written = append(a.written, s.ManifestList)
	s.Summary = summaryOf(parent, r, removed)
	return a, t.create(ctx, s.ManifestList, list.Bytes())
}

// manifestsOf reads which manifests a snapshot has, none for nil.
func (t *tableOf) manifestsOf(ctx context.Context, s *snapshot) ([]iceberg.ManifestFile, error) {
	if s == nil {
		return nil, nil
	}
	content, err := t.read(ctx, s.ManifestList)
	if err != nil {
		return nil, err
	}
	manifests, err := iceberg.ReadManifestList(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.ManifestList, err)
	}
	return manifests, nil
}

// writeManifest writes a manifest of files of one partition spec.
func (t *tableOf) writeManifest(ctx context.Context, base *state, a *appended, spec int, entries []iceberg.ManifestEntry) (iceberg.ManifestFile, error) {
	p, err := base.meta.spec(spec)
	if err != nil {
		return nil, err
	}
	schema, err := base.meta.schema()
	if err != nil {
		return nil, err
	}
	at := fmt.Sprintf("%s/%s-m%d.avro", t.metadata(), uuid.NewString(), len(a.written))
	var content bytes.Buffer
	m, err := iceberg.WriteManifest(at, &content, formatVersion, p, schema, a.snapshot.ID, entries)
	if err != nil {
		return nil, err
	}
	a.written = append(a.written, at)
	return m, t.create(ctx, at, content.Bytes())
}

// writeManifests writes a manifest for each partition spec.
func (t *tableOf) writeManifests(ctx context.Context, base *state, a *appended, bySpec map[int][]iceberg.ManifestEntry) (all []iceberg.ManifestFile, err error) {
	for _, spec := range slices.Sorted(maps.Keys(bySpec)) {
		m, err := t.writeManifest(ctx, base, a, spec, bySpec[spec])
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// take takes files from the manifests. It returns those without any of them, those that are written in the place of the others, and
// what was taken. The error is [errMissing] if one is in none.
func (t *tableOf) take(ctx context.Context, base *state, a *appended, manifests []iceberg.ManifestFile, gone map[string]bool) (
	kept, changed []iceberg.ManifestFile, removed []iceberg.DataFile, err error,
) {
	bySpec := map[int][]iceberg.ManifestEntry{}
	for _, m := range manifests {
		var entries []iceberg.ManifestEntry
		if len(gone) > 0 && m.ManifestContent() == iceberg.ManifestContentData {
			if entries, err = t.entriesOf(ctx, m); err != nil {
				return nil, nil, nil, err
			}
		}
		if !slices.ContainsFunc(entries, func(e iceberg.ManifestEntry) bool { return gone[e.DataFile().FilePath()] }) {
			kept = append(kept, m)
			continue
		}
		spec := int(m.PartitionSpecID())
		for _, e := range entries {
			id, sequence, status := e.SnapshotID(), e.SequenceNum(), iceberg.EntryStatusEXISTING
			if gone[e.DataFile().FilePath()] {
				id, status = a.snapshot.ID, iceberg.EntryStatusDELETED
				removed = append(removed, e.DataFile())
			}
			bySpec[spec] = append(bySpec[spec], iceberg.NewManifestEntry(status, &id, &sequence, e.FileSequenceNum(), e.DataFile()))
		}
	}
	if len(removed) != len(gone) {
		return nil, nil, nil, errMissing
	}
	changed, err = t.writeManifests(ctx, base, a, bySpec)
	return kept, changed, removed, err
}

// merge makes one manifest of the small ones of a partition spec, when there are many: whoever reads the table reads them all. What
// earlier snapshots have taken from the table is in none of the new ones, and a manifest that has nothing else is left out. Those of
// delete files stay as they are.
func (t *tableOf) merge(ctx context.Context, base *state, a *appended, manifests []iceberg.ManifestFile) ([]iceberg.ManifestFile, error) {
	schema, err := base.meta.schema()
	if err != nil {
		return nil, err
	}
	small, others := map[int][]iceberg.ManifestFile{}, []iceberg.ManifestFile{}
	for _, m := range manifests {
		switch spec := int(m.PartitionSpecID()); {
		case m.ManifestContent() == iceberg.ManifestContentData && !m.HasAddedFiles() && !m.HasExistingFiles():
		case m.ManifestContent() == iceberg.ManifestContentData && m.Length() < smallManifest:
			small[spec] = append(small[spec], m)
		default:
			others = append(others, m)
		}
	}
	bySpec := map[int][]iceberg.ManifestEntry{}
	for spec, few := range small {
		s, err := base.meta.spec(spec)
		if len(few) < mergeAt || err != nil || !usable(s, schema) {
			others = append(others, few...)
			continue
		}
		for _, m := range few {
			found, err := t.entriesOf(ctx, m)
			if err != nil {
				return nil, err
			}
			for _, e := range found {
				id, sequence := e.SnapshotID(), e.SequenceNum()
				bySpec[spec] = append(bySpec[spec], iceberg.NewManifestEntry(iceberg.EntryStatusEXISTING, &id, &sequence, e.FileSequenceNum(), e.DataFile()))
			}
		}
	}
	merged, err := t.writeManifests(ctx, base, a, bySpec)
	return append(others, merged...), err
}

// entriesOf reads the entries of a manifest, without those of files that were deleted. They are not to be changed.
func (t *tableOf) entriesOf(ctx context.Context, m iceberg.ManifestFile) ([]iceberg.ManifestEntry, error) {
	if found, ok := t.entries[m.FilePath()]; ok {
		return found, nil
	}
	content, err := t.read(ctx, m.FilePath())
	if err != nil {
		return nil, err
	}
	entries, err := iceberg.ReadManifest(m, bytes.NewReader(content), true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.FilePath(), err)
	}
	if t.entries != nil {
		t.entries[m.FilePath()] = entries
	}
	return entries, nil
}

// summaryOf returns the summary of a snapshot, with the sums that readers show.
func summaryOf(parent *snapshot, r revision, removed []iceberg.DataFile) map[string]string {
	s := map[string]string{"operation": r.operation}
	for _, n := range []struct {
		added, deleted, total string
		of                    func(iceberg.DataFile) int64
	}{
		{"added-data-files", "deleted-data-files", "total-data-files", func(iceberg.DataFile) int64 { return 1 }},
		{"added-records", "deleted-records", "total-records", iceberg.DataFile.Count},
		{"added-files-size", "removed-files-size", "total-files-size", iceberg.DataFile.FileSizeBytes},
	} {
		more, less := int64(0), int64(0)
		for _, f := range r.added {
			more += n.of(f)
		}
		for _, f := range removed {
			less += n.of(f)
		}
		s[n.added] = strconv.FormatInt(more, 10)
		if len(removed) > 0 {
			s[n.deleted] = strconv.FormatInt(less, 10)
		}
		before := int64(0)
		if parent != nil {
			var err error
			if before, err = strconv.ParseInt(parent.Summary[n.total], 10, 64); err != nil {
				continue // somebody has left it out, and we cannot tell either
			}
		}
		s[n.total] = strconv.FormatInt(before+more-less, 10)
	}
	for _, none := range []string{"total-delete-files", "total-position-deletes", "total-equality-deletes"} {
		s[none] = "0"
		if parent != nil && parent.Summary[none] != "" {
			s[none] = parent.Summary[none]
		}
	}
	maps.Copy(s, r.summary)
	return s
}

// newSnapshotID returns a positive number that no other snapshot has.
func newSnapshotID() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return int64(binary.LittleEndian.Uint64(b[:]) >> 1)
}
