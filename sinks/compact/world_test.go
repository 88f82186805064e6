package compact

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var (
	quiet   = slog.New(slog.DiscardHandler)
	lanes   = []pipeline.LaneID{{Stream: "clicks", Partition: 0}, {Stream: "clicks", Partition: 3}}
	rowsDir = "/out"
	deadDir = "/dead"
)

// lines is a format of a line for each row, LANE:POSITION. Lines that begin with another letter than those of the first
// file are of another kind.
type lines struct{}

func (lines) Ext() string { return "txt" }

func (lines) Merge(ctx context.Context, files []Input, w io.Writer) (taken int, rows int64, err error) {
	kind := byte(0)
	for _, f := range files {
		content, err := readAll(ctx, f)
		if err != nil {
			return 0, 0, &InputError{f.Path(), err}
		}
		if kind == 0 {
			kind = content[0]
		}
		if content[0] != kind {
			break
		}
		if _, err := w.Write(content); err != nil {
			return 0, 0, err
		}
		taken++
		rows += int64(strings.Count(string(content), "\n"))
	}
	return taken, rows, nil
}

func readAll(ctx context.Context, f Input) ([]byte, error) {
	o, err := f.Open(ctx)
	if err != nil {
		return nil, err
	}
	content := make([]byte, o.Size())
	_, err = o.ReadAt(content, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return content, errors.Join(err, o.Close())
}

// stores is what a process has.
type stores func(dir string) store.Store

func on(sys store.FS) stores {
	return func(dir string) store.Store { return store.NewLocal(dir, sys, quiet) }
}

func (s stores) open(location string, _ *slog.Logger) (store.Store, error) { return s(location), nil }

// deliver has a process commit n times to a lane: five positions and two files with rows each, in directories by the
// parity of the position, and every third time one with a dead letter.
func deliver(ctx context.Context, s stores, id pipeline.LaneID, n int) error {
	root, dead := s(rowsDir), s(deadDir)
	if err := errors.Join(root.Prepare(ctx), dead.Prepare(ctx)); err != nil {
		return err
	}
	places := commit.NewPlaces(root, s.open, quiet)
	place := places.Add(dead)
	if err := places.Claim(ctx); err != nil {
		return err
	}
	chain := commit.New(commit.Options{Root: root, Place: places.Get, Log: quiet})
	l, err := chain.Open(ctx, id)
	if err != nil {
		return err
	}
	seq := uint64(0)
	for i := range n {
		first := max(l.Next(), 100)
		var files []commit.File
		for _, f := range []struct {
			store      store.Store
			place, dir string
			table      pipeline.Table
			positions  []int64
		}{
			{root, "", "dt=even", pipeline.Rows, []int64{first + first%2, first + first%2 + 2}},
			{root, "", "dt=odd", pipeline.Rows, []int64{first + 1 - first%2}},
			{dead, place, "", pipeline.DeadLetters, []int64{first + 4}},
		} {
			if f.table == pipeline.DeadLetters && i%3 != 0 {
				continue
			}
			seq++
			file, err := writeLines(ctx, f.store, path.Join(f.dir, commit.FileName(id, first, root.Run(), seq, "txt")), id, f.positions)
			if err != nil {
				return err
			}
			files = append(files, commit.NewFile(f.table, f.place, int64(len(f.positions)), file))
		}
		if err := l.Commit(ctx, pipeline.Span{First: first, Next: first + 5}, files); err != nil {
			return err
		}
	}
	return errors.Join(root.Close(), dead.Close())
}

func writeLines(ctx context.Context, s store.Store, name string, id pipeline.LaneID, positions []int64) (store.Pending, error) {
	f, err := s.Begin(ctx, name)
	if err != nil {
		return store.Pending{}, err
	}
	for _, p := range positions {
		if _, err := fmt.Fprintf(f, "r%d:%d\n", id.Partition, p); err != nil {
			return store.Pending{}, errors.Join(err, f.Discard())
		}
	}
	return f.Finish()
}

// newDisk returns a disk with an output of some commits in two lanes, and the rows of it by directory.
func newDisk(t testing.TB, commits int) (*storetest.Disk, map[string][]string) {
	t.Helper()
	d := storetest.NewDisk()
	p := d.Process()
	must(t, errors.Join(p.Mkdir(rowsDir), p.Mkdir(deadDir), p.SyncDir("/")))
	for _, id := range lanes {
		must(t, deliver(t.Context(), on(p), id, commits))
	}
	return d, rowsOf(t, d, visible(t, d))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// visible returns the paths of the files that readers of the directories see.
func visible(t testing.TB, d *storetest.Disk) []string {
	t.Helper()
	var found []string
	for _, dir := range []string{rowsDir, rowsDir + "/dt=even", rowsDir + "/dt=odd", deadDir} {
		entries, err := on(d.Process())(dir).List(context.Background(), ".", "")
		must(t, err)
		for _, e := range entries {
			if !e.Dir && !strings.HasPrefix(e.Name, "_") {
				found = append(found, path.Join(dir, e.Name))
			}
		}
	}
	return found
}

// rowsOf returns the rows of files, as they follow each other in each directory and lane by the names of the files.
func rowsOf(t testing.TB, d *storetest.Disk, files []string) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	files = slices.Sorted(slices.Values(files))
	for _, file := range files {
		content, err := d.Process().ReadFile(file)
		must(t, err)
		for s := bufio.NewScanner(strings.NewReader(string(content))); s.Scan(); {
			lane, _, _ := strings.Cut(s.Text(), ":")
			key := path.Dir(file) + " " + lane
			rows[key] = append(rows[key], s.Text())
		}
	}
	return rows
}

// snapshotOf returns the files that count, as full paths.
func snapshotOf(t testing.TB, d *storetest.Disk) []string {
	t.Helper()
	s := on(d.Process())
	root := s(rowsDir)
	snap, err := commit.ReadSnapshot(context.Background(), root, commit.NewPlaces(root, s.open, quiet).Get)
	must(t, err)
	var files []string
	for _, f := range snap.Files {
		files = append(files, path.Join(rowsDir, f.Path()))
	}
	return files
}

func verified(t testing.TB, d *storetest.Disk) *verify.Report {
	t.Helper()
	s := on(d.Process())
	r, err := verify.Run(context.Background(), verify.Options{
		Root: s(rowsDir), Open: s.open, Log: quiet, Counters: map[string]verify.RowCounter{"txt": countLines},
	})
	must(t, err)
	return r
}

func options(s stores) Options {
	return Options{Root: s(rowsDir), Open: s.open, Format: lines{}, TargetBytes: 1 << 20, MinAge: -1, MinFiles: 2, Log: quiet}
}

// compactOn runs a compaction of a process on a disk.
func compactOn(sys store.FS) (*Report, error) { return Run(context.Background(), options(on(sys))) }

// sound checks what has to be true at every moment: those files that count have every row once, and readers of the
// directory miss none.
func sound(t testing.TB, d *storetest.Disk, want map[string][]string) error {
	t.Helper()
	if got := rowsOf(t, d, snapshotOf(t, d)); fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("the files that count have %v, want %v", got, want)
	}
	for where, rows := range rowsOf(t, d, visible(t, d)) {
		for _, row := range want[where] {
			if !slices.Contains(rows, row) {
				return fmt.Errorf("%s: readers of the directory miss %s", where, row)
			}
		}
	}
	return nil
}

// done checks what has to be true in the end: the directory has every row once, in its order, in one file for each
// directory.
func done(t testing.TB, d *storetest.Disk, want map[string][]string) error {
	t.Helper()
	files := visible(t, d)
	if got := rowsOf(t, d, files); fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("the directory has %v, want %v", got, want)
	}
	if len(files) != 3 {
		return fmt.Errorf("%d files are left: %v", len(files), files)
	}
	if r := verified(t, d); !r.OK {
		return fmt.Errorf("%+v", r.Problems)
	}
	return nil
}

// number returns a position of a row.
func number(row string) int {
	_, digits, _ := strings.Cut(row, ":")
	n, _ := strconv.Atoi(digits)
	return n
}
