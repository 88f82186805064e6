package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

// Repair publishes the files of commits whose process died before it had, and removes what dead processes have left
// unfinished and records that came too late. It changes nothing else: what is damaged or missing stays so.
func Repair(ctx context.Context, o Options) error {
	v := newVerifier(o)
	if err := v.read(ctx, v.take); err != nil {
		return err
	}
	if err := v.readCompactions(ctx); err != nil || len(v.report.Lanes) == 0 && len(v.compacted.All) == 0 {
		return err // Run says so
	}
	var stores []store.Store
	for _, dir := range v.dirs {
		s, err := v.place(ctx, dir)
		if err != nil {
			return err
		}
		if s != nil {
			stores = append(stores, s)
		}
	}
	return v.repair(ctx, stores)
}

func (v *verifier) repair(ctx context.Context, stores []store.Store) (err error) {
	defer func() {
		for _, s := range stores {
			err = errors.Join(err, s.Close())
		}
	}()
	for _, s := range stores {
		if err := s.Prepare(ctx); err != nil {
			return err
		}
	}
	if err := v.announce(ctx); err != nil {
		return err
	}
	chain := commit.New(commit.Options{Root: v.Root, Place: v.places.Get, Log: v.Log})
	if _, err := chain.Recover(ctx); err != nil {
		return err
	}
	for _, s := range stores {
		if err := chain.Sweep(ctx, s); err != nil {
			return err
		}
	}
	for _, p := range v.report.Problems {
		if p.Kind != commit.LateRecord {
			continue
		}
		if err := commit.RemoveLate(ctx, v.Root, p); err != nil {
			return err
		}
		v.Log.Info("removed a commit record that came too late", "record", p.File)
	}
	return nil
}

// announce logs which files are about to be published.
func (v *verifier) announce(ctx context.Context) error {
	for _, n := range v.files {
		if !n.last {
			continue
		}
		s, err := v.place(ctx, n.Place)
		if err != nil {
			return err
		}
		if s == nil {
			continue
		}
		o, err := s.Open(ctx, n.Name)
		switch {
		case err == nil:
			if err := o.Close(); err != nil {
				return err
			}
		case !isMissing(err):
			return fmt.Errorf("%s: %w", n.path(), err)
		case s.Settle(ctx, []store.Pending{n.Pending()}) == nil:
			v.Log.Info("publishing a file that was committed", "file", n.path(), "rows", n.Rows, "lane", n.lane,
				"from", n.first, "to", n.next)
		}
	}
	return nil
}
