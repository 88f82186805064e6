//go:build !unix

package filesink

func mostOpen() int { return maxOpen }
