package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"testing"

	"github.com/urlmill/urlmill/internal/objstore"
)

// Reader tests that keys come in their order and page by page, from any key on, and that objects are read as they were listed, from any
// byte. The bucket is an empty one, in which put and remove make changes.
func Reader(t *testing.T, b objstore.Store, put func(ctx context.Context, key string, content []byte) error, remove func(ctx context.Context, key string) error) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	list := func(prefix, after string, limit int) (keys []string) {
		t.Helper()
		for more := true; more; {
			page, next, err := b.List(t.Context(), prefix, after, limit)
			must(err)
			if len(page) > limit || next && len(page) == 0 {
				t.Errorf("%d keys behind %q, more %t", len(page), after, next)
			}
			for _, o := range page {
				keys = append(keys, o.Key)
				after = o.Key
			}
			more = next
		}
		return keys
	}
	var want []string
	for i := range 45 {
		key := fmt.Sprintf("in/%02d/a b+ä%%.log", i)
		want = append(want, key)
		must(put(t.Context(), key, []byte("content "+key)))
	}
	must(put(t.Context(), "other", nil))
	for _, c := range []struct {
		prefix, after string
		limit         int
		want          []string
	}{
		{"in/", "", 10, want},
		{"in/", want[44], 10, nil},
		{"in/", want[43], 10, want[44:]},
		{"in/", want[20], 10, want[21:]},
		{"in/", "in/07/x", 1000, want[8:]},
		{"in/", "", 1000, want},
		{want[3], "", 1, want[3:4]},
		{want[3], want[3], 1, nil},
		{"in/0", want[2], 1, want[3:10]},
		{"nowhere/", "", 10, nil},
	} {
		if got := list(c.prefix, c.after, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("%q behind %q by %d: %q, want %q", c.prefix, c.after, c.limit, got, c.want)
		}
	}
	must(put(t.Context(), "in/44/new", nil)) // behind a listing that has come to its end
	if got := list("in/", want[44], 10); !slices.Equal(got, []string{"in/44/new"}) {
		t.Errorf("new: %q", got)
	}
	must(put(t.Context(), "in/00/_", nil)) // before everything
	if got := list("in/", "", 10); len(got) != len(want)+2 || got[0] != "in/00/_" {
		t.Errorf("late: %q", got)
	}

	dirs := func(prefix string) (all []string) {
		t.Helper()
		must(b.Dirs(t.Context(), prefix, func(page []string) bool {
			all = append(all, page...)
			return true
		}))
		return all
	}
	if got := dirs("in/"); len(got) != 45 || got[7] != "in/07/" || !slices.IsSorted(got) {
		t.Errorf("directories: %q", got)
	}
	if got := dirs("in/1"); len(got) != 10 || got[0] != "in/10/" {
		t.Errorf("directories that begin with 1: %q", got)
	}
	if got := dirs("other/"); len(got) != 0 {
		t.Errorf("directories where there are none: %q", got)
	}

	page, _, err := b.List(t.Context(), "in/07", "", 1)
	must(err)
	object, content := page[0], "content "+page[0].Key
	if object.Size != int64(len(content)) || object.ETag == "" {
		t.Errorf("%+v", object)
	}
	if o, err := b.Stat(t.Context(), object.Key); err != nil || o != object {
		t.Errorf("a look at %+v says %+v, %v", object, o, err)
	}
	if o, err := b.Stat(t.Context(), "in/0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a look at what is not there: %+v, %v", o, err)
	}
	for _, c := range []struct {
		off, n int64
		want   string
	}{{0, -1, content}, {3, -1, content[3:]}, {3, 4, content[3:7]}, {0, 1, "c"}} {
		body, err := b.Open(t.Context(), object, c.off, c.n)
		must(err)
		if got, err := io.ReadAll(body); err != nil || string(got) != c.want {
			t.Errorf("%d bytes from %d: %q, %v", c.n, c.off, got, err)
		}
		must(body.Close())
	}
	if want, sum, err := b.(objstore.Summer).Sum(t.Context(), object); err != nil {
		t.Errorf("checksum: %v", err)
	} else if sum != nil {
		_, _ = io.WriteString(sum, content)
		if got := sum.Sum(nil); !bytes.Equal(got, want) {
			t.Errorf("the checksum is %x, and the store has %x", got, want)
		}
	} else {
		t.Log("the store has no checksum of an object")
	}
	must(put(t.Context(), object.Key, []byte("another")))
	if _, err := b.Open(t.Context(), object, 0, -1); !errors.Is(err, objstore.ErrChanged) {
		t.Errorf("changed: %v", err)
	}
	must(remove(t.Context(), object.Key))
	if _, err := b.Open(t.Context(), object, 0, -1); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, objstore.ErrChanged) {
		t.Errorf("gone: %v", err)
	}
}
