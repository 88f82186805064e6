package iceberg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	iceberg "github.com/apache/iceberg-go"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// TestRegister checks that what two lanes commit is in the table, with what manifests say of the files.
func TestRegister(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	p, err := begin(t.Context(), out, Options{PartitionBy: []string{"date(ts)", "kind", "host"}}, nil, rowsSchema)
	if err != nil {
		t.Fatal(err)
	}
	for _, lane := range []int32{0, 1} {
		if err := p.write(t.Context(), rowsSchema, lane, 100); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.sink.Close(); err != nil {
		t.Fatal(err)
	}
	now := checkTable(t, out, "", 200)
	if got := now.meta.Properties[positionsKey]; got != `{"clicks/0":100,"clicks/1":100}` {
		t.Errorf("positions %s", got)
	}
	if s := now.meta.snapshot(now.meta.Current); s.Summary[positionsKey] != `{"clicks/0":100,"clicks/1":100}` {
		t.Errorf("summary %v", s.Summary)
	}
	files, _ := tableFilesOf(t, out, "")
	for _, f := range files {
		checkFile(t, f)
	}
}

// checkFile compares a file's partition with the directory that it is in, and looks at its bounds.
func checkFile(t *testing.T, f iceberg.DataFile) {
	t.Helper()
	var day, kind string
	for part := range strings.SplitSeq(f.FilePath(), "/") {
		if v, ok := strings.CutPrefix(part, "dt="); ok {
			day = v
		}
		if v, ok := strings.CutPrefix(part, "kind="); ok {
			kind = v
		}
	}
	gotDay, gotKind := "__HIVE_DEFAULT_PARTITION__", "__HIVE_DEFAULT_PARTITION__"
	if d, ok := f.Partition()[1000].(iceberg.Date); ok {
		gotDay = time.Unix(int64(d)*24*60*60, 0).UTC().Format(time.DateOnly)
	}
	if k, ok := f.Partition()[1001].(int32); ok {
		gotKind = fmt.Sprint(k)
	}
	if gotDay != day || gotKind != kind {
		t.Errorf("%s has the partition %v", f.FilePath(), f.Partition())
	}
	if f.ValueCounts()[1] != f.Count() || f.NullValueCounts()[1] != 0 || f.ColumnSizes()[1] == 0 {
		t.Errorf("%s: counts %v, nulls %v", f.FilePath(), f.ValueCounts(), f.NullValueCounts())
	}
	lo, hi := f.LowerBoundValues()[2], f.UpperBoundValues()[2]
	if f.NullValueCounts()[2] == f.Count() {
		if lo != nil || hi != nil {
			t.Errorf("%s: bounds of nulls", f.FilePath())
		}
	} else if string(lo) != "www.example-with" || string(hi) != "www.example-witi" {
		t.Errorf("%s: bounds %q and %q", f.FilePath(), lo, hi)
	}
}

var errDead = errors.New("the process is dead")

// mortal ends a process at one of its calls: all later ones fail.
type mortal struct {
	mu      sync.Mutex
	at      int // the call that is not made any more
	calls   int
	catalog []int // which of them were to the catalog
}

func (m *mortal) step(catalog bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if catalog {
		m.catalog = append(m.catalog, m.calls)
	}
	if m.at > 0 && m.calls >= m.at {
		return errDead
	}
	return nil
}

// dying is a catalog of a process that may end before a call, or when it has been made.
type dying struct {
	Catalog
	m *mortal
}

func (d dying) load(ctx context.Context, table []string) (*state, error) {
	if err := d.m.step(true); err != nil {
		return nil, err
	}
	return d.Catalog.load(ctx, table)
}

func (d dying) create(ctx context.Context, table []string, n creation) error {
	if err := d.m.step(true); err != nil {
		return err
	}
	return errors.Join(d.Catalog.create(ctx, table, n), d.m.step(true))
}

func (d dying) commit(ctx context.Context, table []string, base *state, c change) error {
	if err := d.m.step(true); err != nil {
		return err
	}
	if err := d.Catalog.commit(ctx, table, base, c); err != nil {
		return err
	}
	return d.m.step(true)
}

// live does what a process does in its life; it commits, adds to the table, commits more, and adds that when it ends.
func live(ctx context.Context, out string, m *mortal) error {
	fsys := storetest.Wrap(store.System, func(storetest.Call) error { return m.step(false) })
	o := Options{Every: time.Hour, Connect: func() (Catalog, error) {
		s := store.NewLocal(out, fsys, quiet)
		base, _ := locationOf(s)
		t := &tableOf{store: s, base: base}
		if err := s.Prepare(ctx); err != nil {
			return nil, err
		}
		c, err := openSQLite(ctx, filepath.Join(filepath.Dir(out), "catalog.db"), defaultCatalog, t)
		if err != nil {
			return nil, err
		}
		return dying{closing{c, s}, m}, nil
	}}
	p, err := begin(ctx, out, o, fsys, rowsSchema)
	if err != nil {
		return err
	}
	for n, to := range []int64{10, 20, 30} {
		err = errors.Join(err, p.write(ctx, rowsSchema, 0, to), p.write(ctx, rowsSchema, 1, 2*to))
		if n == 0 {
			err = errors.Join(err, p.follower.flush(ctx))
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, p.sink.Close())
}

// closing is a catalog that closes its store as well.
type closing struct {
	Catalog
	s store.Store
}

func (c closing) Close() error { return errors.Join(c.Catalog.Close(), c.s.Close()) }

// TestCrashes ends a process before each of its calls to the catalog, and after each change there, and before some of its
// calls to the disk, all of them with URLMILL_EXHAUSTIVE=1; and has others go on.
func TestCrashes(t *testing.T) {
	count := &mortal{}
	whole := filepath.Join(t.TempDir(), "out")
	if err := live(t.Context(), whole, count); err != nil {
		t.Fatal(err)
	}
	checkTable(t, whole, filepath.Join(filepath.Dir(whole), "catalog.db"), 90)
	t.Logf("%d calls, %d of them to the catalog", count.calls, len(count.catalog))
	for at := 1; at <= count.calls; at++ {
		if os.Getenv("URLMILL_EXHAUSTIVE") != "1" && at%17 != 0 && !slices.Contains(count.catalog, at) {
			continue
		}
		out := filepath.Join(t.TempDir(), "out")
		// At the very end, when locks are let go of, it does not matter any more.
		if err := live(t.Context(), out, &mortal{at: at}); err == nil && at < count.calls-10 {
			t.Fatalf("call %d: the process does not know that it is dead", at)
		}
		if err := live(t.Context(), out, &mortal{}); err != nil {
			t.Fatalf("call %d: %v", at, err)
		}
		checkTable(t, out, filepath.Join(filepath.Dir(out), "catalog.db"), 90)
		if t.Failed() {
			t.Fatalf("after a death at call %d", at)
		}
	}
}

// TestTogether has several processes commit their lanes and add to the table at once.
func TestTogether(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	var wg sync.WaitGroup
	for lane := range int32(4) {
		wg.Go(func() {
			p, err := begin(t.Context(), out, Options{Every: time.Second}, nil, rowsSchema)
			if err != nil {
				t.Error(err)
				return
			}
			for to := int64(10); to <= 50; to += 10 {
				if err := errors.Join(p.write(t.Context(), rowsSchema, lane, to), p.follower.flush(t.Context())); err != nil {
					t.Error(err)
				}
			}
			if err := p.sink.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	checkTable(t, out, "", 200)
}

// TestMerge checks that many small manifests become one, and that nothing is lost by it.
func TestMerge(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	p, err := begin(t.Context(), out, Options{PartitionBy: []string{"kind"}}, nil, rowsSchema)
	if err != nil {
		t.Fatal(err)
	}
	const commits = mergeAt + 3
	for n := range int64(commits) {
		if err := errors.Join(p.write(t.Context(), rowsSchema, 0, n+1), p.follower.flush(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.sink.Close(); err != nil {
		t.Fatal(err)
	}
	now := checkTable(t, out, "", commits)
	old, err := filepath.Glob(filepath.Join(out, metadataDir, "*.metadata.json"))
	if len(now.meta.Snapshots) != commits || len(old) != maxLog+1 || err != nil {
		t.Errorf("%d snapshots, %d files of metadata, %v", len(now.meta.Snapshots), len(old), err)
	}
	s := store.NewLocal(out, store.System, quiet)
	base, _ := locationOf(s)
	manifests, err := (&tableOf{store: s, base: base}).manifestsOf(t.Context(), now.meta.snapshot(now.meta.Current))
	if err != nil || len(manifests) > 4 {
		t.Errorf("%d manifests, %v", len(manifests), err)
	}
}

// TestColumns adds columns to a table, and refuses what does not fit.
func TestColumns(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	narrow := arrow.NewSchema(rowsSchema.Fields()[:1], nil)
	run := func(s *arrow.Schema, to int64) error {
		p, err := begin(t.Context(), out, Options{}, nil, s)
		if err != nil {
			return err
		}
		return errors.Join(p.write(t.Context(), s, 0, to), p.sink.Close())
	}
	if err := errors.Join(run(narrow, 10), run(rowsSchema, 20), run(narrow, 30)); err != nil {
		t.Fatal(err)
	}
	now := checkTable(t, out, "", 30)
	s, err := now.meta.schema()
	if err != nil || s.NumFields() != rowsSchema.NumFields() || now.meta.LastColumn != s.HighestFieldID() {
		t.Errorf("%v, %v", s, err)
	}
	if !strings.Contains(now.meta.Properties[mappingKey], "url_key") {
		t.Errorf("the name mapping is %s", now.meta.Properties[mappingKey])
	}
	other := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.BinaryTypes.String}}, nil)
	if err := run(other, 40); err == nil || !strings.Contains(err.Error(), `column "n" is int64 in the files`) {
		t.Errorf("another type than that of the files: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(out, commit.SchemasDir)); err != nil {
		t.Fatal(err) // as in a folder of an older version
	}
	if err := run(other, 40); err == nil || !strings.Contains(err.Error(), "its column n is of type long, and the rows have string there") {
		t.Errorf("another type: %v", err)
	}
	second := filepath.Join(t.TempDir(), "second")
	_, err = begin(t.Context(), second, Options{CatalogFile: filepath.Join(out, catalogFile)}, nil, narrow)
	if err == nil || !strings.Contains(err.Error(), "where all files of the table have to be") {
		t.Errorf("another folder: %v", err)
	}
}

// TestProperty removes the positions from the table's properties: those of the snapshots are enough.
func TestProperty(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	run := func(lane int32, to int64) {
		t.Helper()
		p, err := begin(t.Context(), out, Options{}, nil, rowsSchema)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(p.write(t.Context(), rowsSchema, lane, to), p.sink.Close()); err != nil {
			t.Fatal(err)
		}
	}
	run(0, 10)
	run(1, 10)
	run(0, 20)
	now := checkTable(t, out, "", 30)
	delete(now.meta.Properties, positionsKey)
	held, err := (&tableOf{base: now.meta.Location}).positions(now.meta)
	if err != nil || fmt.Sprint(held) != "map[clicks/0:20 clicks/1:10]" {
		t.Errorf("%v, %v", held, err)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Table: "clicks"}, "table: \"clicks\" has no namespace"},
		{Options{Table: "web.a b"}, "table: \"a b\" is not a name"},
		{Options{Table: "web.clicks", Every: time.Millisecond}, "every: 1ms is too short"},
		{Options{Table: "web.clicks", CatalogFile: "x", REST: &REST{URI: "http://x"}}, "catalog_file: cannot be given together"},
		{Options{Table: "web.clicks", REST: &REST{URI: "catalog"}}, "rest.uri: \"catalog\" is not the address"},
		{Options{Table: "web.clicks", REST: &REST{URI: "https://x", Token: "a", Credential: "b"}}, "rest.credential: cannot be given together"},
	} {
		if err := c.o.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
	}
	if err := (Options{Table: "a.b.clicks"}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestRaised(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abd"}, {"ab\U0010FFFFd", 6, "ac"}, {"a\uD7FFx", 4, "a\uE000"}, {"\U0010FFFFd", 4, ""}, {"\xffabc", 2, ""}} {
		if got := string(raised([]byte(c.in), c.n)); got != c.want {
			t.Errorf("%q, %d: %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
