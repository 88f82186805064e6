package iceberg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	iceberg "github.com/apache/iceberg-go"
	"github.com/google/uuid"

	"github.com/urlmill/urlmill/sinks/compact"
	"github.com/urlmill/urlmill/sinks/store"
)

// old makes files look as if they had been written two days ago.
func (s spark) old(keys ...string) {
	s.t.Helper()
	at := time.Now().Add(-48 * time.Hour)
	for _, key := range keys {
		s.must(os.Chtimes(filepath.Join(s.out, key), at, at))
	}
}

// TestOrphans removes what no snapshot names and is old enough, and nothing else: not what is young, what others have put there who
// are no table, what the table is still to get, and what it could not get.
func TestOrphans(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	other := spark{t: t, out: out, dataPath: dataDir}
	s := newStepper(t, out, Options{PartitionBy: []string{"kind"}})
	s.step()
	s.step()
	// Two files are committed and not in the table; one was gone when it was to be added, and is back.
	if err := s.p.write(t.Context(), rowsSchema, 0, 30); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(out, "kind=*", "clicks-0-00000000000000000020-*.parquet"))
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	hidden := filepath.Join(t.TempDir(), "hidden")
	other.must(os.Rename(all[0], hidden))
	other.must(s.p.follower.flush(t.Context()))
	other.must(os.Rename(hidden, all[0]))
	if err := s.p.write(t.Context(), rowsSchema, 0, 40); err != nil {
		t.Fatal(err)
	}
	// What a keeper leaves that dies when it has committed what it was to remove afterwards: files of commits as well.
	died := errors.New("died")
	o := keepOptions(s.p.follower.store)
	o.MaxSnapshots, o.Options = 1, &Options{Table: "web.clicks", Connect: func() (Catalog, error) {
		c, err := openSQLite(t.Context(), filepath.Join(out, catalogFile), defaultCatalog, s.p.follower.table)
		return &lastWords{Catalog: c, err: died}, err
	}}
	k, err := OpenKeeper(t.Context(), o)
	other.must(err)
	if _, err := k.Pass(t.Context()); !errors.Is(err, died) {
		t.Fatalf("the keeper has not died: %v", err)
	}
	other.must(k.(*Keeper).table.catalog.Close())
	left := map[string]bool{}
	for _, f := range orphansOf(t, out) {
		left[f] = true
	}
	orphans := []string{dataDir + "/kind=1/x.parquet", metadataDir + "/" + uuid.NewString() + "-m0.avro", "metadata/snap-1.avro"}
	for _, key := range orphans {
		other.create(key, []byte("x"))
	}
	for _, key := range []string{dataDir + "/young.parquet", "metadata/readme.txt", "notes/a.avro", "_other/b.avro", "kind=1/mine.parquet"} {
		other.create(key, []byte("x"))
	}
	for _, f := range filesBelow(t, out) {
		if f != dataDir+"/young.parquet" {
			other.old(f)
		}
	}
	r, err := keep(t.Context(), out, func(o *compact.TableOptions) { o.OrphanAge, o.DryRun, o.MinFiles = 24*time.Hour, true, 1000 })
	other.must(err)
	commits := 0
	for _, f := range r.Orphans {
		if strings.HasPrefix(f, "kind=") {
			commits++
		}
		if !slices.Contains(orphans, f) && !left[f] {
			t.Errorf("%s is taken for an orphan", f)
		}
	}
	if len(r.Orphans) != len(left)+len(orphans) || commits == 0 {
		t.Errorf("orphans %v, want %v and %v", r.Orphans, left, orphans)
	}
	again, err := keep(t.Context(), out, func(o *compact.TableOptions) { o.OrphanAge, o.MinFiles = 24*time.Hour, 1000 })
	other.must(err)
	if !slices.Equal(again.Orphans, r.Orphans) {
		t.Errorf("removed %v, and said %v", again.Orphans, r.Orphans)
	}
	for _, f := range r.Orphans {
		if _, err := os.Stat(filepath.Join(out, f)); err == nil {
			t.Errorf("%s is still there", f)
		}
	}
	if _, err := os.Stat(all[0]); err != nil {
		t.Errorf("what the table could not get: %v", err)
	}
	other.must(s.p.follower.flush(t.Context()))
	s.close()
	files, _ := tableFilesOf(t, out, "")
	rows := int64(0)
	for _, f := range files {
		eachN(t, strings.TrimPrefix(f.FilePath(), "file://"), func(int64) { rows++ })
	}
	lost := int64(0)
	eachN(t, all[0], func(int64) { lost++ })
	if rows != 40+20-lost {
		t.Errorf("the table has %d rows, want %d", rows, 60-lost)
	}
}

