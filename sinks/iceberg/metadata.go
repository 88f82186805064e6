package iceberg

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	iceberg "github.com/apache/iceberg-go"
	"github.com/google/uuid"
)

// formatVersion is that of the tables that are made, and the only one that is written to.
const formatVersion = 2

// metadata is what has to be known of a table. What else its metadata has is kept as it is; see [apply].
type metadata struct {
	at string // where it is, for messages

	Version       int                `json:"format-version"`
	UUID          string             `json:"table-uuid"`
	Location      string             `json:"location"`
	LastSequence  int64              `json:"last-sequence-number"`
	LastUpdated   int64              `json:"last-updated-ms"`
	LastColumn    int                `json:"last-column-id"`
	CurrentSchema int                `json:"current-schema-id"`
	Schemas       []*iceberg.Schema  `json:"schemas"`
	DefaultSpec   int                `json:"default-spec-id"`
	Specs         []*json.RawMessage `json:"partition-specs"`
	Properties    map[string]string  `json:"properties"`
	Current       *int64             `json:"current-snapshot-id"`
	Snapshots     []*snapshot        `json:"snapshots"`
	Refs          map[string]*ref    `json:"refs"`
	Statistics    []*statistics      `json:"statistics"`
	PartStats     []*statistics      `json:"partition-statistics"`
	Log           []*logEntry        `json:"metadata-log"`
}

// mainBranch is the branch whose last snapshot is the current one.
const mainBranch = "main"

// ref is a branch or a tag.
type ref struct {
	Snapshot int64  `json:"snapshot-id"`
	Type     string `json:"type"` // branch or tag
	// Keep and Age are how many snapshots of a branch stay at least, and for how many milliseconds; nil: as for the table.
	Keep   *int   `json:"min-snapshots-to-keep,omitempty"`
	Age    *int64 `json:"max-snapshot-age-ms,omitempty"`
	RefAge *int64 `json:"max-ref-age-ms,omitempty"`
}

// statistics is a file with statistics of a snapshot.
type statistics struct {
	Snapshot int64  `json:"snapshot-id"`
	Path     string `json:"statistics-path"`
}

// logEntry is an earlier metadata file.
type logEntry struct {
	File string `json:"metadata-file"`
}

// snapshot is a version of a table's content.
type snapshot struct {
	ID           int64             `json:"snapshot-id"`
	Parent       *int64            `json:"parent-snapshot-id,omitempty"`
	Sequence     int64             `json:"sequence-number"`
	Time         int64             `json:"timestamp-ms"`
	ManifestList string            `json:"manifest-list"`
	Summary      map[string]string `json:"summary"`
	Schema       int               `json:"schema-id"`
}

// uncompressed returns metadata as JSON, by the name of its file.
func uncompressed(at string, raw []byte) ([]byte, error) {
	if !strings.Contains(path.Base(at), ".gz.") {
		return raw, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, maxAnswer))
}

// parseMetadata reads the metadata, found at a location, of a table that can be written to. What it returns has no nil in its slices.
func parseMetadata(at string, raw []byte) (*metadata, error) {
	m := &metadata{at: at}
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, m.damaged("%w", err)
	}
	if m.Version != formatVersion {
		return nil, fmt.Errorf("the table has version %d of Iceberg's format, and urlmill adds to tables of version %d: give another table", m.Version, formatVersion)
	}
	for _, list := range []struct {
		key  string
		null bool
	}{
		{"schemas", slices.Contains(m.Schemas, nil)},
		{"partition-specs", slices.Contains(m.Specs, nil)},
		{"snapshots", slices.Contains(m.Snapshots, nil)},
		{"metadata-log", slices.Contains(m.Log, nil)},
		{"refs", slices.Contains(slices.Collect(maps.Values(m.Refs)), nil)},
		{"statistics", slices.Contains(slices.Concat(m.Statistics, m.PartStats), nil)},
	} {
		if list.null {
			return nil, m.damaged("null is among its %s", list.key)
		}
	}
	if m.Current != nil && *m.Current < 0 { // how some write that there is none
		m.Current = nil
	}
	return m, nil
}

// damaged returns the error of metadata that cannot be used.
func (m *metadata) damaged(format string, args ...any) error {
	return fmt.Errorf("the metadata of the table, %s, cannot be used: %w; restore the file, or roll the table back in its catalog", m.at, fmt.Errorf(format, args...))
}

// schema returns the current schema.
func (m *metadata) schema() (*iceberg.Schema, error) {
	for _, s := range m.Schemas {
		if s.ID == m.CurrentSchema {
			return s, nil
		}
	}
	return nil, m.damaged("it does not have its current schema, %d", m.CurrentSchema)
}

// spec returns a partition spec by its number.
func (m *metadata) spec(id int) (iceberg.PartitionSpec, error) {
	for _, raw := range m.Specs {
		if specID(*raw) != id {
			continue
		}
		var s iceberg.PartitionSpec
		err := json.Unmarshal(*raw, &s)
		return s, err
	}
	return iceberg.PartitionSpec{}, m.damaged("it does not have its partition spec %d", id)
}

