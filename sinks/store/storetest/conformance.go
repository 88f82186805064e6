package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlmill/urlmill/sinks/store"
)

// Conformance tests what every store has to do. empty returns a function that makes stores, each for another process,
// of one place that is empty at first.
func Conformance(t *testing.T, empty func(t *testing.T) (process func() store.Store)) {
	for name, test := range map[string]func(*testing.T, func() store.Store){
		"Objects": testObjects, "OneOfManyCreates": testOneOfManyCreates, "Publish": testPublish, "PublishByAnother": testPublishByAnother,
		"TwoPublishAtOnce": testTwoPublishAtOnce, "KeysStayInside": testKeysStayInside, "Prepare": testPrepare, "FileIsFinishedOnce": testFileIsFinishedOnce,
		"SweepShows": testSweepShows, "SweepRemoves": testSweepRemoves, "Cancelled": testCancelled,
	} {
		t.Run(name, func(t *testing.T) {
			process := empty(t)
			test(t, func() store.Store {
				s := process()
				must(t, s.Prepare(t.Context()))
				return s
			})
		})
	}
}

// must ends the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func finish(t *testing.T, s store.Store, name, content string) store.Pending {
	t.Helper()
	f, err := s.Begin(t.Context(), name)
	must(t, err)
	_, err = io.WriteString(f, content)
	must(t, err)
	if f.Size() != int64(len(content)) {
		t.Errorf("%s: size %d after %d bytes", name, f.Size(), len(content))
	}
	p, err := f.Finish()
	must(t, err)
	return p
}

func list(t *testing.T, s store.Store, dir, after string) []store.Entry {
	t.Helper()
	entries, err := s.List(t.Context(), dir, after)
	must(t, err)
	return entries
}

// visible returns what readers of the place see.
func visible(t *testing.T, s store.Store) []string {
	t.Helper()
	names := []string{}
	for _, e := range list(t, s, ".", "") {
		if !strings.HasPrefix(e.Name, "_") {
			names = append(names, e.Name)
		}
	}
	return names
}

func testObjects(t *testing.T, process func() store.Store) {
	ctx, s := t.Context(), process()
	must(t, s.Create(ctx, "a/b/2", []byte("two")), s.Create(ctx, "a/b/1", []byte("one")), s.Create(ctx, "a/b/c/3", nil),
		s.Create(ctx, "a/%41 =+~@/4.json", []byte("four")))
	if err := s.Create(ctx, "a/b/1", []byte("other")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("creating it again gave %v", err)
	}
	if err := s.Create(ctx, "a/b/1", []byte("one")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("creating the same again gave %v", err)
	}
	for key, want := range map[string]string{"a/b/1": "one", "a/b/c/3": "", "a/%41 =+~@/4.json": "four"} {
		if got, err := s.Read(ctx, key); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", key, got, err)
		}
	}
	if _, err := s.Read(ctx, "a/b/9"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading what is missing gave %v", err)
	}
	testOpen(t, s)
	for _, tc := range []struct {
		dir, after string
		want       []store.Entry
	}{
		{"a/b", "", []store.Entry{{Name: "1"}, {Name: "2"}, {Name: "c", Dir: true}}},
		{"a/b", "1", []store.Entry{{Name: "2"}, {Name: "c", Dir: true}}},
		{"a/b", "c", nil},
		{"a", "", []store.Entry{{Name: "%41 =+~@", Dir: true}, {Name: "b", Dir: true}}},
		{"nowhere", "", nil},
	} {
		if got := list(t, s, tc.dir, tc.after); !slices.Equal(got, tc.want) {
			t.Errorf("list of %s after %q: %v", tc.dir, tc.after, got)
		}
	}
	must(t, s.Sync(ctx, "a/b"), s.Delete(ctx, "a/b/1"), s.Delete(ctx, "a/b/1"))
	if got := list(t, s, "a/b", ""); len(got) != 2 {
		t.Errorf("after deleting: %v", got)
	}
	must(t, s.Create(ctx, "a/b/1", []byte("again")), s.Close())
}

func testOpen(t *testing.T, s store.Store) {
	t.Helper()
	o, err := s.Open(t.Context(), "a/b/2")
	must(t, err)
	p := make([]byte, 2)
	if _, err := o.ReadAt(p, 1); string(p) != "wo" || err != nil || o.Size() != 3 {
		t.Errorf("%q, %v, %d", p, err, o.Size())
	}
	if n, err := o.ReadAt(p, 2); n != 1 || p[0] != 'o' || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if n, err := o.ReadAt(p, 3); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %d, %v", n, err)
	}
	must(t, o.Close())
	if _, err := s.Open(t.Context(), "a/b/9"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening what is missing gave %v", err)
	}
}

