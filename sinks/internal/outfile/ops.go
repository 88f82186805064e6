package outfile

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// Handle is an open file as this package uses it.
type Handle interface {
	io.Writer
	Sync() error
	Close() error
}

// Ops are the calls to the operating system that can fail once a directory has been opened. Tests put failing
// ones in their place.
type Ops interface {
	// Create makes a file that must not be there yet.
	Create(path string) (Handle, error)
	// Rename moves a file and fails with an error that is [os.ErrExist] when newPath is taken.
	Rename(oldPath, newPath string) error
	// Remove removes a file.
	Remove(path string) error
	// SyncDir makes the entries of a directory durable.
	SyncDir(path string) error
}

// System is the operating system.
var System Ops = systemOps{}

type systemOps struct{}

func (systemOps) Create(path string) (Handle, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

func (systemOps) Rename(oldPath, newPath string) error { return renameNoReplace(oldPath, newPath) }

func (systemOps) Remove(path string) error { return os.Remove(path) }

func (systemOps) SyncDir(path string) error {
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

// linkNoReplace moves a file through a second link, which cannot replace anything. File systems without hard
// links are left with a check before the move, which is not atomic; names that hold a random run id make
// that good enough.
func linkNoReplace(oldPath, newPath string) error {
	err := os.Link(oldPath, newPath)
	if err == nil {
		return os.Remove(oldPath)
	}
	if errors.Is(err, os.ErrExist) {
		return err
	}
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EPERM) {
		return err
	}
	if _, statErr := os.Lstat(newPath); statErr == nil {
		return &os.LinkError{Op: "rename", Old: oldPath, New: newPath, Err: os.ErrExist}
	}
	return os.Rename(oldPath, newPath)
}