// lastWords is a catalog whose process ends when it has removed snapshots.
type lastWords struct {
	Catalog
	err error
}

func (l *lastWords) commit(ctx context.Context, table []string, base *state, c change) error {
	err := l.Catalog.commit(ctx, table, base, c)
	if err == nil && len(c.expired) > 0 {
		err = l.err
	}
	return err
}

// TestStranger removes nothing while another table has its metadata in the output.
func TestStranger(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	other := spark{t: t, out: out}
	s := newStepper(t, out, Options{})
	s.step()
	s.step()
	s.close()
	at := metadataDir + "/00009-x.metadata.json"
	other.create(at, []byte(`{"table-uuid":"6c2b4d0e-1111-4222-8333-444455556666"}`))
	for _, change := range []func(*compact.TableOptions){
		func(o *compact.TableOptions) { o.MaxSnapshots = 1 },
		func(o *compact.TableOptions) { o.OrphanAge = time.Hour },
	} {
		if _, err := keep(t.Context(), out, change); !errors.Is(err, errStranger) || !strings.Contains(err.Error(), "00009-x.metadata.json") {
			t.Errorf("%v", err)
		}
	}
	checkRows(t, out, "", s.to, s.to)
	other.must(os.Remove(filepath.Join(out, at)))
	if r, err := keep(t.Context(), out, func(o *compact.TableOptions) { o.MaxSnapshots, o.OrphanAge = 1, time.Hour }); err != nil || r.Snapshots == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	checkRows(t, out, "", s.to, s.to)
}

// TestStrangerInParts waits for metadata that is being written, as a catalog does in a folder while the table is kept.
func TestStrangerInParts(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	other := spark{t: t, out: out}
	s := newStepper(t, out, Options{})
	s.step()
	s.step()
	s.close()
	at := metadataDir + "/00009-x.metadata.json"
	other.create(at, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(partly / 8)
		if err := os.WriteFile(filepath.Join(out, at), []byte(`{"table-uuid":"6c2b4d0e-1111-4222-8333-444455556666"}`), 0o600); err != nil {
			t.Error(err)
		}
	}()
	if _, err := keep(t.Context(), out, func(o *compact.TableOptions) { o.MaxSnapshots = 1 }); !errors.Is(err, errStranger) {
		t.Errorf("%v", err)
	}
	<-done
	other.must(os.WriteFile(filepath.Join(out, at), []byte("{"), 0o600))
	if _, err := keep(t.Context(), out, func(o *compact.TableOptions) { o.MaxSnapshots = 1 }); err == nil || errors.Is(err, errStranger) {
		t.Errorf("metadata that stays as it is: %v", err)
	}
}

