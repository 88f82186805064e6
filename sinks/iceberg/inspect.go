package iceberg

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	iceberg "github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/store"
)

// leftOutDir has notes of files that were gone before the table could name them: they are told by them from those that the
// table has had and removed. The notes are never removed.
const leftOutDir = metadataDir + "/left_out"

// leftOut is such a note.
type leftOut struct {
	Version int      `json:"version"`
	Files   []string `json:"files"`
}

// noteLeftOut notes the files that a snapshot leaves out.
func (t *tableOf) noteLeftOut(ctx context.Context, a *appended, files []string) error {
	at := fmt.Sprintf("%s/%s/%s.json", t.base, leftOutDir, uuid.NewString())
	a.written = append(a.written, at)
	return t.create(ctx, at, encode(leftOut{1, files}))
}

// Inspect implements [verify.TableReader] by the newest metadata of a table in the output folder: that which the catalog there
// names, or, where the catalog is elsewhere, that which was written last.
func Inspect(ctx context.Context, root store.Store) (*verify.TableState, error) {
	if _, err := root.Read(ctx, commit.RegisteredKey); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	base, err := locationOf(root)
	if err != nil {
		return nil, err
	}
	t := &tableOf{store: root, base: base}
	for range 3 { // what is read may be removed meanwhile, by a newer state of the table
		var s *verify.TableState
		if s, err = t.inspect(ctx); !errors.Is(err, fs.ErrNotExist) {
			return s, err
		}
	}
	return nil, err
}

func (t *tableOf) inspect(ctx context.Context) (*verify.TableState, error) {
	now, err := t.newest(ctx)
	if err != nil || now == nil {
		return nil, err
	}
	s := &verify.TableState{LeftOut: map[string]bool{}}
	if s.Metadata, err = keyOf(t.base, now.location); err != nil {
		return nil, err
	}
	if s.Positions, err = t.positions(now.meta); err != nil {
		return nil, err
	}
	if s.Has, s.Rows, err = t.dataFiles(ctx, now.meta.snapshot(now.meta.Current)); err != nil {
		return nil, err
	}
	if s.Had, _, err = t.dataFiles(ctx, foreign(now.meta)...); err != nil {
		return nil, err
	}
	return s, t.notes(ctx, s)
}

// newest returns the table as its newest metadata in the folder has it, nil if there is none.
func (t *tableOf) newest(ctx context.Context) (*state, error) {
	candidates, err := t.catalogued(ctx)
	if err == nil && len(candidates) == 0 {
		candidates, err = t.listed(ctx)
	}
	if err != nil {
		return nil, err
	}
	var found *state
	for _, at := range candidates {
		raw, err := t.read(ctx, at)
		if err == nil {
			raw, err = uncompressed(at, raw)
		}
		if err != nil {
			return nil, err
		}
		m, err := parseMetadata(at, raw)
		if err != nil {
			return nil, err
		}
		if out, ok := m.Properties[outputKey]; ok && !samePlace(out, t.base) {
			continue
		}
		s := &state{at, raw, m}
		if found == nil || s.compare(found) > 0 {
			found = s
		}
	}
	return found, nil
}

func (s *state) compare(o *state) int {
	return cmp.Or(cmp.Compare(s.meta.LastUpdated, o.meta.LastUpdated), cmp.Compare(s.meta.LastSequence, o.meta.LastSequence),
		cmp.Compare(versionOf(s.location), versionOf(o.location)))
}

// catalogued returns what the catalog in the folder names there, none without one. Nothing of it is changed.
func (t *tableOf) catalogued(ctx context.Context) (found []string, err error) {
	if strings.Contains(t.store.Location(), "://") {
		return nil, nil
	}
	err = t.query(ctx, `SELECT metadata_location FROM iceberg_tables WHERE metadata_location IS NOT NULL`, func(rows *sql.Rows) error {
		var at string
		err := rows.Scan(&at)
		if _, keyErr := keyOf(t.base, at); err == nil && keyErr == nil {
			found = append(found, at)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, err
}

// query asks the catalog in the folder, and calls each with every row. Nothing of the catalog is changed. The error is
// [fs.ErrNotExist] if there is none.
func (t *tableOf) query(ctx context.Context, text string, each func(*sql.Rows) error) (err error) {
	file := filepath.Join(t.store.Location(), catalogFile)
	if _, err := os.Stat(file); err != nil {
		return err
	}
	dsn, err := sqliteName(file, "mode=ro&_pragma=busy_timeout(20000)")
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return fmt.Errorf("the catalog %s: %w", file, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// listed returns all metadata in the folder, where it is put by us and where others put it who do not know of that.
func (t *tableOf) listed(ctx context.Context) (found []string, err error) {
	for _, dir := range []string{metadataDir, foreignMetadata} {
		entries, err := t.store.List(ctx, dir, "")
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.Dir && strings.HasSuffix(e.Name, ".metadata.json") {
				found = append(found, t.base+"/"+path.Join(dir, e.Name))
			}
		}
	}
	return found, nil
}

// foreign returns the snapshots of others and those before them: what is in none of these was not put there by others, or is
// forgotten.
func foreign(m *metadata) (found []*snapshot) {
	for _, s := range m.Snapshots {
		if s.Summary[positionsKey] == "" {
			found = append(found, s, m.snapshot(s.Parent))
		}
	}
	return found
}

// dataFiles returns the data files of snapshots by their names in the folder, and how many rows are in them.
func (t *tableOf) dataFiles(ctx context.Context, snapshots ...*snapshot) (files map[string]bool, rows int64, err error) {
	files, seen := map[string]bool{}, map[string]bool{} // manifests
	for _, s := range snapshots {
		manifests, err := t.manifestsOf(ctx, s)
		if err != nil {
			return nil, 0, err
		}
		for _, m := range manifests {
			if seen[m.FilePath()] || m.ManifestContent() != iceberg.ManifestContentData {
				continue
			}
			seen[m.FilePath()] = true
			entries, err := t.entriesOf(ctx, m)
			if err != nil {
				return nil, 0, err
			}
			for _, e := range entries {
				rows += e.DataFile().Count()
				if key, err := keyOf(t.base, e.DataFile().FilePath()); err == nil { // others may have put theirs elsewhere
					files[key] = true
				}
			}
		}
	}
	return files, rows, nil
}

// notes collects the files that were left out.
func (t *tableOf) notes(ctx context.Context, s *verify.TableState) error {
	entries, err := t.store.List(ctx, leftOutDir, "")
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(leftOutDir, e.Name)
		content, err := t.store.Read(ctx, at)
		if err != nil {
			return err
		}
		var note leftOut
		if err := json.Unmarshal(content, &note); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		for _, f := range note.Files {
			s.LeftOut[f] = true
		}
	}
	return nil
}
