//go:build !unix

package urlcore_test

import "time"

var began = time.Now()

// cpuTime returns how long this process has run.
func cpuTime() time.Duration { return time.Since(began) }
