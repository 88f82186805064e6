//go:build !race

package urlcore_test

// raceFactor divides the sizes of inputs whose parsing is timed, under the race detector.
const raceFactor = 1
