package iceberg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	iceberg "github.com/apache/iceberg-go"

	"github.com/urlmill/urlmill/sinks/compact"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// keepOptions are those of a keeper that merges all that there is.
func keepOptions(root store.Store) compact.TableOptions {
	return compact.TableOptions{
		Root: root, Format: compact.Parquet{Options: parquet.Options{Path: "."}}, TargetBytes: 1 << 20, MinFiles: 2, MaxSnapshots: 100, Log: quiet,
	}
}

// keep makes a pass over the table of an output.
func keep(ctx context.Context, out string, change func(*compact.TableOptions)) (*compact.TableReport, error) {
	o := keepOptions(store.NewLocal(out, store.System, quiet))
	if change != nil {
		change(&o)
	}
	k, err := OpenKeeper(ctx, o)
	if err != nil {
		return nil, err
	}
	r, err := k.Pass(ctx)
	return r, errors.Join(err, k.Close())
}

// checkRows checks that the files of the table are there, that none is in it twice, and that their rows of the column n are those that
// lanes have committed, each up to its position. It returns how many files there are.
func checkRows(t *testing.T, out, catalog string, lanes ...int64) int {
	t.Helper()
	files, _ := tableFilesOf(t, out, catalog)
	want := map[int64]int{}
	for _, to := range lanes {
		for n := range to {
			want[n]++
		}
	}
	seen := map[string]bool{}
	for _, f := range files {
		name := strings.TrimPrefix(strings.TrimPrefix(f.FilePath(), "file:"), "//")
		if seen[name] {
			t.Errorf("the table has %s twice", name)
		}
		seen[name] = true
		rows := int64(0)
		eachN(t, name, func(n int64) { want[n], rows = want[n]-1, rows+1 })
		if rows != f.Count() {
			t.Errorf("%s has %d rows, and the table says %d", name, rows, f.Count())
		}
	}
	for n, missing := range want {
		if missing != 0 {
			t.Errorf("the row %d is there %d times too few", n, missing)
		}
	}
	return len(files)
}

