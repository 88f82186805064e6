package main

import (
	"cmp"
	"slices"
)

// allCases are the cases of all formats, by name.
func allCases() []*testCase {
	all := slices.Concat(parquetCases(), arrowCases(), frameCases(), urlCases(), textCases(), stdinCases(), configCases(), recordCases(), topicCases(), enrichCases(), archiveCases())
	slices.SortFunc(all, func(a, b *testCase) int { return cmp.Compare(a.name, b.name) })
	return all
}
