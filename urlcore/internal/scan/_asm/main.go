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
	gather("gather512", 64)
	gather("gather256", 32)
	locate()
	lzcnt()
	Generate()
}
