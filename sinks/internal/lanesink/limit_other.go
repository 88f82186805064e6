//go:build !unix

package lanesink

func mostOpen() int { return maxOpen }