// eachN reads the column n of a file.
func eachN(t *testing.T, name string, each func(int64)) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r, err := parquet.NewReader(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = r.Each(t.Context(), func(rec arrow.Record) error {
		for i, c := range rec.Schema().Fields() {
			if c.Name == "n" {
				for _, n := range rec.Column(i).(*array.Int64).Int64Values() {
					each(n)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// writer commits and registers what two lanes have, a step at a time.
type stepper struct {
	t  *testing.T
	p  *process
	to int64
}

func newStepper(t *testing.T, out string, o Options) *stepper {
	t.Helper()
	o.Every = time.Hour
	p, err := begin(t.Context(), out, o, nil, rowsSchema)
	if err != nil {
		t.Fatal(err)
	}
	return &stepper{t: t, p: p}
}

func (s *stepper) step() {
	s.t.Helper()
	s.to += 10
	err := errors.Join(s.p.write(s.t.Context(), rowsSchema, 0, s.to), s.p.write(s.t.Context(), rowsSchema, 1, s.to), s.p.follower.flush(s.t.Context()))
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stepper) close() {
	s.t.Helper()
	if err := s.p.sink.Close(); err != nil {
		s.t.Fatal(err)
	}
}

// filesBelow returns the files in a folder and below it, relative to it.
func filesBelow(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, name)
			found = append(found, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

// TestKeep merges the files of a partitioned table, expires what was before, and goes on with the pipeline: the table has all rows, in
// a file for each partition, the merged files are sorted as the others were, and the folder has what the table needs and no more.
func TestKeep(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	s := newStepper(t, out, Options{PartitionBy: []string{"kind"}})
	for range 6 {
		s.step()
	}
	before := checkRows(t, out, "", s.to, s.to)
	r, err := keep(t.Context(), out, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := checkRows(t, out, "", s.to, s.to); n != 4 || r.Files != 4 || r.Merged != before || r.Rows != 2*s.to || r.InPartition != before/4 {
		t.Errorf("%d files of %d; %+v", n, before, r)
	}
	_, now := tableFilesOf(t, out, "")
	summary := now.meta.snapshot(now.meta.Current).Summary
	if summary["operation"] != "replace" || summary["total-records"] != fmt.Sprint(2*s.to) || summary["total-data-files"] != "4" || summary["deleted-data-files"] != fmt.Sprint(before) {
		t.Errorf("summary %v", summary)
	}
	if again, err := keep(t.Context(), out, nil); err != nil || again.Merged != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	s.step()
	r, err = keep(t.Context(), out, func(o *compact.TableOptions) { o.MaxSnapshots = 1 })
	if err != nil || r.Snapshots == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	s.step()
	s.close()
	checkRows(t, out, "", s.to, s.to)
	_, now = tableFilesOf(t, out, "")
	if len(now.meta.Snapshots) != 2 {
		t.Errorf("%d snapshots", len(now.meta.Snapshots))
	}
	if v := verifyOutput(t, out); !v.OK || v.Table == nil || v.Table.Rows != 2*s.to || v.Table.Committed != 2*s.to {
		t.Errorf("%+v, %+v", v.Problems, v.Table)
	}
	if left := orphansOf(t, out); len(left) > 0 {
		t.Errorf("orphans: %v", left)
	}
}

// orphansOf returns what a pass takes for orphans, however young.
func orphansOf(t *testing.T, out string) []string {
	t.Helper()
	r, err := keep(t.Context(), out, func(o *compact.TableOptions) {
		o.DryRun, o.OrphanAge, o.Now = true, time.Hour, func() time.Time { return time.Now().Add(2 * time.Hour) }
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Orphans
}

// mortalKeeper makes one pass, as a process that may end at any call.
func mortalKeeper(ctx context.Context, out string, m *mortal, beside func(storetest.Call)) error {
	fsys := storetest.Wrap(store.System, func(c storetest.Call) error {
		if beside != nil {
			beside(c)
		}
		return m.step(false)
	})
	root := store.NewLocal(out, fsys, quiet)
	o := keepOptions(root)
	o.MaxSnapshots, o.OrphanAge = 2, time.Hour
	o.Options = &Options{Table: "web.clicks", Connect: func() (Catalog, error) {
		base, _ := locationOf(root)
		c, err := openSQLite(ctx, filepath.Join(out, catalogFile), defaultCatalog, &tableOf{store: root, base: base})
		if err != nil {
			return nil, err
		}
		return dying{c, m}, nil
	}}
	k, err := OpenKeeper(ctx, o)
	if err != nil {
		return err
	}
	_, err = k.Pass(ctx)
	return errors.Join(err, k.Close())
}

// TestKeepInterrupted ends a keeper before each of its calls to the catalog, after each change there, and before some of its calls to
// the disk, all of them with URLMILL_EXHAUSTIVE=1: the table has all rows at that moment, the pipeline goes on, another keeper
// finishes, and nothing is left that nobody needs.
func TestKeepInterrupted(t *testing.T) {
	made := func() (string, *stepper) {
		out := filepath.Join(t.TempDir(), "out")
		s := newStepper(t, out, Options{PartitionBy: []string{"kind"}})
		for range 3 {
			s.step()
		}
		return out, s
	}
	count := &mortal{}
	out, s := made()
	if err := mortalKeeper(t.Context(), out, count, nil); err != nil {
		t.Fatal(err)
	}
	checkRows(t, out, "", s.to, s.to)
	s.close()
	t.Logf("%d calls, %d of them to the catalog", count.calls, len(count.catalog))
	for at := 1; at <= count.calls; at++ {
		if os.Getenv("URLMILL_EXHAUSTIVE") != "1" && at%61 != 0 && !slices.Contains(count.catalog, at) {
			continue
		}
		out, s := made()
		if err := mortalKeeper(t.Context(), out, &mortal{at: at}, nil); err == nil && at < count.calls-10 {
			t.Fatalf("call %d: the process does not know that it is dead", at)
		}
		checkRows(t, out, "", s.to, s.to)
		s.step()
		checkRows(t, out, "", s.to, s.to)
		if _, err := keep(t.Context(), out, func(o *compact.TableOptions) {
			o.MaxSnapshots, o.OrphanAge, o.Now = 1, time.Hour, func() time.Time { return time.Now().Add(2 * time.Hour) }
		}); err != nil {
			t.Fatalf("call %d: %v", at, err)
		}
		checkRows(t, out, "", s.to, s.to)
		s.step()
		s.close()
		checkRows(t, out, "", s.to, s.to)
		if v := verifyOutput(t, out); !v.OK {
			t.Errorf("%+v", v.Problems)
		}
		for _, name := range slices.Concat(filesBelow(t, out+"/_iceberg/data"), filesBelow(t, out+"/_tmp")) {
			if strings.HasSuffix(name, ".parquet") {
				files, _ := tableFilesOf(t, out, "")
				if !slices.ContainsFunc(files, func(f iceberg.DataFile) bool { return strings.HasSuffix(f.FilePath(), name) }) {
					t.Errorf("%s is left, and nobody needs it", name)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("after a death at call %d", at)
		}
	}
}

// TestKeepBesidePipeline has the pipeline commit and register at some of the calls of a keeper, and another keeper make a pass there:
// nothing is lost, and nothing is twice.
func TestKeepBesidePipeline(t *testing.T) {
	step := 37
	if os.Getenv("URLMILL_EXHAUSTIVE") == "1" {
		step = 1
	}
	for _, other := range []string{"pipeline", "keeper"} {
		for at, calls := 1, 1; at <= calls; at += step {
			out := filepath.Join(t.TempDir(), "out")
			s := newStepper(t, out, Options{PartitionBy: []string{"kind"}})
			for range 3 {
				s.step()
			}
			m, n, between := &mortal{}, 0, false
			err := mortalKeeper(t.Context(), out, m, func(storetest.Call) {
				if n++; n != at || between {
					return
				}
				between = true
				if other == "pipeline" {
					s.step()
				} else if _, err := keep(t.Context(), out, func(o *compact.TableOptions) { o.MaxSnapshots = 1 }); err != nil {
					t.Errorf("the other keeper: %v", err)
				}
				between = false
			})
			if err != nil {
				t.Errorf("call %d: %v", at, err)
			}
			s.step()
			s.close()
			calls = n
			checkRows(t, out, "", s.to, s.to)
			if v := verifyOutput(t, out); !v.OK {
				t.Errorf("%+v", v.Problems)
			}
			if t.Failed() {
				t.Fatalf("with a %s at call %d", other, at)
			}
		}
	}
}
