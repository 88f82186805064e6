//go:build !unix

package dbtest

import (
	"syscall"
	"testing"
)

func attributes(testing.TB, string) func() *syscall.SysProcAttr {
	return func() *syscall.SysProcAttr { return nil }
}
