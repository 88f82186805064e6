package compact

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

func TestUndisturbed(t *testing.T) {
	d, want := newDisk(t, 7)
	for where, rows := range want {
		if !slices.IsSortedFunc(rows, func(a, b string) int { return number(a) - number(b) }) {
			t.Fatalf("%s: the test itself has %v", where, rows)
		}
	}
	before := len(visible(t, d))
	r, err := compactOn(d.Process())
	must(t, err)
	if err := done(t, d, want); err != nil {
		t.Fatalf("%v\n%s", err, d.Tree())
	}
	if r.Files != 3 || r.Merged != before || r.Planned != before || r.Compactions != 1 || r.Rows != 2*(7*3+3) || r.Bytes != r.MergedBytes {
		t.Errorf("%+v of %d files", r, before)
	}
	// Again, there is nothing to do, and nothing is left behind.
	tree := d.Tree()
	r, err = compactOn(d.Process())
	must(t, err)
	if r.Planned != 0 || r.Compactions != 0 || d.Tree() != tree || strings.Contains(tree, "_tmp") {
		t.Errorf("%+v\n%s", r, d.Tree())
	}
	// What comes after it is added to what is there.
	must(t, deliver(t.Context(), on(d.Process()), lanes[0], 20))
	want = rowsOf(t, d, snapshotOf(t, d))
	_, err = compactOn(d.Process())
	must(t, err)
	if err := done(t, d, want); err != nil {
		t.Fatalf("%v\n%s", err, d.Tree())
	}
	report := verified(t, d)
	if c := report.Compacted; c == nil || c.Records != 2 || c.Files != 3 || c.Replaced != 2*7*2+2*3+20*2+7+3 {
		t.Errorf("%+v", c)
	}
}

func TestDryRun(t *testing.T) {
	d, want := newDisk(t, 7)
	tree := d.Tree()
	o := options(on(storetest.Wrap(d.Process(), func(c storetest.Call) error {
		if c.Changes() {
			return fmt.Errorf("%v in a dry run", c)
		}
		return nil
	})))
	o.DryRun = true
	r, err := Run(t.Context(), o)
	must(t, err)
	if r.Planned != len(visible(t, d)) || r.PlannedBytes == 0 || d.Tree() != tree {
		t.Errorf("%+v", r)
	}
	must(t, sound(t, d, want))
}

// survivors are power failures: what survives them of what was not synced.
func survivors() map[string]func(storetest.Change) bool {
	n := 0
	return map[string]func(storetest.Change) bool{
		"nothing":    func(storetest.Change) bool { return false },
		"everything": func(storetest.Change) bool { return true },
		"removals":   func(c storetest.Change) bool { return c == storetest.NameTaken },
		"names":      func(c storetest.Change) bool { return c != storetest.Content },
		"half":       func(storetest.Change) bool { n++; return n%2 == 0 },
	}
}

// before runs a compaction that ends before its call number at, in the way that end does it; false if it does not make so
// many.
func before(d *storetest.Disk, at int, end func(*storetest.Process)) (what storetest.Call, reached bool) {
	p := d.Process()
	calls := 0
	_, _ = compactOn(storetest.Wrap(p, func(c storetest.Call) error {
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

// A compaction ends before each of its calls in turn. At once the files that count are right, and the next one, or the next
// start of a pipeline, finishes it.
func TestInterruptedAtEveryCall(t *testing.T) {
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
				d, want := newDisk(t, 3)
				what, reached := before(d, at, way(d))
				if !reached {
					t.Logf("before each of %d calls", at)
					return
				}
				if err := sound(t, d, want); err != nil {
					t.Fatalf("before call %d, %v: %v\n%s", at, what, err, d.Tree())
				}
				if _, err := compactOn(d.Process()); err != nil {
					t.Fatalf("before call %d, %v: the next one: %v\n%s", at, what, err, d.Tree())
				}
				if err := done(t, d, want); err != nil {
					t.Fatalf("before call %d, %v: %v\n%s", at, what, err, d.Tree())
				}
				// After a power failure nobody is known to be dead for a day.
				if name == "kill" && strings.Contains(d.Tree(), ".tmp") {
					t.Fatalf("before call %d, %v: files are left\n%s", at, what, d.Tree())
				}
			}
		})
	}
}

// What a dead compaction has begun is ended by the start of a pipeline as well, and no file of it is lost when unfinished
// files are removed.
func TestPipelineFinishes(t *testing.T) {
	for at := 0; ; at += every(1, 7) {
		d, want := newDisk(t, 3)
		what, reached := before(d, at, func(p *storetest.Process) { p.Kill() })
		if !reached {
			return
		}
		s := on(d.Process())
		root := s(rowsDir)
		must(t, root.Prepare(t.Context()))
		places := commit.NewPlaces(root, s.open, quiet)
		chain := commit.New(commit.Options{Root: root, Place: places.Get, Log: quiet})
		if _, err := chain.FinishCompaction(t.Context()); err != nil {
			t.Fatalf("before call %d, %v: %v", at, what, err)
		}
		must(t, chain.Sweep(t.Context(), root))
		must(t, root.Close())
		if got := rowsOf(t, d, visible(t, d)); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("before call %d, %v: the directory has %v, want %v\n%s", at, what, got, want, d.Tree())
		}
		if r := verified(t, d); !r.OK {
			t.Fatalf("before call %d, %v: %+v\n%s", at, what, r.Problems, d.Tree())
		}
	}
}

