package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"golang.org/x/sync/errgroup"
)

const (
	// syncsAtATime is how many files or directories are made durable side by side. A disk that takes milliseconds for one
	// takes little more for sixteen, as their journal is written once.
	syncsAtATime = 16
	// fewFiles are not worth it.
	fewFiles = 16
)

// sideBySide calls f for every index below n, for many several at a time. It returns the first error.
func sideBySide(n int, f func(i int) error) error {
	if n < fewFiles {
		for i := range n {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	var group errgroup.Group
	group.SetLimit(syncsAtATime)
	for i := range n {
		group.Go(func() error { return f(i) })
	}
	return group.Wait()
}

// above returns directories with all those above them below the root, each once, those above first.
func above(wanted []string) []string {
	var all []string
	for _, dir := range wanted {
		for ; dir != "."; dir = path.Dir(dir) {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// makeDirs makes directories, and those above them below the root. What it makes is durable; what was there may not be yet,
// as whoever made it may not have come to that. Should one be removed meanwhile, it begins again.
func (l *Local) makeDirs(wanted []string) error {
	var err error
	for range removals {
		if err = l.tryMakeDirs(above(wanted)); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

func (l *Local) tryMakeDirs(all []string) error {
	var made []string
	for _, dir := range all {
		err := l.fs.Mkdir(l.path(dir))
		if err == nil {
			made = append(made, dir)
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return l.syncDirs(dirs(made))
}

// syncDirs makes the entries of directories durable.
func (l *Local) syncDirs(all []string) error {
	return sideBySide(len(all), func(i int) error { return l.syncDir(all[i]) })
}

// syncDir makes the entries of a directory durable. When that has failed once it fails for ever: the system may have dropped
// what it could not write, say so once, and succeed the next time without it.
func (l *Local) syncDir(dir string) error {
	if broken := l.broken.Load(); broken != nil {
		return *broken
	}
	err := l.fs.SyncDir(l.path(dir))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var opening *fs.PathError
	if !errors.As(err, &opening) || opening.Op != "open" {
		broken := fmt.Errorf("%s could not be made durable before, and whether it is now cannot be told: "+
			"look into the system's log for the reason, and start again when the disk is in order: %w", l.path(dir), err)
		l.broken.CompareAndSwap(nil, &broken)
	}
	return err
}
