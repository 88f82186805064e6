package commit

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/urlmill/urlmill/sinks/store"
)

// All processes of an output see the same claims on a stream, and one of them makes each.
func TestClaims(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	var all []*claims
	for range 2 {
		s := store.NewLocal(dir, store.System, quiet)
		if err := s.Prepare(ctx); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		all = append(all, New(Options{Root: s, Log: quiet}).Claims("s3://bucket").(*claims))
	}
	a, b := all[0], all[1]
	if a.Self() == b.Self() || a.Self() == "" {
		t.Errorf("processes %q and %q", a.Self(), b.Self())
	}
	if err := a.Create(ctx, "lane-1-1", "held a"); err != nil {
		t.Fatal(err)
	}
	if err := b.Create(ctx, "lane-1-1", "held b"); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if names, err := b.Names(ctx); !slices.Equal(names, []string{"lane-1-1"}) || err != nil {
		t.Errorf("%q, %v", names, err)
	}
	if content, err := b.Read(ctx, "lane-1-1"); content != "held a" || err != nil {
		t.Errorf("%q, %v", content, err)
	}
	if err := errors.Join(b.Delete(ctx, "lane-1-1"), b.Delete(ctx, "lane-1-1")); err != nil {
		t.Error(err)
	}
	if _, err := a.Read(ctx, "lane-1-1"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := CheckEmpty(ctx, a.root, "parquet"); err != nil {
		t.Error(err)
	}
}