// every returns every how many calls the tests stop. It is 1, which takes minutes for two processes, if the environment asks for
// it.
func every(usual, short int) int {
	switch {
	case os.Getenv("URLMILL_EXHAUSTIVE") != "":
		return 1
	case testing.Short():
		return short
	}
	return usual
}

// Two compactions run beside each other: before each call of one, the other one runs from its beginning to its end, or up
// to some call of it, where it dies.
func TestTwoCompactions(t *testing.T) {
	outrun := 0
	for at := 0; ; at += every(3, 17) {
		for dies := -1; dies < 240; dies += every(23, 61) {
			d, want := newDisk(t, 3)
			first := d.Process()
			calls, reached := 0, false
			_, err := compactOn(storetest.Wrap(first, func(storetest.Call) error {
				calls++
				if calls-1 != at {
					return nil
				}
				reached = true
				if dies < 0 {
					_, err := compactOn(d.Process())
					return err
				}
				before(d, dies, func(p *storetest.Process) { p.Kill() })
				return sound(t, d, want)
			}))
			if errors.Is(err, commit.ErrOutrun) {
				outrun++
				err = nil
			}
			if err != nil {
				t.Fatalf("at call %d, with another that dies at %d: %v\n%s", at, dies, err, d.Tree())
			}
			if !reached {
				t.Logf("%d calls", at)
				return
			}
			if _, err := compactOn(d.Process()); err != nil {
				t.Fatal(err)
			}
			if err := done(t, d, want); err != nil {
				t.Fatalf("at call %d, with another that dies at %d: %v\n%s", at, dies, err, d.Tree())
			}
		}
	}
}

// A pipeline starts and commits before each call of a compaction.
func TestBesidePipeline(t *testing.T) {
	for at := 0; ; at += every(1, 7) {
		d, _ := newDisk(t, 3)
		calls, reached := 0, false
		_, err := compactOn(storetest.Wrap(d.Process(), func(storetest.Call) error {
			calls++
			if calls-1 != at {
				return nil
			}
			reached = true
			return deliver(context.Background(), on(d.Process()), lanes[1], 2)
		}))
		if err != nil {
			t.Fatalf("at call %d: %v\n%s", at, err, d.Tree())
		}
		if !reached {
			t.Logf("%d calls", at)
			return
		}
		_, want := newDisk(t, 3)
		got := rowsOf(t, d, snapshotOf(t, d))
		for where, rows := range want {
			if !slices.Equal(got[where][:len(rows)], rows) {
				t.Fatalf("at call %d: %s has %v, want %v\n%s", at, where, got[where], rows, d.Tree())
			}
		}
		if n := len(got["/out/dt=even r3"]); n != 2*(3+2) {
			t.Fatalf("at call %d: %d rows", at, n)
		}
		if r := verified(t, d); !r.OK {
			t.Fatalf("at call %d: %+v\n%s", at, r.Problems, d.Tree())
		}
	}
}

// TestRegistered leaves the files alone that a table names.
func TestRegistered(t *testing.T) {
	d, _ := newDisk(t, 7)
	root := on(d.Process())(rowsDir)
	must(t, root.Prepare(t.Context()))
	must(t, root.Create(t.Context(), commit.RegisteredKey, nil))
	must(t, root.Close())
	tree := d.Tree()
	if _, err := compactOn(d.Process()); err == nil || !strings.Contains(err.Error(), "an Iceberg table names the files of this output") || d.Tree() != tree {
		t.Errorf("%v\n%s", err, d.Tree())
	}
}

// A compaction has written its record and not made it durable when another process does what it says; then the power fails.
// What that has removed must be in a file by a record that survives.
func TestRecordIsDurableFirst(t *testing.T) {
	for name, keep := range survivors() {
		t.Run(name, func(t *testing.T) {
			d, want := newDisk(t, 3)
			created, failed := false, false
			first := d.Process()
			_, _ = compactOn(storetest.Wrap(first, func(c storetest.Call) error {
				switch {
				case c.Op == "link" && strings.HasSuffix(c.Path, "/"+commit.CompactionsDir+"/00000000000000000001.json"):
					created = true
				case created && !failed:
					failed = true
					second := d.Process()
					_, _ = compactOn(storetest.Wrap(second, func(c storetest.Call) error {
						if strings.HasSuffix(c.Path, ".done") {
							d.PowerFailure(keep)
						}
						if !second.Alive() {
							return storetest.ErrDead
						}
						return nil
					}))
				}
				if !first.Alive() {
					return storetest.ErrDead
				}
				return nil
			}))
			if !failed || first.Alive() {
				t.Fatal("they make other calls than this test knows")
			}
			if err := sound(t, d, want); err != nil {
				t.Fatalf("%v\n%s", err, d.Tree())
			}
			if _, err := compactOn(d.Process()); err != nil {
				t.Fatalf("%v\n%s", err, d.Tree())
			}
			if err := done(t, d, want); err != nil {
				t.Fatalf("%v\n%s", err, d.Tree())
			}
		})
	}
}
