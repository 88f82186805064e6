package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
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

func (l *Local) syncDirs(keys []string) error {
	all := dirs(keys)
	return sideBySide(len(all), func(i int) error {
		if err := l.fs.SyncDir(l.path(all[i])); err != nil {
			return fmt.Errorf("making file names in %s durable: %w%s", l.path(all[i]), err, writeAdvice(err))
		}
		return nil
	})
}

// Settle implements [Files]. The bytes of the files are durable already; their names are made so.
func (l *Local) Settle(_ context.Context, files []Pending) error {
	tokens := make([]string, 0, len(files))
	for _, f := range files {
		if err := check(f.Token); err != nil {
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
		tokens = append(tokens, f.Token)
	}
	return l.syncDirs(tokens)
}

// Publish implements [Files].
func (l *Local) Publish(_ context.Context, files []Pending) error {
	names := make([]string, 0, len(files))
	for _, f := range files {
		if err := check(f.Token, f.Name); err != nil {
			return err
		}
		names = append(names, f.Name)
	}
	if dir, err := l.ensureDirs(dirs(names)); err != nil {
		return explainAccess(l.path(dir), err)
	}
	if err := sideBySide(len(files), func(i int) error { return l.publish(files[i]) }); err != nil {
		return err
	}
	return l.syncDirs(names)
}

// publish moves one file to its name. That the name is taken, or that the file is gone, can mean that another
// process has been faster.
func (l *Local) publish(f Pending) error {
	from, to := l.path(f.Token), l.path(f.Name)
	err := l.fs.Rename(from, to)
	if errors.Is(err, errors.ErrUnsupported) {
		err = l.rename(from, to)
	}
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
		return explainAccess(path.Dir(to), err)
	}
	info, statErr := l.fs.Stat(to)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return gone(from, to)
	case statErr != nil:
		return statErr
	case info.Size() != f.Bytes || info.IsDir():
		return fmt.Errorf("%s is there already, is another file, and is not replaced: %w", to, fs.ErrExist)
	}
	return l.remove(f.Token)
}

// rename moves a file where the file system cannot do it exclusively in one step. Without hard links it is left
// with a look before the move; names that hold a run's identifier make that good enough.
func (l *Local) rename(from, to string) error {
	err := l.fs.Link(from, to)
	if err == nil {
		// If another process was faster with this, the file is where it belongs all the same.
		if err = l.fs.Remove(from); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
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
