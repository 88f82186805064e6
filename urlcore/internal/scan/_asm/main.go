// Command _asm generates the assembly of package scan.
//
// It is run with the tag purego, so that it builds when the assembly is missing or broken.
package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("!purego")
	classify512()
	classify256()
	classifyQuery512()
	classifyQuery256()
	splitRows()
	splitWords("splitWordsBMI", listBMI)
	splitWords("splitWords512", list512())
	splitPairs()
	gather("gather16", 16, false)
	gather("gather32", 32, false)
	gather("gather64", 64, false)
	gather("gather128", 128, false)
	gather("gatherSparse", 64, true)
	gatherRows("gatherRows32", 32)
	gatherRows("gatherRows64", 64)
	gatherRows("gatherRows128", 128)
	plane()
	decodePairs()
	locate()
	filterSuffixes()
	lzcnt()
	Generate()
}
