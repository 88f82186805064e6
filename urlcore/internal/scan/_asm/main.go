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
	splitPairs()
	gather("gather16", 16, false, false)
	gather("gather32", 32, false, false)
	gather("gather256", 64, false, false)
	gather("gather512", 64, true, false)
	gather("gatherSparse", 64, false, true)
	plane()
	decode()
	locate()
	lzcnt()
	Generate()
}
