//go:build !unix || aix || netbsd

package cputime

import "time"

var began = time.Now()

// Used returns how long this process has run.
func Used() time.Duration { return time.Since(began) }