// TestDeletedRows leaves files alone whose rows are deleted by files of their own: single ones, and all of a partition. A delete file
// that comes while files are merged stops that.
func TestDeletedRows(t *testing.T) {
	for _, whole := range []bool{false, true} {
		out := filepath.Join(t.TempDir(), "out")
		other := spark{t: t, out: out}
		s := newStepper(t, out, Options{PartitionBy: []string{"kind"}})
		for range 3 {
			s.step()
		}
		files, _ := tableFilesOf(t, out, "")
		about := files[slices.IndexFunc(files, func(f iceberg.DataFile) bool { return f.Partition()[1000] == int32(0) })]
		o := keepOptions(s.p.follower.store)
		deleted := false
		o.Options = &Options{Table: "web.clicks", Connect: func() (Catalog, error) {
			c, err := openSQLite(t.Context(), filepath.Join(out, catalogFile), defaultCatalog, s.p.follower.table)
			return &beforeCommit{Catalog: c, do: func() {
				if !deleted {
					other.deletes(about, whole)
				}
				deleted = true
			}}, err
		}}
		k, err := OpenKeeper(t.Context(), o)
		other.must(err)
		r, err := k.Pass(t.Context())
		other.must(errors.Join(err, k.(*Keeper).table.catalog.Close()))
		in := 0
		for _, f := range files {
			if f.Partition()[1000] == int32(0) {
				in++
			}
		}
		now, _ := tableFilesOf(t, out, "")
		if !slices.ContainsFunc(now, func(f iceberg.DataFile) bool { return f.FilePath() == about.FilePath() }) || r.Files != 3 {
			t.Errorf("whole %v: %+v", whole, r)
		}
		again, err := keep(t.Context(), out, nil)
		if want := map[bool]string{false: fmt.Sprintf("1 %d", in-1), true: fmt.Sprintf("%d 0", in)}[whole]; err != nil || fmt.Sprint(again.Deletes, again.Merged) != want {
			t.Errorf("whole %v: %+v, want %s; %v", whole, again, want, err)
		}
		s.close()
		names := filesBelow(t, out+"/"+dataDir) // one of them has the deletes
		if len(names) != 5 && !whole || len(names) != 4 && whole {
			t.Errorf("whole %v: %v", whole, names)
		}
	}
}

// beforeCommit is a catalog that does something ahead of a commit.
type beforeCommit struct {
	Catalog
	do func()
}

func (b *beforeCommit) commit(ctx context.Context, table []string, base *state, c change) error {
	b.do()
	return b.Catalog.commit(ctx, table, base, c)
}

// deletes adds a file of deleted positions of a data file, or of the partition that it is in.
func (s spark) deletes(of iceberg.DataFile, whole bool) {
	s.t.Helper()
	_, now := tableFilesOf(s.t, s.out, "")
	tab := &tableOf{store: store.NewLocal(s.out, store.System, quiet), base: now.meta.Location}
	spec, err := now.meta.spec(int(of.SpecID()))
	s.must(err)
	b, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentPosDeletes, s.create(dataDir+"/"+uuid.NewString()+"-deletes.parquet", []byte("x")),
		iceberg.ParquetFile, of.Partition(), nil, nil, 1, 1)
	s.must(err)
	if !whole {
		at := map[int][]byte{pathColumn: []byte(of.FilePath())}
		b.LowerBoundValues(at).UpperBoundValues(at)
	}
	schema, err := now.meta.schema()
	s.must(err)
	id, sequence := newSnapshotID(), now.meta.LastSequence+1
	var content bytes.Buffer
	w, err := iceberg.NewManifestWriter(formatVersion, &content, spec, schema, id, iceberg.WithManifestWriterContent(iceberg.ManifestContentDeletes))
	s.must(err)
	s.must(w.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &id, nil, nil, b.Build())))
	s.must(w.Close())
	key := metadataDir + "/" + uuid.NewString() + "-m0.avro"
	m, err := w.ToManifestFile(s.create(key, content.Bytes()), int64(content.Len()))
	s.must(err)
	current := now.meta.snapshot(now.meta.Current)
	manifests, err := tab.manifestsOf(s.t.Context(), current)
	s.must(err)
	var list bytes.Buffer
	s.must(iceberg.WriteManifestList(formatVersion, &list, id, &current.ID, &sequence, 0, append(manifests, m)))
	snap := snapshot{
		ID: id, Parent: &current.ID, Sequence: sequence, Time: time.Now().UnixMilli(), Schema: now.meta.CurrentSchema,
		ManifestList: s.create(fmt.Sprintf("%s/snap-%d-1-%s.avro", metadataDir, id, uuid.NewString()), list.Bytes()),
		Summary:      map[string]string{"operation": "delete"},
	}
	s.replace(now, func(m map[string]any) {
		m["snapshots"] = append(m["snapshots"].([]any), snap)
		m["current-snapshot-id"], m["last-sequence-number"] = id, sequence
		m["refs"] = map[string]any{"main": map[string]any{"snapshot-id": id, "type": "branch"}}
	})
}
