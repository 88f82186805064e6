package storetest

import (
	"errors"
	"io/fs"
	"path"
	"sync"
	"syscall"

	"github.com/urlmill/urlmill/sinks/store"
)

// Stale returns a file system that takes names for missing that were missing once, as clients of NFS do for a while, until
// their directory is opened. A name that was missing hides what is below it as well.
func Stale(sys store.FS) store.FS { return &stale{FS: sys, missing: map[string]bool{}} }

type stale struct {
	store.FS
	mu      sync.Mutex
	missing map[string]bool
}

// find returns the error of a name that is taken for missing, or that has one above it that is.
func (s *stale) find(op, file string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := file; ; at = path.Dir(at) {
		if s.missing[at] {
			return &fs.PathError{Op: op, Path: file, Err: syscall.ENOENT}
		}
		if at == path.Dir(at) {
			return nil
		}
	}
}

// keep remembers what is missing: the first name on the way to a file that is not there.
func (s *stale) keep(file string) {
	first := file
	for at := file; at != path.Dir(at); at = path.Dir(at) {
		if _, err := s.FS.Stat(at); err != nil {
			first = at
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing[first] = true
}

// opened forgets what was missing in a directory.
func (s *stale) opened(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.missing {
		if path.Dir(name) == dir {
			delete(s.missing, name)
		}
	}
}

func staleCall[T any](s *stale, op, file string, call func(string) (T, error)) (found T, err error) {
	if err := s.find(op, file); err != nil {
		return found, err
	}
	if found, err = call(file); errors.Is(err, fs.ErrNotExist) {
		s.keep(file)
	}
	return found, err
}

// Stat implements [store.FS].
func (s *stale) Stat(file string) (fs.FileInfo, error) {
	return staleCall(s, "stat", file, s.FS.Stat)
}

// ReadFile implements [store.FS].
func (s *stale) ReadFile(file string) ([]byte, error) {
	return staleCall(s, "read", file, s.FS.ReadFile)
}

// Open implements [store.FS].
func (s *stale) Open(file string) (store.Object, error) {
	return staleCall(s, "open", file, s.FS.Open)
}

// ReadDir implements [store.FS].
func (s *stale) ReadDir(dir string) ([]fs.DirEntry, error) {
	return staleDir(s, dir, s.FS.ReadDir)
}

// SyncDir implements [store.FS].
func (s *stale) SyncDir(dir string) error { return staleErr(s, dir, s.FS.SyncDir) }

// Refresh implements [store.FS].
func (s *stale) Refresh(dir string) error { return staleErr(s, dir, s.FS.Refresh) }

// staleDir makes a call that opens a directory.
func staleDir[T any](s *stale, dir string, call func(string) (T, error)) (T, error) {
	found, err := staleCall(s, "open", dir, call)
	if err == nil {
		s.opened(dir)
	}
	return found, err
}

func staleErr(s *stale, dir string, call func(string) error) error {
	_, err := staleDir(s, dir, func(dir string) (struct{}, error) { return struct{}{}, call(dir) })
	return err
}