// specID returns the number of a partition spec, -1 if it has none.
func specID(raw json.RawMessage) int {
	var head struct {
		ID *int `json:"spec-id"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.ID == nil {
		return -1
	}
	return *head.ID
}

// snapshot returns a snapshot, nil if there is none of that number.
func (m *metadata) snapshot(id *int64) *snapshot {
	for _, s := range m.Snapshots {
		if id != nil && s.ID == *id {
			return s
		}
	}
	return nil
}

// mainRef returns the branch main as it is to be when a snapshot is its last: how long others stay in it is for those who have said so.
func (m *metadata) mainRef(id int64) ref {
	r := ref{}
	if there := m.Refs[mainBranch]; there != nil {
		r = *there
	}
	r.Snapshot, r.Type = id, "branch"
	return r
}

// history returns the current snapshot and its ancestors that are still there, the newest first.
func (m *metadata) history() ([]*snapshot, error) {
	byID := make(map[int64]*snapshot, len(m.Snapshots))
	for _, s := range m.Snapshots {
		byID[s.ID] = s
	}
	var line []*snapshot
	for at := m.Current; at != nil && byID[*at] != nil; at = byID[*at].Parent {
		if len(line) == len(byID) {
			return nil, m.damaged("its snapshot %d is an ancestor of itself", *at)
		}
		line = append(line, byID[*at])
	}
	return line, nil
}

// newTable returns the metadata of an empty table.
func newTable(n creation) []byte {
	lastPartition := 999
	for _, f := range n.spec.Fields() {
		lastPartition = max(lastPartition, f.FieldID)
	}
	return encode(map[string]any{
		"format-version": formatVersion, "table-uuid": uuid.NewString(), "location": n.location,
		"last-sequence-number": 0, "last-updated-ms": time.Now().UnixMilli(),
		"last-column-id": n.lastColumn, "current-schema-id": n.schema.ID, "schemas": []any{n.schema},
		"default-spec-id": n.spec.ID(), "partition-specs": []any{n.spec}, "last-partition-id": lastPartition,
		"default-sort-order-id": 0, "sort-orders": []any{map[string]any{"order-id": 0, "fields": []any{}}},
		"properties": n.properties, "current-snapshot-id": nil, "refs": map[string]any{}, "snapshots": []any{},
		"statistics": []any{}, "snapshot-log": []any{}, "metadata-log": []any{},
	})
}

// maxLog bounds the log of earlier metadata.
const maxLog = 100

// apply returns the metadata after a change. What the change does not touch stays as it is, whoever has written it.
func apply(base *state, c change) (_ []byte, err error) {
	defer func() {
		if err != nil {
			err = base.meta.damaged("%w", err)
		}
	}()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(base.raw, &m); err != nil {
		return nil, err
	}
	now := time.Now().UnixMilli()
	if c.schema != nil {
		if err := appendTo(m, "schemas", c.schema); err != nil {
			return nil, err
		}
		m["current-schema-id"], m["last-column-id"] = encode(c.schema.ID), encode(c.lastColumn)
	}
	if len(c.properties) > 0 {
		p := maps.Clone(base.meta.Properties)
		if p == nil {
			p = map[string]string{}
		}
		maps.Copy(p, c.properties)
		m["properties"] = encode(p)
	}
	if s := c.snapshot; s != nil {
		now = s.Time
		var refs map[string]json.RawMessage
		if err := json.Unmarshal(orNull(m["refs"]), &refs); err != nil {
			return nil, fmt.Errorf("refs: %w", err)
		}
		if refs == nil { // some write null for none
			refs = map[string]json.RawMessage{}
		}
		refs[mainBranch] = encode(base.meta.mainRef(s.ID))
		m["refs"], m["current-snapshot-id"], m["last-sequence-number"] = encode(refs), encode(s.ID), encode(s.Sequence)
		if err := appendTo(m, "snapshots", s); err != nil {
			return nil, err
		}
		if err := appendTo(m, "snapshot-log", map[string]any{"snapshot-id": s.ID, "timestamp-ms": s.Time}); err != nil {
			return nil, err
		}
	}
	if err := forget(m, c.expired); err != nil {
		return nil, err
	}
	if err := appendTo(m, "metadata-log", map[string]any{"metadata-file": base.location, "timestamp-ms": base.meta.LastUpdated}); err != nil {
		return nil, err
	}
	var log []json.RawMessage
	if err := json.Unmarshal(m["metadata-log"], &log); err != nil {
		return nil, err
	}
	m["metadata-log"] = encode(log[max(0, len(log)-maxLog):])
	m["last-updated-ms"] = encode(max(now, base.meta.LastUpdated))
	return encode(m), nil
}

// forget takes snapshots from metadata, with the statistics of them. Of the log of snapshots, what is before one of them goes too, as
// the specification has it.
func forget(m map[string]json.RawMessage, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	for _, key := range []string{"snapshots", "snapshot-log", "statistics", "partition-statistics"} {
		var list []json.RawMessage
		if err := json.Unmarshal(orNull(m[key]), &list); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if list == nil {
			continue
		}
		kept := []json.RawMessage{}
		for _, raw := range list {
			var of struct {
				Snapshot int64 `json:"snapshot-id"`
			}
			if err := json.Unmarshal(raw, &of); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			switch {
			case !slices.Contains(ids, of.Snapshot):
				kept = append(kept, raw)
			case key == "snapshot-log":
				kept = kept[:0]
			}
		}
		m[key] = encode(kept)
	}
	return nil
}

// forgotten returns the metadata files that the log has no place for any more after a change.
func forgotten(base *state) []string {
	if base.meta.Properties[pruneKey] != "true" {
		return nil
	}
	var old []string
	for i := range len(base.meta.Log) + 1 - maxLog {
		old = append(old, base.meta.Log[i].File)
	}
	return old
}

// appendTo adds a value to an array.
func appendTo(m map[string]json.RawMessage, key string, v any) error {
	var list []json.RawMessage
	if err := json.Unmarshal(orNull(m[key]), &list); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	m[key] = encode(append(list, encode(v)))
	return nil
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// encode returns v as JSON.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // all that is encoded here can be
	}
	return b
}
