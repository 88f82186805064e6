//go:build !unix || solaris || aix

package outfile

import "os"

// canLock tells whether tryLock says anything about other processes.
const canLock = false

func tryLock(*os.File) error { return nil }
