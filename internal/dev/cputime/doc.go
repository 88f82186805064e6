// Package cputime tells tests and benchmarks how much work something was: the time of the CPU, which does not depend on what else the
// machine does.
package cputime
