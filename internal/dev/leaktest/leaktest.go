// Package leaktest finds goroutines that a test leaves behind. It is goleak, but for its patience: goleak gives
// goroutines that are about to end 0.4 s for it, and on a busy machine under the race detector they need longer.
package leaktest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience bounds how long goroutines that are about to end may take.
const patience = time.Minute

// Check fails the test if, when it is over and its clean-up functions that were registered later have run, there are
// goroutines that were not there when Check was called and that opts do not leave out.
func Check(tb testing.TB, opts ...goleak.Option) {
	tb.Helper()
	opts = append(opts, goleak.IgnoreCurrent())
	tb.Cleanup(func() {
		if err := find(patience, opts...); err != nil {
			tb.Error(err)
		}
	})
}

// Main runs the tests of a package, for its TestMain, and fails if they leave goroutines behind.
func Main(m *testing.M, opts ...goleak.Option) {
	code := m.Run()
	if code == 0 {
		if err := find(patience, opts...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func find(patience time.Duration, opts ...goleak.Option) error {
	for deadline := time.Now().Add(patience); ; {
		err := goleak.Find(opts...)
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
