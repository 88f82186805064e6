package compact

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// newRows are the rows of a replacement: two in one file and one in another, in the same partition, and one in a partition that is
// new.
var newRows = map[string][]string{"/out/dt=even r7": {"r7:1", "r7:2", "r7:3"}, "/out/dt=new r7": {"r7:4"}}

// replaceOn has a process on a disk replace partitions, from where another has died.
func replaceOn(sys store.FS) (err error) {
	ctx, s := context.Background(), on(sys)
	r, err := Begin(ctx, ReplaceOptions{Root: s(rowsDir), Open: s.open, Identity: "week", Log: quiet})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := stage(ctx, s, r.Location()); err != nil {
		return err
	}
	_, _, err = r.Commit(ctx)
	return err
}

// stage commits the new rows, as far as they are not there yet.
func stage(ctx context.Context, s stores, dir string) error {
	root, id := s(dir), pipeline.LaneID{Stream: "clicks", Partition: 7}
	if err := root.Prepare(ctx); err != nil {
		return err
	}
	chain := commit.New(commit.Options{Root: root, Place: commit.NewPlaces(root, s.open, quiet).Get, Log: quiet})
	l, err := chain.Open(ctx, id)
	if err != nil {
		return err
	}
	for i, f := range []struct {
		dir       string
		positions []int64
	}{{"dt=even", []int64{1, 2}}, {"dt=even", []int64{3}}, {"dt=new", []int64{4}}} {
		if l.Next() > int64(i) {
			continue
		}
		file, err := writeLines(ctx, root, path.Join(f.dir, commit.FileName(id, int64(i), root.Run(), 1, "txt")), id, f.positions)
		if err != nil {
			return err
		}
		files := []commit.File{commit.NewFile(pipeline.Rows, "", int64(len(f.positions)), file)}
		if err := l.Commit(ctx, pipeline.Span{First: int64(i), Next: int64(i) + 1}, files); err != nil {
			return err
		}
	}
	return root.Close()
}

// replacedRows returns what there is of the rows after the replacement.
func replacedRows(before map[string][]string) map[string][]string {
	after := map[string][]string{}
	for where, rows := range before {
		if !strings.HasPrefix(where, "/out/dt=even ") {
			after[where] = rows
		}
	}
	for where, rows := range newRows {
		after[where] = rows
	}
	return after
}

// allVisible is visible, with the partition that is new.
func allVisible(t testing.TB, d *storetest.Disk) []string {
	t.Helper()
	files := visible(t, d)
	entries, err := on(d.Process())(rowsDir).List(context.Background(), "dt=new", "")
	must(t, err)
	for _, e := range entries {
		files = append(files, path.Join(rowsDir, "dt=new", e.Name))
	}
	return files
}

// allOrNothing checks what has to be true at every moment: the files that count have the old rows or the new ones, and readers of
// the directory miss none of either.
func allOrNothing(t testing.TB, d *storetest.Disk, before, after map[string][]string) error {
	t.Helper()
	got := rowsOf(t, d, snapshotOf(t, d))
	want := before
	if fmt.Sprint(got) != fmt.Sprint(before) {
		want = after
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("the files that count have %v, want %v or %v", got, before, after)
	}
	there := rowsOf(t, d, allVisible(t, d))
	for where, rows := range want {
		for _, row := range rows {
			if !slices.Contains(there[where], row) {
				return fmt.Errorf("%s: readers of the directory miss %s", where, row)
			}
		}
	}
	return nil
}

func replacedAll(t testing.TB, d *storetest.Disk, after map[string][]string) error {
	t.Helper()
	if got := rowsOf(t, d, allVisible(t, d)); fmt.Sprint(got) != fmt.Sprint(after) {
		return fmt.Errorf("the directory has %v, want %v", got, after)
	}
	if r := verified(t, d); !r.OK {
		return fmt.Errorf("%+v", r.Problems)
	}
	if strings.Contains(d.Tree(), replaceDir) {
		return errors.New("something of the replacement is left")
	}
	return nil
}

// Nothing but the partitions that have new rows changes, and the positions of the pipelines stay. A second time gives the same.
func TestReplace(t *testing.T) {
	d, before := newDisk(t, 3)
	for range 2 {
		must(t, replaceOn(d.Process()))
		if err := replacedAll(t, d, replacedRows(before)); err != nil {
			t.Fatalf("%v\n%s", err, d.Tree())
		}
	}
	must(t, deliver(t.Context(), on(d.Process()), lanes[0], 1))
	want := rowsOf(t, d, allVisible(t, d))
	if rows := want["/out/dt=odd r0"]; len(rows) != 4 {
		t.Errorf("the pipeline goes on with %v", rows)
	}
	// Compactions take the new files like all others.
	_, err := compactOn(d.Process())
	must(t, err)
	if err := replacedAll(t, d, want); err != nil {
		t.Fatalf("%v\n%s", err, d.Tree())
	}
}

// An output may begin with a replacement.
func TestReplaceNothing(t *testing.T) {
	d, _ := newDisk(t, 0)
	must(t, replaceOn(d.Process()))
	if err := replacedAll(t, d, newRows); err != nil {
		t.Fatalf("%v\n%s", err, d.Tree())
	}
}

