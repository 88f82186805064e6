package urlcore

import "unsafe"

// NeedsUnicodeDelta tells tests that x/net's tables are older than the standard's.
const NeedsUnicodeDelta = needsUnicodeDelta

// SameRecord reports whether two URLs are alike to the last offset.
func SameRecord(a, b *URL) bool { return string(a.buf) == string(b.buf) && a.loc == b.loc }

// DescribeRecord returns the offsets of a URL for test output.
func (u *URL) DescribeRecord() any { return u.loc }

// StartsWithDriveLetter gives tests the drive letter check.
func StartsWithDriveLetter(s string) bool { return startsWithDriveLetter([]byte(s)) }

// StringOf returns b as a string without copying it.
func StringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// IsClean reports whether the fast path takes an input.
func IsClean(input []byte) bool { return new(Parser).parseClean(new(URL), input) }
