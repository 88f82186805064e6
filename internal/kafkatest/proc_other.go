//go:build !linux

package kafkatest

// lockFile locks nothing here: test binaries that fetch at the same time cost a download more.
func lockFile(string) (unlock func(), err error) { return func() {}, nil }

// tryLockFile locks nothing here: two test binaries may choose the same port, and one of them tries again.
func tryLockFile(string) (unlock func(), ok bool) { return func() {}, true }
