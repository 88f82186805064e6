package filesink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/budget"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/internal/partition"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

var sites = arrow.NewSchema([]arrow.Field{
	{Name: "n", Type: arrow.PrimitiveTypes.Int64},
	{Name: "site", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

// visits makes rows n of the given numbers, each of the site that belongs to its number.
func visits(mem memory.Allocator, kinds int64, numbers ...int64) arrow.Record {
	b := array.NewRecordBuilder(mem, sites)
	defer b.Release()
	for _, n := range numbers {
		b.Field(0).(*array.Int64Builder).Append(n)
		if n%kinds == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("s/%d", n%kinds))
		}
	}
	return b.NewRecord()
}

// siteOf is the directory of a number.
func siteOf(n, kinds int64) string {
	if n%kinds == 0 {
		return "site=__HIVE_DEFAULT_PARTITION__"
	}
	return fmt.Sprintf("site=s%%2F%d", n%kinds)
}

// partitioned returns options of a sink with a directory for each site.
func partitioned(dir string, format *text, sys store.FS) Options {
	return Options{
		Path: dir, Format: format, Log: slog.New(slog.DiscardHandler),
		Files: Files{
			PartitionBy: []string{"site"},
			Stores:      func(path string, log *slog.Logger) (store.Store, error) { return store.NewLocal(path, sys, log), nil },
		},
	}
}

// delivered returns the numbers in the visible files, sorted, and checks their directories.
func delivered(t *testing.T, dir string, kinds int64) []int64 {
	t.Helper()
	var numbers []int64
	eachVisible(t, dir, func(in string, lines []string) {
		for _, line := range lines[:len(lines)-1] { // the last one is the provenance
			n, err := strconv.ParseInt(line, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if at := filepath.Base(in); at != siteOf(n, kinds) {
				t.Errorf("%d is in %s", n, at)
			}
			numbers = append(numbers, n)
		}
	})
	slices.Sort(numbers)
	return numbers
}

func upTo(n int64) []int64 {
	var all []int64
	for i := range n {
		all = append(all, i)
	}
	return all
}

// verified checks the records of an output against its files.
func verified(t *testing.T, dir string) {
	t.Helper()
	st, err := store.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	report, err := verify.Run(t.Context(), verify.Options{
		Root: st, Open: store.Open, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("verify: %v, %+v", err, report)
	}
}

// deliver reads positions from where the sink says up to last, in steps, with a commit every few.
func deliver(ctx context.Context, s *Sink, id pipeline.LaneID, last, step, commitEvery, kinds int64) (err error) {
	w, next, err := s.Open(ctx, id)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Abandon())
		}
	}()
	for at, i := max(next, 0), int64(1); at < last; i++ {
		to := min(at+step, last)
		r := visits(memory.DefaultAllocator, kinds, upTo(to)[at:]...)
		if err := w.Write(ctx, pipeline.Rows, r, pipeline.Span{First: at, Next: to}); err != nil {
			return err
		}
		if at = to; i%commitEvery == 0 || at == last {
			if _, err := w.Commit(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestPartitions(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	dir := filepath.Join(t.TempDir(), "out")
	format := &text{}
	s := New(partitioned(dir, format, store.System))
	if err := s.Start(t.Context(), pipeline.Schemas{sites}); err != nil {
		t.Fatal(err)
	}
	w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
	if err != nil {
		t.Fatal(err)
	}
	for _, span := range []pipeline.Span{{First: 0, Next: 6}, {First: 6, Next: 8}} {
		r := visits(mem, 3, upTo(span.Next)[span.First:]...)
		if err := w.Write(t.Context(), pipeline.Rows, r, span); err != nil {
			t.Fatal(err)
		}
		r.Release()
	}
	if got := w.Size().Rows; got != 8 {
		t.Errorf("%d rows", got)
	}
	if _, err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := delivered(t, dir, 3); !slices.Equal(got, upTo(8)) {
		t.Errorf("rows %v", got)
	}
	if files := pipeline.CountsOf(nil, s).Files.Files; files != 3 || format.open != 0 || s.open.Load() != 0 {
		t.Errorf("%d files; %d encoders and %d files are open", files, format.open, s.open.Load())
	}
	records, err := filepath.Glob(filepath.Join(dir, "_commits/clicks/0/0*.json"))
	if err != nil || len(records) != 1 {
		t.Errorf("records %q, %v", records, err)
	}
	verified(t, dir)
}

// However little memory there is, all rows arrive once, and the files hold no more than that.
func TestPartitionsWithinMemory(t *testing.T) {
	for _, limit := range []int64{1, 200 << 10, 1 << 40} {
		dir := filepath.Join(t.TempDir(), "out")
		o := partitioned(dir, &text{}, unsynced{store.System})
		o.Memory, o.MaxOpen = budget.New(limit), 30
		s := New(o)
		if err := s.Start(t.Context(), pipeline.Schemas{sites}); err != nil {
			t.Fatal(err)
		}
		const lanes, last, kinds = 3, 200, 50
		var all sync.WaitGroup
		for p := range int32(lanes) {
			all.Go(func() {
				if err := deliver(t.Context(), s, pipeline.LaneID{Stream: "clicks", Partition: p}, last, 20, 20, kinds); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		got := delivered(t, dir, kinds)
		if len(got) != lanes*last || len(slices.Compact(got)) != last {
			t.Errorf("%d rows, %d of them different", len(got), len(slices.Compact(got)))
		}
		const step = 20 * (8 + 4 + 4 + fileOverhead) // a write opens a file for each of its rows at most
		if peak := o.Memory.Peak(); limit > 1 && peak > limit+lanes*step || o.Memory.Used() != 0 {
			t.Errorf("%d were held, the limit is %d; %d are held still", peak, limit, o.Memory.Used())
		}
		verified(t, dir)
	}
}

// unsynced is the system without waiting for the disk: here it is about the order of calls, not about power failures.
type unsynced struct{ store.FS }

func (unsynced) SyncDir(string) error { return nil }

func (u unsynced) Create(path string) (store.Handle, error) {
	h, err := u.FS.Create(path)
	return unsyncedHandle{h}, err
}

type unsyncedHandle struct{ store.Handle }

func (unsyncedHandle) Sync() error { return nil }

// Whichever call to the file system fails, another run delivers what is missing, and nothing twice.
func TestPartitionsFaults(t *testing.T) {
	const last, kinds = 32, 4
	id := pipeline.LaneID{Stream: "clicks"}
	run := func(dir string, sys store.FS) error {
		format := &text{}
		o := partitioned(dir, format, sys)
		o.Memory, o.FileBytes = budget.New(3*fileOverhead), 40 // files end early, for both reasons
		s := New(o)
		err := s.Start(t.Context(), pipeline.Schemas{sites})
		if err == nil {
			err = deliver(t.Context(), s, id, last, 8, 2, kinds)
			err = errors.Join(err, s.Close())
		}
		if format.open != 0 || s.open.Load() != 0 || o.Memory.Used() != 0 {
			t.Errorf("%d encoders and %d files are open, %d bytes are held", format.open, s.open.Load(), o.Memory.Used())
		}
		return err
	}
	calls, done := 0, false
	for n := 1; !done; n++ {
		dir := filepath.Join(t.TempDir(), "out")
		calls = 0
		err := run(dir, storetest.Wrap(unsynced{store.System}, func(c storetest.Call) error {
			if calls++; calls == n {
				return syscall.EIO
			}
			return nil
		}))
		done = calls < n
		if done && err != nil {
			t.Fatal(err)
		}
		if err := run(dir, unsynced{store.System}); err != nil {
			t.Fatalf("after a fault at call %d: %v", n, err)
		}
		if got := delivered(t, dir, kinds); !slices.Equal(got, upTo(last)) {
			t.Fatalf("after a fault at call %d: %v", n, got)
		}
		verified(t, dir)
	}
	if calls < 100 {
		t.Errorf("only %d calls were made", calls)
	}
}

func TestPartitionRefusals(t *testing.T) {
	o := partitioned("x", &text{}, store.System)
	o.PartitionBy = []string{"day(n)"}
	if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), "partition_by: ") {
		t.Errorf("got %v", err)
	}
	o.PartitionBy = []string{"nothing"}
	s := New(o)
	if err := s.Start(t.Context(), pipeline.Schemas{sites}); err == nil || !strings.Contains(err.Error(), "partition_by: there is no column") {
		t.Errorf("got %v", err)
	}
	o.Path, o.Stream, o.PartitionBy, o.Delivery = "", &memStream{}, []string{"site"}, commit.AtLeastOnce
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "has no directories") {
		t.Errorf("got %v", err)
	}
}

// Files in the directories of partitions are noticed as well when a folder has no commit records.
func TestPartitionsAreFound(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "dt=1/h=2"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dt=1/h=2/a.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := New(partitioned(dir, &text{}, store.System))
	if err := s.Start(t.Context(), pipeline.Schemas{sites}); err == nil || !strings.Contains(err.Error(), "dt=1/h=2/a.txt") {
		t.Errorf("got %v", err)
	}
}

// foldingStore is on a file system that takes upper for lower case.
type foldingStore struct{ store.Store }

func (s foldingStore) Open(ctx context.Context, key string) (store.Object, error) {
	return s.Store.Open(ctx, strings.ToLower(key))
}

// TestPlacesThatFold: where names that differ in case are the same, values that do have directories of their own.
func TestPlacesThatFold(t *testing.T) {
	for _, fold := range []bool{false, true} {
		opts := partitioned(t.TempDir(), &text{}, store.System)
		if open := opts.Stores; fold {
			opts.Stores = func(path string, log *slog.Logger) (store.Store, error) {
				s, err := open(path, log)
				return foldingStore{s}, err
			}
		}
		s := New(opts)
		if err := s.Start(t.Context(), pipeline.Schemas{pipeline.Rows: sites}); err != nil {
			t.Fatal(err)
		}
		b := array.NewRecordBuilder(memory.DefaultAllocator, sites)
		for _, site := range []string{"A", "a"} {
			b.Field(0).(*array.Int64Builder).Append(1)
			b.Field(1).(*array.StringBuilder).Append(site)
		}
		var dirs []string
		for _, part := range s.splitters.Get().(*partition.Splitter).Split(b.NewRecord()) {
			dirs = append(dirs, part.Dir)
		}
		if want := map[bool][]string{false: {"site=A", "site=a"}, true: {"site=%41", "site=a"}}[fold]; !slices.Equal(dirs, want) {
			t.Errorf("fold %v: %v, want %v", fold, dirs, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNoRoomForNames: a prefix on S3 that leaves too little for the directories is refused, before anything is opened.
func TestNoRoomForNames(t *testing.T) {
	for n, want := range map[int]bool{500: true, 760: false} {
		opts := partitioned("s3://bucket/"+strings.Repeat("a", n), &text{}, store.System)
		opened := false
		opts.Stores = func(string, *slog.Logger) (store.Store, error) { opened = true; return nil, errors.New("opened") }
		err := New(opts).Start(t.Context(), pipeline.Schemas{pipeline.Rows: sites})
		if opened != want || !want && !strings.Contains(err.Error(), "partition_by: there is no room for the values of site in the names of the files") {
			t.Errorf("a prefix of %d bytes: %v", n, err)
		}
	}
}
