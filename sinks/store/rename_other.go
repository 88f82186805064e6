//go:build !linux

package store

import "errors"

func renameExclusive(string, string) error { return errors.ErrUnsupported }
