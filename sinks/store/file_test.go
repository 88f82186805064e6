package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// failOn fails the calls with the given name on files whose path has a part.
func failOn(op, part string, err error) store.FS {
	return storetest.Wrap(store.System, func(c storetest.Call) error {
		if c.Op == op && strings.Contains(c.Path, part) {
			return err
		}
		return nil
	})
}

func TestFileErrorsStick(t *testing.T) {
	tests := map[string]struct {
		op   string
		err  error
		want string
	}{
		"full":   {"write", syscall.ENOSPC, "the file system is full; free some space"},
		"quota":  {"write", syscall.EDQUOT, "the disk quota is used up"},
		"large":  {"write", syscall.EFBIG, "roll.bytes"},
		"sync":   {"sync", syscall.EIO, "syncing"},
		"rofs":   {"sync", syscall.EROFS, "has become read-only"},
		"closed": {"close", syscall.EIO, "closing"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			l := prepare(t, root, failOn(tc.op, "x.txt", tc.err))
			f, err := l.Begin(t.Context(), "x.txt")
			must(t, err)
			_, err = f.Write([]byte("some bytes"))
			must(t, err, f.Err())
			_, err = f.Finish()
			if !errors.Is(err, tc.err) || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "after 10 bytes") {
				t.Errorf("got %v", err)
			}
			if _, again := f.Finish(); !errors.Is(again, tc.err) || !errors.Is(f.Err(), tc.err) {
				t.Errorf("then finishing gave %v", again)
			}
			if _, again := f.Write([]byte("x")); !errors.Is(again, tc.err) {
				t.Errorf("then writing gave %v", again)
			}
			must(t, f.Discard(), f.Discard(), l.Close())
			if entries, _ := os.ReadDir(root); len(entries) != 0 {
				t.Errorf("%v is left", entries)
			}
		})
	}
}

func TestFileIsFinishedOnce(t *testing.T) {
	l := prepare(t, t.TempDir(), store.System)
	f, err := l.Begin(t.Context(), "x.txt")
	must(t, err)
	if _, err := l.Begin(t.Context(), "x.txt"); !errors.Is(err, os.ErrExist) {
		t.Errorf("the same name again: %v", err)
	}
	p, err := f.Finish()
	must(t, err, f.Discard())
	if _, err := f.Finish(); err == nil {
		t.Error("finished twice")
	}
	must(t, l.Settle(t.Context(), []store.Pending{p}), l.Discard(t.Context(), []store.Pending{p}), l.Close())
}

func TestBeginFails(t *testing.T) {
	root := t.TempDir()
	l := prepare(t, root, failOn("create", "x.txt", syscall.ENOSPC))
	if _, err := l.Begin(t.Context(), "x.txt"); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), root) {
		t.Errorf("got %v", err)
	}
	must(t, l.Close())
}

func TestSettleFindsDamage(t *testing.T) {
	root := t.TempDir()
	l := prepare(t, root, store.System)
	p := finish(t, l, "x.txt", "content")
	must(t, os.Truncate(filepath.Join(root, p.Token), 3))
	if err := l.Settle(t.Context(), []store.Pending{p}); err == nil || !strings.Contains(err.Error(), "has 3 bytes after 7 were written") {
		t.Errorf("got %v", err)
	}
	must(t, l.Discard(t.Context(), []store.Pending{p}), l.Close())
}

// The sums are those of the reference implementation.
func TestChecksum(t *testing.T) {
	long := make([]byte, 0, 256000)
	for i := range cap(long) {
		long = append(long, byte(i))
	}
	for content, want := range map[string]string{
		"": "2d06800538d394c2", "abc": "78af5f94892f3950", "content": "55f2b31a6acfaa64", string(long): "776474c39d20f9aa",
	} {
		sum := store.NewChecksum()
		_, _ = sum.Write([]byte(content[:len(content)/3]))
		_, _ = sum.Write([]byte(content[len(content)/3:]))
		if sum.String() != "xxh3:"+want {
			t.Errorf("%d bytes: %s, want %s", len(content), sum, want)
		}
		must(t, store.CheckChecksum(sum.String()))
	}
	for _, bad := range []string{"", "xxh3:", "sha256:00", "xxh3:0123456789abcdeg", "xxh3:0123"} {
		if store.CheckChecksum(bad) == nil {
			t.Errorf("%q passes", bad)
		}
	}
}
