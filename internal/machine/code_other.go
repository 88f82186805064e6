//go:build !linux

package machine

// CodeSize returns how much of the executable can be in memory, in bytes.
func CodeSize() int64 { return unknownCode }
