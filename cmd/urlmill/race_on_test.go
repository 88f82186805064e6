//go:build race

package main

// oneOf is of how many cases of a long table one is run: under the race detector a process takes many times as long to start,
// and what the cases have in common is the same.
const oneOf = 6
