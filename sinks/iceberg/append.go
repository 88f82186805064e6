package iceberg

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
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

// appendFiles writes the manifests of a snapshot that adds files to those of base.
func (t *tableOf) appendFiles(ctx context.Context, base *state, added []iceberg.DataFile, summary map[string]string) (*appended, error) {
	s := &snapshot{
		ID: newSnapshotID(), Parent: base.meta.Current, Sequence: base.meta.LastSequence + 1,
		Time: max(time.Now().UnixMilli(), base.meta.LastUpdated), Schema: base.meta.CurrentSchema,
	}
	a := &appended{snapshot: s}
	manifests, err := t.manifestsOf(ctx, base.meta.snapshot(base.meta.Current))
	if err != nil {
		return nil, err
	}
	entries := make([]iceberg.ManifestEntry, len(added))
	for i, f := range added {
		entries[i] = iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &s.ID, nil, nil, f)
	}
	m, err := t.writeManifest(ctx, base, a, base.meta.DefaultSpec, entries)
	if err != nil {
		return a, err
	}
	if manifests, err = t.merge(ctx, base, a, manifests); err != nil {
		return a, err
	}
	var list bytes.Buffer
	err = iceberg.WriteManifestList(formatVersion, &list, s.ID, s.Parent, &s.Sequence, 0, append([]iceberg.ManifestFile{m}, manifests...))
	if err != nil {
		return a, err
	}
	s.ManifestList = fmt.Sprintf("%s/snap-%d-1-%s.avro", t.metadata(), s.ID, uuid.NewString())
	a.written = append(a.written, s.ManifestList)
	s.Summary = summaryOf(base.meta.snapshot(base.meta.Current), added, summary)
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

// merge makes one manifest of the small ones of the default spec, when there are many: whoever reads the table reads them
// all. Those with files that were deleted, and those of delete files, stay as they are.
func (t *tableOf) merge(ctx context.Context, base *state, a *appended, manifests []iceberg.ManifestFile) ([]iceberg.ManifestFile, error) {
	var small, others []iceberg.ManifestFile
	for _, m := range manifests {
		if m.ManifestContent() == iceberg.ManifestContentData && int(m.PartitionSpecID()) == base.meta.DefaultSpec &&
			m.DeletedDataFiles() == 0 && m.Length() < smallManifest {
			small = append(small, m)
		} else {
			others = append(others, m)
		}
	}
	if len(small) < mergeAt {
		return manifests, nil
	}
	var entries []iceberg.ManifestEntry
	for _, m := range small {
		found, err := t.entriesOf(ctx, m)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			id, sequence := e.SnapshotID(), e.SequenceNum()
			entries = append(entries, iceberg.NewManifestEntry(iceberg.EntryStatusEXISTING, &id, &sequence, e.FileSequenceNum(), e.DataFile()))
		}
	}
	merged, err := t.writeManifest(ctx, base, a, base.meta.DefaultSpec, entries)
	if err != nil {
		return nil, err
	}
	return append(others, merged), nil
}

// entriesOf reads the entries of a manifest, without those of files that were deleted.
func (t *tableOf) entriesOf(ctx context.Context, m iceberg.ManifestFile) ([]iceberg.ManifestEntry, error) {
	content, err := t.read(ctx, m.FilePath())
	if err != nil {
		return nil, err
	}
	entries, err := iceberg.ReadManifest(m, bytes.NewReader(content), true)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.FilePath(), err)
	}
	return entries, nil
}

// summaryOf returns the summary of a snapshot that adds files, with the sums that readers show.
func summaryOf(parent *snapshot, added []iceberg.DataFile, more map[string]string) map[string]string {
	var rows, size int64
	for _, f := range added {
		rows += f.Count()
		size += f.FileSizeBytes()
	}
	s := map[string]string{"operation": "append"}
	for _, n := range []struct {
		what, total string
		n           int64
	}{{"added-data-files", "total-data-files", int64(len(added))}, {"added-records", "total-records", rows}, {"added-files-size", "total-files-size", size}} {
		s[n.what] = strconv.FormatInt(n.n, 10)
		before := int64(0)
		if parent != nil {
			var err error
			if before, err = strconv.ParseInt(parent.Summary[n.total], 10, 64); err != nil {
				continue // somebody has left it out, and we cannot tell either
			}
		}
		s[n.total] = strconv.FormatInt(before+n.n, 10)
	}
	for _, none := range []string{"total-delete-files", "total-position-deletes", "total-equality-deletes"} {
		s[none] = "0"
		if parent != nil && parent.Summary[none] != "" {
			s[none] = parent.Summary[none]
		}
	}
	for k, v := range more {
		s[k] = v
	}
	return s
}

// newSnapshotID returns a positive number that no other snapshot has.
func newSnapshotID() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return int64(binary.LittleEndian.Uint64(b[:]) >> 1)
}
