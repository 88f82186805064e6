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

// splitPairs looks at 57 positions from where a pair begins in each of the three bitmaps.
func splitPairs() {
	TEXT("splitPairsBMI", NOSPLIT, "func(a *byte)")
	Doc("splitPairsBMI is splitPairsGeneric for a *pairsArgs. It checks no bounds; a.rows is at least 1.")
	Pragma("noescape")
	a := Load(Param("a"), GP64())
	arg := func(offset int) Mem { return Mem{Base: a, Disp: offset} }
	row, at, n, pairs, end := GP64(), GP64(), GP64(), GP64(), GP64()
	XORL(row.As32(), row.As32())
	XORL(at.As32(), at.As32())
	XORL(n.As32(), n.As32())
	MOVQ(arg(pairsPairs), pairs)
	amp, equal, start := GP64(), GP64(), GP64()
	MOVQ(arg(pairsAmp), amp)
	MOVQ(arg(pairsEqual), equal)
	MOVQ(arg(pairsStart), start)

	Label("query")
	tmp := GP64()
	MOVQ(arg(pairsEnds), tmp)
	MOVLQSX(Mem{Base: tmp, Index: row, Scale: 4}, end)
	SUBQ(start, end)
	CMPQ(at, end)
	JGE(LabelRef("query_done"))

	Label("pair")
	pairEnd, nameEnd := GP64(), GP64()
	find("amp", amp, at, end, pairEnd)
	CMPQ(pairEnd, at)
	JEQ(LabelRef("pair_done"))
	find("equal", equal, at, pairEnd, nameEnd)

	entry := GP64()
	MOVQ(n, entry)
	SHLQ(U8(4), entry)
	ADDQ(pairs, entry)
	INCQ(n)
	LEAQ(Mem{Base: start, Index: at, Scale: 1}, tmp)
	MOVL(tmp.As32(), Mem{Base: entry})
	LEAQ(Mem{Base: start, Index: nameEnd, Scale: 1}, tmp)
	MOVL(tmp.As32(), Mem{Base: entry, Disp: 4})
	value := GP64()
	LEAQ(Mem{Base: start, Index: pairEnd, Scale: 1}, value)
	MOVL(value.As32(), Mem{Base: entry, Disp: 12})
	INCQ(tmp)
	CMPQ(tmp, value)
	CMOVQGT(value, tmp)
	MOVL(tmp.As32(), Mem{Base: entry, Disp: 8})

	escape, escapeAt := GP64(), GP64()
	MOVQ(arg(pairsEscape), escape)
	find("escape", escape, at, pairEnd, escapeAt)
	CMPQ(escapeAt, pairEnd)
	JLT(LabelRef("escaped"))
	Label("pair_done")
	LEAQ(Mem{Base: pairEnd, Disp: 1}, at)
	CMPQ(at, end)
	JLT(LabelRef("pair"))

	Label("query_done")
	MOVQ(end, at)
	MOVQ(arg(pairsCounts), tmp)
	MOVL(n.As32(), Mem{Base: tmp, Index: row, Scale: 4})
	INCQ(row)
	CMPQ(row, arg(pairsRows))
	JLT(LabelRef("query"))
	MOVQ(n, arg(pairsN))
	RET()

	Label("escaped")
	list, count := GP64(), GP64()
	MOVQ(arg(pairsEscaped), list)
	MOVQ(arg(pairsEscapedN), count)
	LEAQ(Mem{Base: n, Disp: -1}, tmp)
	MOVL(tmp.As32(), Mem{Base: list, Index: count, Scale: 4})
	INCQ(count)
	MOVQ(count, arg(pairsEscapedN))
	JMP(LabelRef("pair_done"))
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
