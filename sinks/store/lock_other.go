//go:build !unix || solaris || aix

package store

import (
	"errors"
	"os"
)

func tryLock(*os.File) error { return errors.ErrUnsupported }
