package iceberg

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	iceberg "github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/store"
)

// spark is maintenance of a table in a folder, which writes locations as Spark does that has Hadoop's file system.
type spark struct {
	t        *testing.T
	out      string
	dataPath string // of the files that it writes, below out
}

// at returns the location of what is in the folder.
func (s spark) at(key string) string { return "file:" + filepath.Join(s.out, key) }

func (s spark) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// create writes a file below the folder, and returns where.
func (s spark) create(key string, content []byte) string {
	s.t.Helper()
	s.must(os.MkdirAll(filepath.Dir(filepath.Join(s.out, key)), 0o755))
	s.must(os.WriteFile(filepath.Join(s.out, key), content, 0o600))
	return s.at(key)
}

// replace commits metadata.
func (s spark) replace(now *state, change func(m map[string]any)) {
	s.t.Helper()
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(now.raw))
	d.UseNumber()
	s.must(d.Decode(&m))
	m["location"] = s.at("")
	m["last-updated-ms"] = time.Now().UnixMilli()
	change(m)
	content, err := json.Marshal(m)
	s.must(err)
	at := s.create(fmt.Sprintf("%s/%05d-%s.metadata.json", metadataDir, versionOf(now.location)+1, uuid.NewString()), content)
	db, err := sql.Open("sqlite", filepath.Join(s.out, catalogFile))
	s.must(err)
	_, err = db.ExecContext(s.t.Context(), "UPDATE iceberg_tables SET metadata_location = ? WHERE metadata_location = ?", at, now.location)
	s.must(errors.Join(err, db.Close()))
}

// rewrite puts one file in the place of all that the table names, and returns those.
func (s spark) rewrite() []iceberg.DataFile {
	s.t.Helper()
	old, now := tableFilesOf(s.t, s.out, "")
	current := now.meta.snapshot(now.meta.Current)
	spec, err := now.meta.spec(now.meta.DefaultSpec)
	s.must(err)
	schema, err := now.meta.schema()
	s.must(err)
	id, sequence, rows := newSnapshotID(), now.meta.LastSequence+1, int64(0)
	var removed []iceberg.ManifestEntry
	for _, f := range old {
		rows += f.Count()
		removed = append(removed, iceberg.NewManifestEntry(iceberg.EntryStatusDELETED, &id, &current.Sequence, &current.Sequence, f))
	}
	data := s.create(s.dataPath+"/00000-0-"+uuid.NewString()+".parquet", []byte("all rows"))
	b, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentData, data, iceberg.ParquetFile, map[int]any{}, nil, nil, rows, 8)
	s.must(err)
	added := []iceberg.ManifestEntry{iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &id, nil, nil, b.Build())}
	var manifests []iceberg.ManifestFile
	for i, entries := range [][]iceberg.ManifestEntry{added, removed} {
		var content bytes.Buffer
		key := fmt.Sprintf("%s/%s-m%d.avro", metadataDir, uuid.NewString(), i)
		m, err := iceberg.WriteManifest(s.at(key), &content, formatVersion, spec, schema, id, entries)
		s.must(err)
		s.create(key, content.Bytes())
		manifests = append(manifests, m)
	}
	var list bytes.Buffer
	s.must(iceberg.WriteManifestList(formatVersion, &list, id, &current.ID, &sequence, 0, manifests))
	snap := snapshot{
		ID: id, Parent: &current.ID, Sequence: sequence, Time: time.Now().UnixMilli(), Schema: now.meta.CurrentSchema,
		ManifestList: s.create(fmt.Sprintf("%s/snap-%d-1-%s.avro", metadataDir, id, uuid.NewString()), list.Bytes()),
		Summary:      map[string]string{"operation": "replace", "total-records": fmt.Sprint(rows), "total-data-files": "1"},
	}
	s.replace(now, func(m map[string]any) {
		m["snapshots"] = append(m["snapshots"].([]any), snap)
		m["current-snapshot-id"], m["last-sequence-number"] = id, sequence
		m["refs"] = map[string]any{"main": map[string]any{"snapshot-id": id, "type": "branch"}}
	})
	return old
}

// expire takes all snapshots but the last from the table, and removes the files that no snapshot names then.
func (s spark) expire(old []iceberg.DataFile) {
	s.t.Helper()
	_, now := tableFilesOf(s.t, s.out, "")
	s.replace(now, func(m map[string]any) {
		all := m["snapshots"].([]any)
		m["snapshots"] = all[len(all)-1:]
	})
	for i, gone := range now.meta.Snapshots {
		if i < len(now.meta.Snapshots)-1 {
			key, err := keyOf(now.meta.Location, gone.ManifestList)
			s.must(errors.Join(err, os.Remove(filepath.Join(s.out, key))))
		}
	}
	for _, f := range old {
		key, err := keyOf(now.meta.Location, f.FilePath())
		s.must(errors.Join(err, os.Remove(filepath.Join(s.out, key))))
	}
}

