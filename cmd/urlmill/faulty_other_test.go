//go:build !unix

package main

// faultyCode has no faults where there are no signals.
func faultyCode() int { return mainCode() }