// Of many processes that create the same object, one succeeds, also when it would have the same content.
func testOneOfManyCreates(t *testing.T, process func() store.Store) {
	var created atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		s := process()
		group.Go(func() {
			switch err := s.Create(t.Context(), "dir/key", []byte("same")); {
			case err == nil:
				created.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if created.Load() != 1 {
		t.Errorf("%d created it", created.Load())
	}
}

func testPublish(t *testing.T, process func() store.Store) {
	ctx, s := t.Context(), process()
	a, b := finish(t, s, "a.txt", "content"), finish(t, s, "day=1/b%2F.txt", "b")
	if a.Bytes != 7 || a.Checksum != "xxh3:55f2b31a6acfaa64" || a.Name != "a.txt" {
		t.Errorf("%+v", a)
	}
	if got := visible(t, s); len(got) != 0 {
		t.Errorf("%v visible before it was published", got)
	}
	all := []store.Pending{a, b}
	must(t, s.Settle(ctx, all), s.Publish(ctx, all), s.Publish(ctx, all))
	if got := visible(t, s); !slices.Equal(got, []string{"a.txt", "day=1"}) {
		t.Errorf("visible: %v", got)
	}
	if got := list(t, s, "day=1", ""); len(got) != 1 || got[0].Name != "b%2F.txt" {
		t.Errorf("visible: %v", got)
	}
	if got, err := s.Read(ctx, "a.txt"); string(got) != "content" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	var gone *store.GoneError
	if err := s.Settle(ctx, all); !errors.As(err, &gone) {
		t.Errorf("settling what is published gave %v", err)
	}
	must(t, s.Delete(ctx, "a.txt"))
	if err := s.Publish(ctx, all); !errors.As(err, &gone) {
		t.Errorf("publishing what is gone gave %v", err)
	}
	c := finish(t, s, "c.txt", "c")
	must(t, s.Discard(ctx, []store.Pending{c}), s.Discard(ctx, []store.Pending{c}))
	if err := s.Publish(ctx, []store.Pending{c}); !errors.As(err, &gone) {
		t.Errorf("publishing what was discarded gave %v", err)
	}
	must(t, s.Close())
	if got := list(t, s, "_tmp", ""); len(got) != 0 {
		t.Errorf("Close leaves %v", got)
	}
}

// A pending file is all that another process needs.
func testPublishByAnother(t *testing.T, process func() store.Store) {
	ctx, one, two := t.Context(), process(), process()
	content := strings.Repeat("content", 1000)
	p := finish(t, one, "a.txt", content)
	must(t, two.Settle(ctx, []store.Pending{p}), two.Publish(ctx, []store.Pending{p}))
	if got, err := one.Read(ctx, "a.txt"); string(got) != content || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	must(t, one.Publish(ctx, []store.Pending{p}), one.Close(), two.Close())
	if got := list(t, one, "_tmp", ""); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

func testTwoPublishAtOnce(t *testing.T, process func() store.Store) {
	one, two := process(), process()
	for i := range 50 {
		p := finish(t, one, fmt.Sprintf("a-%s%04d.txt", one.Run(), i), "content")
		var group sync.WaitGroup
		for _, s := range []store.Store{one, two} {
			group.Go(func() {
				if err := s.Publish(t.Context(), []store.Pending{p}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	}
	if got := visible(t, one); len(got) != 50 {
		t.Errorf("visible: %v", got)
	}
	must(t, one.Close(), two.Close())
}

func testKeysStayInside(t *testing.T, process func() store.Store) {
	ctx, s := t.Context(), process()
	for _, key := range []string{"../out", "/etc/passwd", "a/../../b", ""} {
		out := []store.Pending{{Name: key, Token: "_tmp/x"}}
		_, read := s.Read(ctx, key)
		_, opened := s.Open(ctx, key)
		_, listed := s.List(ctx, key, "")
		_, begun := s.Begin(ctx, key)
		for what, err := range map[string]error{
			"create": s.Create(ctx, key, nil), "read": read, "open": opened, "list": listed, "begin": begun,
			"delete": s.Delete(ctx, key), "sync": s.Sync(ctx, key), "publish": s.Publish(ctx, out),
		} {
			if err == nil || !strings.Contains(err.Error(), "is not the name of a file in the directory") {
				t.Errorf("%s %q: %v", what, key, err)
			}
		}
	}
	must(t, s.Close())
}

func testPrepare(t *testing.T, process func() store.Store) {
	one, two := process(), process()
	must(t, one.Prepare(t.Context())) // again is nothing
	if len(one.Run()) != 8 || one.Run() == two.Run() {
		t.Errorf("runs %s and %s", one.Run(), two.Run())
	}
	must(t, one.Close(), one.Close(), two.Close())
	if got := list(t, one, ".", ""); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
	if _, err := one.Begin(t.Context(), "x"); err == nil {
		t.Error("Begin after Close")
	}
}

func testFileIsFinishedOnce(t *testing.T, process func() store.Store) {
	ctx, s := t.Context(), process()
	f, err := s.Begin(ctx, "x.txt")
	must(t, err, f.Err())
	_, err = f.Write([]byte("some bytes"))
	must(t, err)
	p, err := f.Finish()
	must(t, err, f.Discard())
	if _, err := f.Finish(); err == nil || f.Err() == nil {
		t.Error("finished twice")
	}
	if _, err := f.Write([]byte("late")); err == nil {
		t.Error("written to after it was finished")
	}
	must(t, s.Settle(ctx, []store.Pending{p}), s.Discard(ctx, []store.Pending{p}))
	f, err = s.Begin(ctx, "y.txt")
	must(t, err)
	_, err = f.Write([]byte("some bytes"))
	must(t, err, f.Discard(), f.Discard(), s.Close())
	if got := list(t, s, ".", ""); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// sweep collects what Sweep shows, by name, and has garbage decide.
func sweep(t *testing.T, s store.Store, garbage func(store.Leftover) bool) map[string]store.Leftover {
	t.Helper()
	seen := map[string]store.Leftover{}
	must(t, s.Sweep(t.Context(), func(f store.Leftover) bool {
		seen[f.Name] = f
		return garbage(f)
	}))
	return seen
}

// Unfinished files of other runs are shown, and none of this one.
func testSweepShows(t *testing.T, process func() store.Store) {
	other, s := process(), process()
	name := func(of store.Store, n int) string { return fmt.Sprintf("a-0-%020d-%s%04d.txt", n, of.Run(), n) }
	p := finish(t, other, name(other, 1), "12345")
	f, err := other.Begin(t.Context(), name(other, 2))
	must(t, err)
	own := finish(t, s, name(s, 3), "own")
	seen := sweep(t, s, func(store.Leftover) bool { return false })
	if len(seen) != 2 {
		t.Fatalf("seen %v", seen)
	}
	if f := seen[p.Name]; f.Dead || f.Bytes != 5 || f.Token != p.Token || f.Run != other.Run() || time.Since(f.Modified).Abs() > time.Hour {
		t.Errorf("%+v", f)
	}
	// They can be published still.
	must(t, f.Discard(), s.Publish(t.Context(), []store.Pending{seen[p.Name].Pending}), s.Discard(t.Context(), []store.Pending{own}))
	if seen := sweep(t, s, func(store.Leftover) bool { return true }); len(seen) != 0 {
		t.Errorf("then seen %v", seen)
	}
	must(t, other.Close(), s.Close())
}

// What Sweep removes cannot be committed any more, and its process is told.
func testSweepRemoves(t *testing.T, process func() store.Store) {
	other, s := process(), process()
	p := finish(t, other, fmt.Sprintf("dt=1/a-0-%020d-%s0001.txt", 1, other.Run()), "12345")
	if seen := sweep(t, s, func(store.Leftover) bool { return true }); len(seen) != 1 {
		t.Errorf("seen %v", seen)
	}
	var gone *store.GoneError
	if err := other.Settle(t.Context(), []store.Pending{p}); !errors.As(err, &gone) {
		t.Errorf("settling what was swept away gave %v", err)
	}
	must(t, other.Discard(t.Context(), []store.Pending{p}), other.Close(), s.Close())
	if got := list(t, s, ".", ""); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

func testCancelled(t *testing.T, process func() store.Store) {
	s := process()
	finish(t, process(), "a-0-00000000000000000001-0123abcd0001.txt", "content")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Sweep(ctx, func(store.Leftover) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("sweeping gave %v", err)
	}
	must(t, s.Close())
}
