//go:build race

package urlcore_test

// raceFactor divides the sizes of inputs whose parsing is timed: the race detector makes it much slower.
const raceFactor = 8
