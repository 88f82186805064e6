// Command _asm generates the assembly of package scan.
//
// It is run with the tag purego, so that it builds when the assembly is missing or broken.
package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("!purego")
	classify512("classify512", false)
	classify512("classifyParams512", true)
	classify256("classify256", false)
	classify256("classifyParams256", true)
	gather("gather512", 64)
	gather("gather256", 32)
	Generate()
}
