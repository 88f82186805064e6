package store

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

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

// ensureDirs makes directories, and those above them below the root, and makes them durable: level by level, so that each
// of those above is synced once. On an error, dir is what it is about.
func (l *Local) ensureDirs(wanted []string) (dir string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	missing := map[string]bool{}
	for _, dir := range wanted {
		for ; dir != "." && !l.durable[dir] && !missing[dir]; dir = path.Dir(dir) {
			missing[dir] = true
		}
	}
	levels := map[int][]string{}
	deepest := 0
	for dir := range missing {
		depth := strings.Count(dir, "/")
		levels[depth] = append(levels[depth], dir)
		deepest = max(deepest, depth)
	}
	for depth := 0; depth <= deepest; depth++ {
		if dir, err := l.makeLevel(levels[depth]); err != nil {
			return dir, err
		}
	}
	return "", nil
}

// makeLevel makes directories whose parents are durable.
func (l *Local) makeLevel(made []string) (dir string, err error) {
	slices.Sort(made)
	for _, dir := range made {
		if err := l.fs.Mkdir(l.path(dir)); err != nil && !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
	// Also if they were there: whoever made them may not have come to that.
	parents := dirs(made)
	if err := sideBySide(len(parents), func(i int) error { return l.fs.SyncDir(l.path(parents[i])) }); err != nil {
		return parents[0], err
	}
	if len(l.durable) > maxDurable {
		clear(l.durable) // what is asked for again is synced again
	}
	for _, dir := range made {
		l.durable[dir] = true
	}
	return "", nil
}
