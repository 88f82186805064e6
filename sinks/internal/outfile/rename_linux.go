package outfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func renameNoReplace(oldPath, newPath string) error {
	err := unix.Renameat2(unix.AT_FDCWD, oldPath, unix.AT_FDCWD, newPath, unix.RENAME_NOREPLACE)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return linkNoReplace(oldPath, newPath) // the file system does not know the flag
	}
	return &os.LinkError{Op: "rename", Old: oldPath, New: newPath, Err: err}
}
