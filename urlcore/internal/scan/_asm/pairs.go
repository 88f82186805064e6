package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Fields of pairsArgs in dispatch_amd64.go, of eight bytes each.
const (
	pairsEnds = 8 * iota
	pairsRows
	pairsStart
	pairsAmp
	pairsEqual
	pairsEscape
	pairsPairs
	pairsCounts
	pairsEscaped
	pairsN // results
	pairsEscapedN
)

// splitPairs looks at 57 positions, from where a pair begins, of each of the three bitmaps, and has a second way for
// pairs that are longer.
func splitPairs() {
	const window = 57
	TEXT("splitPairsBMI", NOSPLIT, "func(a *byte)")
	Doc("splitPairsBMI is splitPairsGeneric for a *pairsArgs. It checks no bounds; a.rows is at least 1.")
	Pragma("noescape")
	a := Load(Param("a"), GP64())
	arg := func(offset int) Mem { return Mem{Base: a, Disp: offset} }
	row, at, entry, end := GP64(), GP64(), GP64(), GP64()
	XORL(row.As32(), row.As32())
	XORL(at.As32(), at.As32())
	MOVQ(arg(pairsPairs), entry)
	amp, stride, start, escaped := GP64(), GP64(), GP64(), GP64()
	MOVQ(arg(pairsAmp), amp)
	MOVQ(arg(pairsEqual), stride)
	SUBQ(amp, stride)
	MOVQ(arg(pairsStart), start)
	MOVQ(arg(pairsEscaped), escaped)

	Label("query")
	tmp := GP64()
	MOVQ(arg(pairsEnds), tmp)
	MOVLQSX(Mem{Base: tmp, Index: row, Scale: 4}, end)
	SUBQ(start, end)
	CMPQ(at, end)
	JGE(LabelRef("query_done"))

	Label("pair")
	where, pairEnd, nameEnd, escapes := GP64(), GP64(), GP64(), GP64()
	low := lowBits(at, 7)
	MOVQ(at, where)
	SHRQ(U8(3), where)
	ADDQ(amp, where)
	SHRXQ(low, Mem{Base: where}, pairEnd)
	SHRXQ(low, Mem{Base: where, Index: stride, Scale: 1}, nameEnd)
	SHRXQ(low, Mem{Base: where, Index: stride, Scale: 2}, escapes)
	TZCNTQ(pairEnd, pairEnd)
	Comment("From here on relative to where the pair begins.")
	left := GP64()
	MOVQ(end, left)
	SUBQ(at, left)
	CMPQ(pairEnd, left)
	CMOVQGT(left, pairEnd)
	CMPQ(pairEnd, U8(window))
	JGT(LabelRef("long"))
	TESTQ(pairEnd, pairEnd)
	JZ(LabelRef("pair_done"))
	TZCNTQ(nameEnd, nameEnd)
	CMPQ(nameEnd, pairEnd)
	CMOVQGT(pairEnd, nameEnd)
	BZHIQ(pairEnd, escapes, escapes)

	Label("store")
	abs := GP64()
	MOVQ(entry, tmp)
	SUBQ(arg(pairsPairs), tmp)
	SHRQ(U8(4), tmp)
	Comment("The number is written always, and stays when there are escapes.")
	MOVL(tmp.As32(), Mem{Base: escaped})
	XORL(tmp.As32(), tmp.As32())
	TESTQ(escapes, escapes)
	SETNE(tmp.As8())
	LEAQ(Mem{Base: escaped, Index: tmp, Scale: 4}, escaped)
	LEAQ(Mem{Base: start, Index: at, Scale: 1}, abs)
	MOVL(abs.As32(), Mem{Base: entry})
	ADDQ(abs, nameEnd)
	MOVL(nameEnd.As32(), Mem{Base: entry, Disp: 4})
	ADDQ(pairEnd, abs)
	MOVL(abs.As32(), Mem{Base: entry, Disp: 12})
	INCQ(nameEnd)
	CMPQ(nameEnd, abs)
	CMOVQGT(abs, nameEnd)
	MOVL(nameEnd.As32(), Mem{Base: entry, Disp: 8})
	ADDQ(U8(16), entry)
	Label("pair_done")
	LEAQ(Mem{Base: at, Index: pairEnd, Scale: 1, Disp: 1}, at)
	CMPQ(at, end)
	JLT(LabelRef("pair"))

	Label("query_done")
	MOVQ(end, at)
	count := GP64()
	MOVQ(entry, count)
	SUBQ(arg(pairsPairs), count)
	SHRQ(U8(4), count)
	MOVQ(arg(pairsCounts), tmp)
	MOVL(count.As32(), Mem{Base: tmp, Index: row, Scale: 4})
	INCQ(row)
	CMPQ(row, arg(pairsRows))
	JLT(LabelRef("query"))
	MOVQ(count, arg(pairsN))
	SUBQ(arg(pairsEscaped), escaped)
	SHRQ(U8(2), escaped)
	MOVQ(escaped, arg(pairsEscapedN))
	RET()

	Label("long")
	bitmap := GP64()
	find("amp", amp, at, end, pairEnd)
	MOVQ(arg(pairsEqual), bitmap)
	find("equal", bitmap, at, pairEnd, nameEnd)
	MOVQ(arg(pairsEscape), bitmap)
	find("escape", bitmap, at, pairEnd, escapes)
	SUBQ(pairEnd, escapes) // zero without any
	SUBQ(at, nameEnd)
	SUBQ(at, pairEnd)
	JMP(LabelRef("store"))
}

// find sets result to the position of the first bit of a bitmap from from on and before limit, else to limit.
func find(name string, bitmap, from, limit, result reg.GPVirtual) {
	where, word := GP64(), GP64()
	low := lowBits(from, 7)
	MOVQ(from, result)
	MOVQ(from, where)
	SHRQ(U8(3), where)
	SHRXQ(low, Mem{Base: bitmap, Index: where, Scale: 1}, word)
	TESTQ(word, word)
	JZ(LabelRef(name + "_more"))
	Label(name + "_found")
	TZCNTQ(word, word)
	ADDQ(word, result)
	Label(name + "_limit")
	CMPQ(result, limit)
	CMOVQGT(limit, result)
	JMP(LabelRef(name + "_done"))

	Label(name + "_more")
	Comment("On to the next whole bytes of the bitmap.")
	ADDQ(U8(8), where)
	MOVQ(where, result)
	SHLQ(U8(3), result)
	CMPQ(result, limit)
	JGE(LabelRef(name + "_limit"))
	MOVQ(Mem{Base: bitmap, Index: where, Scale: 1}, word)
	TESTQ(word, word)
	JZ(LabelRef(name + "_more"))
	JMP(LabelRef(name + "_found"))
	Label(name + "_done")
}
