package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// System is the operating system.
var System FS = system{}

type system struct{}

func (system) Create(path string) (Handle, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// Link reports file systems without hard links, which say so in many ways.
func (system) Link(oldPath, newPath string) error {
	err := os.Link(oldPath, newPath)
	for _, unsupported := range []error{syscall.EPERM, syscall.ENOSYS, syscall.EOPNOTSUPP} {
		if errors.Is(err, unsupported) {
			return errors.Join(errors.ErrUnsupported, err)
		}
	}
	return err
}

func (system) Rename(oldPath, newPath string) error          { return renameExclusive(oldPath, newPath) }
func (system) Move(oldPath, newPath string) error            { return os.Rename(oldPath, newPath) }
func (system) Remove(path string) error                      { return os.Remove(path) }
func (system) Mkdir(path string) error                       { return os.Mkdir(path, 0o777) }
func (system) Stat(path string) (fs.FileInfo, error)         { return os.Stat(path) }
func (system) ReadDir(path string) ([]fs.DirEntry, error)    { return os.ReadDir(path) }
func (system) ReadFile(path string) ([]byte, error)          { return os.ReadFile(path) }
func (system) Lock(path string) (io.Closer, error)           { return lockExisting(path) }
func (system) NewLock(p string, c []byte) (io.Closer, error) { return newLock(p, c) }

func (system) SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	// Some network file systems cannot sync a directory and say so with EINVAL; they make entries
	// durable by themselves.
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

func (system) Refresh(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return d.Close()
}

func (system) Open(path string) (Object, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return openFile{f, info.Size()}, nil
}

type openFile struct {
	*os.File
	size int64
}

func (f openFile) Size() int64 { return f.size }

func (system) Boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// newLock implements [FS.NewLock]. An error of locking other than a taken lock means that nobody can lock here; then
// nobody takes the lock for that of a dead process either.
func newLock(path string, content []byte) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	locked := tryLock(f)
	ours, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	there, err := os.Stat(path)
	if errors.Is(locked, ErrLocked) || err != nil || !os.SameFile(ours, there) {
		return nil, errors.Join(fs.ErrNotExist, f.Close()) // taken for a dead process's, and removed
	}
	if _, err := f.Write(content); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func lockExisting(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
