package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
)

// GoneError says that a finished file is neither where it was written nor where it was to be published.
type GoneError struct {
	Token, Name string
	Rule        string // what nobody may do
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("the finished file %s was removed before it was published as %s: %s", e.Token, e.Name, e.Rule)
}

// gone returns the error of a finished file that is neither at one path nor at the other.
func gone(from, to string) error {
	return &GoneError{Token: from, Name: to, Rule: "nothing but urlmill may remove files from " + tmpName}
}

// dirs returns the directories of keys, each once.
func dirs(keys []string) []string {
	found := make([]string, 0, len(keys))
	for _, key := range keys {
		found = append(found, path.Dir(key))
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// settleNames makes the entries of directories durable.
func (l *Local) settleNames(all []string) error {
	return sideBySide(len(all), func(i int) error {
		if err := l.syncDir(all[i]); err != nil {
			return fmt.Errorf("making file names in %s durable: %w%s", l.path(all[i]), err, writeAdvice(err))
		}
		return nil
	})
}

// Settle implements [Files]. The bytes of the files are durable already; their names are made so. What would keep them from
// being published is better found here than after the commit.
func (l *Local) Settle(_ context.Context, files []Pending) error {
	tokens, names := make([]string, 0, len(files)), make([]string, 0, len(files))
	for _, f := range files {
		if err := check(f.Token, f.Name); err != nil {
			return err
		}
		info, err := l.fs.Stat(l.path(f.Token))
		if errors.Is(err, fs.ErrNotExist) {
			return gone(l.path(f.Token), l.path(f.Name))
		}
		if err != nil {
			return err
		}
		if info.Size() != f.Bytes {
			return fmt.Errorf("%s has %d bytes after %d were written to it", l.path(f.Token), info.Size(), f.Bytes)
		}
		tokens, names = append(tokens, f.Token), append(names, f.Name)
	}
	for _, dir := range dirs(names) {
		if err := l.reach(dir); err != nil {
			return err
		}
	}
	return l.settleNames(dirs(tokens))
}

// probeName is what a file that is moved into a directory to try that is called. Readers leave it out; one is in the way of
// no other, and left over if the process dies at the wrong moment.
const probeName = "_probe"

// reach finds out whether files can be moved to a directory, or to the one that it would be made in: a link to another file
// system, or one that is mounted there, stands in the way. Once is enough. A store that was not prepared cannot try.
func (l *Local) reach(dir string) error {
	for dir != "." {
		if _, err := l.fs.Stat(l.path(dir)); err == nil {
			break
		}
		dir = path.Dir(dir)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil || l.reached[dir] {
		return nil
	}
	from, to := l.path(path.Join(l.tmp, strconv.FormatUint(l.seq.Add(1), 10)+newExt)), l.path(path.Join(dir, probeName))
	h, err := l.fs.Create(from)
	if err == nil {
		err = errors.Join(h.Close(), l.fs.Move(from, to))
	}
	if err != nil {
		_ = l.fs.Remove(from)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it has just been removed, and will be made again
		}
		return explainAccess(l.path(dir), err)
	}
	if err := l.fs.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explainAccess(l.path(dir), err)
	}
	remember(l.reached, []string{dir})
	return nil
}

// Publish implements [Files]. The directories may be removed at any time, also between any two calls here.
func (l *Local) Publish(_ context.Context, files []Pending) error {
	names := make([]string, 0, len(files))
	for _, f := range files {
		if err := check(f.Token, f.Name); err != nil {
			return err
		}
		names = append(names, f.Name)
	}
	wanted := dirs(names)
	if err := l.makeDirs(wanted); err != nil {
		return explainAccess(l.root, err)
	}
	if err := sideBySide(len(files), func(i int) error { return l.publish(files[i]) }); err != nil {
		return err
	}
	// Those above as well: whoever made them last may not have come to that. What is not there any more was removed with the
	// files in it, by whoever they were for.
	all := append([]string{"."}, above(wanted)...)
	return sideBySide(len(all), func(i int) error {
		if err := l.settleNames(all[i : i+1]); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// publish moves one file to its name. That the name is taken, or that the file is gone, can mean that another process has
// been faster. Otherwise the directory is what is missing, and is made again.
func (l *Local) publish(f Pending) error {
	from, to := l.path(f.Token), l.path(f.Name)
	var err error
	for range removals {
		if err = l.move(from, to); err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			return explainAccess(path.Dir(to), err)
		}
		// In this order: whoever takes the file away from where it is has published it before.
		_, lost := l.fs.Stat(from)
		info, err := look(l, f.Name, l.fs.Stat)
		switch {
		case err == nil && (info.Size() != f.Bytes || info.IsDir()):
			return fmt.Errorf("%s is there already, is another file, and is not replaced: %w", to, fs.ErrExist)
		case err == nil:
			return l.remove(f.Token)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		case errors.Is(lost, fs.ErrNotExist):
			return gone(from, to)
		case lost != nil:
			return lost
		}
		if err := l.makeDirs([]string{path.Dir(f.Name)}); err != nil {
			return explainAccess(path.Dir(to), err)
		}
	}
	return explainAccess(path.Dir(to), err)
}

// move moves a file to a name that is not taken. Where the file system cannot do that in one step it is left with a look
// before; names that hold a run's identifier make that good enough. A link that takes the other name away afterwards would
// not be: should the process die in between, the file has two names, and one of them comes back when the other has been
// removed.
func (l *Local) move(from, to string) error {
	err := l.fs.Rename(from, to)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if _, err := l.fs.Stat(to); err == nil {
		return fs.ErrExist
	}
	return l.fs.Move(from, to)
}

func (l *Local) remove(key string) error {
	if err := l.fs.Remove(l.path(key)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Discard implements [Files].
func (l *Local) Discard(_ context.Context, files []Pending) error {
	var errs []error
	for _, f := range files {
		if err := check(f.Token); err != nil {
			return err
		}
		errs = append(errs, l.remove(f.Token))
	}
	return errors.Join(errs...)
}
