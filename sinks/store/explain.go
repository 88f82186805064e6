package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// explainAccess adds to an error of the system what to do about it.
func explainAccess(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("no permission to write in %s: make it writable for the user with id %d, or give another path: %w",
			path, os.Getuid(), err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s is on a file system that is mounted read-only: mount it writable, or give another path: %w", path, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("no space left to write in %s: free some, or give another path: %w", path, err)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s cannot be a directory, because a part of its path is a file: correct the path: %w", path, err)
	case errors.Is(err, syscall.EXDEV):
		return fmt.Errorf("%s is on another file system than the output's %s, from which finished files are moved: put a directory of the output's "+
			"own file system in the place of the link or mount, move back what is in it, and start again: %w", path, tmpName, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write in %s: a directory is missing, because it is a link to nowhere, or was removed: %w", path, err)
	}
	return fmt.Errorf("cannot write in %s: %w", path, err)
}

// writeAdvice says what to do about an error of writing a file.
func writeAdvice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return ": the file system is full; free some space or give another path"
	case errors.Is(err, syscall.EDQUOT):
		return ": the disk quota is used up; raise it, free some space or give another path"
	case errors.Is(err, syscall.EFBIG):
		return ": the file is larger than the system allows; lower the sink's roll.bytes"
	case errors.Is(err, syscall.EROFS):
		return ": the file system has become read-only; look into the system's log for the reason"
	}
	return ""
}
