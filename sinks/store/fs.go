package store

import (
	"errors"
	"io"
	"io/fs"
)

// FS are the calls to the operating system that a local store makes. Tests put others in their place.
type FS interface {
	// Create makes a file that must not be there yet.
	Create(path string) (Handle, error)
	// Link gives a file a second name, which must not be taken. Where the file system has no links the error is
	// [errors.ErrUnsupported].
	Link(oldPath, newPath string) error
	// Rename moves a file to a name that must not be taken, in one step. Where the file system cannot do that
	// the error is [errors.ErrUnsupported]; where the name is on another one it is [syscall.EXDEV], as with Move.
	Rename(oldPath, newPath string) error
	// Move moves a file to a name, whether or not it is taken.
	Move(oldPath, newPath string) error
	// Remove removes a file or an empty directory.
	Remove(path string) error
	// Mkdir makes a directory.
	Mkdir(path string) error
	// SyncDir makes the entries of a directory durable. An error of opening it is an [io/fs.PathError] that says so.
	SyncDir(path string) error

	// Refresh forgets what is known of names that a directory does not have.
	Refresh(dir string) error
	Stat(path string) (fs.FileInfo, error)
	ReadDir(path string) ([]fs.DirEntry, error)
	ReadFile(path string) ([]byte, error)
	Open(path string) (Object, error)

	// NewLock makes a file with the given content that is locked until it is closed or the process ends. The
	// error is ErrNotExist if its directory, or the file itself before it was locked, has been removed.
	NewLock(path string, content []byte) (io.Closer, error)
	// Lock locks an existing file in the same way. The error is [ErrLocked] when another process has, and
	// [errors.ErrUnsupported] on systems without locks.
	Lock(path string) (io.Closer, error)
	// Boot identifies the running kernel, "" if it cannot be told. Locks that processes under the same one
	// take are known to exclude each other, also on network file systems.
	Boot() string
}

// Handle is a file open for writing.
type Handle interface {
	io.Writer
	Sync() error
	Close() error
}

// ErrLocked is the error of a lock that another process has.
var ErrLocked = errors.New("locked by another process")