// A replacement ends before each of its calls in turn. At once the files that count are the old or the new ones, also for a
// pipeline that starts then, and the next replacement of the same rows gives what an undisturbed one does.
func TestReplaceInterruptedAtEveryCall(t *testing.T) {
	ways := map[string]func(*storetest.Disk) func(*storetest.Process){
		"kill": func(*storetest.Disk) func(*storetest.Process) { return func(p *storetest.Process) { p.Kill() } },
	}
	for name, keep := range survivors() {
		ways["power failure that leaves "+name] = func(d *storetest.Disk) func(*storetest.Process) {
			return func(*storetest.Process) { d.PowerFailure(keep) }
		}
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			for at := 0; ; at += every(1, 7) {
				d, before := newDisk(t, 1)
				after := replacedRows(before)
				what, reached := replaceBefore(d, at, way(d))
				if !reached {
					t.Logf("before each of %d calls", at)
					return
				}
				fail := func(when string, err error) {
					if err != nil {
						t.Fatalf("before call %d, %v: %s: %v\n%s", at, what, when, err, d.Tree())
					}
				}
				fail("at once", allOrNothing(t, d, before, after))
				if at%2 == 0 {
					fail("a pipeline", deliver(t.Context(), on(d.Process()), lanes[0], 0))
					fail("after a pipeline", allOrNothing(t, d, before, after))
				}
				forgetClaims(t, d)
				fail("the next one", replaceOn(d.Process()))
				fail("in the end", replacedAll(t, d, after))
			}
		})
	}
}

// replaceBefore is before for a replacement.
func replaceBefore(d *storetest.Disk, at int, end func(*storetest.Process)) (what storetest.Call, reached bool) {
	p := d.Process()
	calls := 0
	_ = replaceOn(storetest.Wrap(p, func(c storetest.Call) error {
		if !reached && calls == at {
			what, reached = c, true
			end(p)
		}
		calls++
		if !p.Alive() {
			return storetest.ErrDead
		}
		return nil
	}))
	return what, reached
}

// forgetClaims removes what says that processes before a power failure may be alive on another machine, as the error says.
func forgetClaims(t testing.TB, d *storetest.Disk) {
	t.Helper()
	s := on(d.Process())(rowsDir)
	runs, err := s.Others(context.Background())
	must(t, err)
	for _, run := range runs {
		at := path.Join("_tmp", run)
		entries, err := s.List(context.Background(), at, "")
		must(t, err)
		for _, e := range entries {
			must(t, s.Delete(context.Background(), path.Join(at, e.Name)))
		}
		must(t, s.Delete(context.Background(), at))
	}
}

// Another process finishes what the replacement has begun, and compacts, before each of its calls in turn.
func TestReplaceFinishedByAnother(t *testing.T) {
	for at := 0; ; at += every(1, 7) {
		d, before := newDisk(t, 2)
		after := replacedRows(before)
		calls, reached := 0, false
		err := replaceOn(storetest.Wrap(d.Process(), func(c storetest.Call) error {
			if calls++; calls-1 == at {
				reached = true
				if _, err := compactOn(d.Process()); err != nil {
					t.Errorf("before call %d, %v: %v", at, c, err)
				}
				if err := allOrNothing(t, d, before, after); err != nil {
					t.Fatalf("before call %d, %v: %v\n%s", at, c, err, d.Tree())
				}
			}
			return nil
		}))
		if !reached {
			t.Logf("before each of %d calls", at)
			return
		}
		if err == nil {
			err = replacedAll(t, d, after)
		}
		if err != nil {
			t.Fatalf("before call %d: %v\n%s", at, err, d.Tree())
		}
	}
}

// A process that writes to the output keeps it from being replaced, at the start and in the end.
func TestReplaceBesidePipeline(t *testing.T) {
	d, before := newDisk(t, 1)
	s := on(d.Process())
	other := on(d.Process())(rowsDir)
	must(t, other.Prepare(t.Context()))
	o := ReplaceOptions{Root: s(rowsDir), Open: s.open, Identity: "week", Log: quiet}
	if _, err := Begin(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another process writes to /out") {
		t.Errorf("the start: %v", err)
	}
	must(t, other.Close())
	o.Root = s(rowsDir)
	r, err := Begin(t.Context(), o)
	must(t, err)
	must(t, stage(t.Context(), s, r.Location()))
	must(t, other.Prepare(t.Context()))
	if _, _, err := r.Commit(t.Context()); err == nil || !strings.Contains(err.Error(), "another process writes to /out") {
		t.Errorf("the end: %v", err)
	}
	must(t, errors.Join(r.Close(), other.Close()))
	must(t, sound(t, d, before))
	must(t, replaceOn(d.Process()))
	must(t, replacedAll(t, d, replacedRows(before)))
}

// A new file that is lost after the record leaves all old ones, and takes back the new ones that could be seen.
func TestReplaceLost(t *testing.T) {
	d, before := newDisk(t, 1)
	p := d.Process()
	lost := ""
	err := replaceOn(storetest.Wrap(p, func(c storetest.Call) error {
		if lost == "" && c.Op == "link" && strings.HasSuffix(c.Path, "/"+commit.CompactionsDir+"/00000000000000000001.json") {
			s := on(d.Process())(rowsDir)
			entries, err := s.List(context.Background(), replaceDir, "")
			must(t, err)
			at := path.Join(replaceDir, entries[0].Name, "dt=new")
			entries, err = s.List(context.Background(), at, "")
			must(t, err)
			lost = path.Join(at, entries[0].Name)
			must(t, s.Delete(context.Background(), lost))
		}
		return nil
	}))
	if lost == "" || err == nil || !strings.Contains(err.Error(), "was removed before it could be seen") {
		t.Fatalf("%s: %v", lost, err)
	}
	if got := rowsOf(t, d, allVisible(t, d)); fmt.Sprint(got) != fmt.Sprint(before) {
		t.Errorf("%v, want %v\n%s", got, before, d.Tree())
	}
	if r := verified(t, d); !r.OK {
		t.Errorf("%+v", r.Problems)
	}
	must(t, replaceOn(d.Process()))
	must(t, replacedAll(t, d, replacedRows(before)))
}
