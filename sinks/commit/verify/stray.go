package verify

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func extension(name string) string { return strings.TrimPrefix(path.Ext(name), ".") }

// findStrays looks for visible files that no record names. A file is visible only after its record is there, so that
// those found are looked for in the records once more: they may have been committed since.
func (v *verifier) findStrays(ctx context.Context) error {
	visible, doubles := map[string]bool{}, map[string]string{}
	for _, dir := range v.dirs {
		s, err := v.place(ctx, dir)
		if err != nil {
			return err
		}
		if s == nil {
			continue
		}
		if err := list(ctx, s, ".", func(name string) {
			file := path.Join(dir, name)
			if !v.named[file] {
				visible[file] = true
			}
			if by, ok := v.replaced[file]; ok {
				doubles[file] = by
			}
		}); err != nil {
			return err
		}
	}
	for _, n := range v.pending { // may be there for a moment still
		for file, by := range doubles {
			if by == n.path() {
				delete(doubles, file)
			}
		}
	}
	for file, by := range doubles {
		v.problem(ReplacedFile, named{File: commit.File{Name: file}, first: -1}, "its rows are in %s as well, which has replaced it: remove it", by)
	}
	if len(visible) == 0 {
		return nil
	}
	err := v.read(ctx, func(_ *commit.History, records []*commit.Record) {
		for _, r := range records {
			for _, f := range r.Files {
				delete(visible, path.Join(f.Place, f.Name))
			}
		}
	})
	if err != nil {
		return err
	}
	compactions, err := v.since(ctx)
	if err != nil {
		return err
	}
	for _, r := range compactions.All {
		for _, g := range r.Groups {
			delete(visible, g.File.Path())
		}
	}
	v.strays = visible
	return nil
}

// list calls found with the files below a directory that readers see: they leave out what begins with a dot or an
// underscore.
func list(ctx context.Context, s store.Objects, dir string, found func(name string)) error {
	entries, err := s.List(ctx, dir, "")
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		switch {
		case strings.HasPrefix(e.Name, "_"), strings.HasPrefix(e.Name, "."):
		case e.Dir:
			if err := list(ctx, s, name, found); err != nil {
				return err
			}
		default:
			found(name)
		}
	}
	return nil
}