// verifyOutput verifies an output, as the command does.
func verifyOutput(t *testing.T, out string) *verify.Report {
	t.Helper()
	root := store.NewLocal(out, store.System, quiet)
	r, err := verify.Run(t.Context(), verify.Options{
		Root: root, Open: store.Open, Log: quiet, Counters: map[string]verify.RowCounter{"parquet": parquet.CountRows}, Table: Inspect,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// warnings returns what a start of a pipeline warns of when it finishes the commits of others.
func warnings(t *testing.T, out string) string {
	t.Helper()
	var logged bytes.Buffer
	root := store.NewLocal(out, store.System, quiet)
	chain := commit.New(commit.Options{
		Root: root, Place: commit.NewPlaces(root, store.Open, quiet).Get,
		Log: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err := root.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := chain.Published(t.Context())
	if err := errors.Join(err, root.Close()); err != nil {
		t.Fatal(err)
	}
	return logged.String()
}

// TestMaintenance has the files of a table rewritten and its snapshots expired, between two commits of a running process and
// between two runs: rows go on being added, and what the table has removed is no damage.
func TestMaintenance(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	s := spark{t: t, out: out, dataPath: "data"}
	for run := range int64(2) {
		p, err := begin(t.Context(), out, Options{}, nil, rowsSchema)
		if err != nil {
			t.Fatal(err)
		}
		write := func(to int64) {
			t.Helper()
			if err := errors.Join(p.write(t.Context(), rowsSchema, 0, to), p.write(t.Context(), rowsSchema, 1, to), p.follower.flush(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
		write(100*run + 10)
		old := s.rewrite()
		write(100*run + 20)
		s.expire(old)
		write(100*run + 30)
		if err := p.sink.Close(); err != nil {
			t.Fatal(err)
		}
		s.expire(s.rewrite())
	}
	if warned := warnings(t, out); warned != "" {
		t.Errorf("the next start warns: %s", warned)
	}
	files, now := tableFilesOf(t, out, "")
	if total := now.meta.snapshot(now.meta.Current).Summary["total-records"]; len(files) != 1 || files[0].Count() != 260 || total != "260" {
		t.Errorf("%d files, %s rows", len(files), total)
	}
	r := verifyOutput(t, out)
	if !r.OK || r.Rows != 260 || r.Table == nil || r.Table.Removed != 12 || r.Table.RemovedRows != 260 || r.Table.Rows != 260 || r.Table.Committed != 260 {
		t.Errorf("%+v, %+v", r, r.Table)
	}
}

// TestDamageBesideMaintenance tells files that are missing by accident from those that the table has removed.
func TestDamageBesideMaintenance(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	s := spark{t: t, out: out, dataPath: dataDir}
	p, err := begin(t.Context(), out, Options{}, nil, rowsSchema)
	s.must(err)
	file := func(first int) string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(out, fmt.Sprintf("clicks-0-%020d-*.parquet", first)))
		if err != nil || len(found) != 1 {
			t.Fatalf("%v, %v", found, err)
		}
		return found[0]
	}
	s.must(p.write(t.Context(), rowsSchema, 0, 10))
	s.must(p.follower.flush(t.Context()))
	s.expire(s.rewrite())
	s.must(p.write(t.Context(), rowsSchema, 0, 20))
	never := file(10)
	s.must(os.Remove(never))
	s.must(p.write(t.Context(), rowsSchema, 0, 30))
	s.must(p.follower.flush(t.Context()))
	lost := file(20)
	s.must(os.Remove(lost))
	s.must(p.write(t.Context(), rowsSchema, 0, 40))
	s.must(p.sink.Close())
	s.create("stray.parquet", nil)
	var got []string
	r := verifyOutput(t, out)
	for _, p := range r.Problems {
		got = append(got, fmt.Sprintf("%s %s: %s", p.Kind, p.File, p.Message))
	}
	want := []string{
		"stray_file stray.parquet: no commit names it, and readers take it for a part of the output: move it away unless you have put it there",
		"missing_file " + filepath.Base(never) + ": 10 rows are in it, and it is not there, and the Iceberg table never had it: restore it, unless it was moved away on purpose",
		"missing_file " + filepath.Base(lost) + ": 10 rows are in it, and it is not there, though the Iceberg table names it: restore it",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q", got)
	}
	if r.Table == nil || r.Table.Removed != 1 || r.Table.RemovedRows != 10 || r.Table.Rows != 30 || r.Table.Committed != 30 {
		t.Errorf("%+v", r.Table)
	}
	// Where the catalog is elsewhere, the newest metadata of the folder tells the same.
	s.must(os.Rename(filepath.Join(out, catalogFile), filepath.Join(t.TempDir(), catalogFile)))
	if again := verifyOutput(t, out); fmt.Sprintf("%+v %+v", again.Problems, *again.Table) != fmt.Sprintf("%+v %+v", r.Problems, *r.Table) {
		t.Errorf("without the catalog: %+v, %+v", again.Problems, again.Table)
	}
}
