//go:build !linux

package outfile

func renameNoReplace(oldPath, newPath string) error { return linkNoReplace(oldPath, newPath) }
