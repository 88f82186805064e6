package testproc

import (
	"os"
	"testing"
)

// Missing ends a test for want of something that this machine has not: it skips it, or fails it where the environment variable
// is 1. reason says what there is not, and how to get it.
func Missing(tb testing.TB, variable, reason string) {
	tb.Helper()
	if os.Getenv(variable) == "1" {
		tb.Fatal(reason)
	}
	tb.Skipf("%s (%s=1 makes this a failure)", reason, variable)
}
