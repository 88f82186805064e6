package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// splitRows sets a bit for the end of every row. The word in hand is written again for every row, so that nothing
// waits for what was written before, and no branch depends on where rows end.
func splitRows() {
	const name = "splitRowsBMI"
	TEXT(name, NOSPLIT, "func(bitmap *byte, ends *int32, n, start int)")
	Doc(name+" sets the bit of every number of ends, n of them, less start, in a bitmap of zeros. The numbers ascend. It checks",
		"no bounds. n is at least 1.")
	Pragma("noescape")
	bitmap, ends := Load(Param("bitmap"), GP64()), Load(Param("ends"), GP64())
	n, start := Load(Param("n"), GP64()), Load(Param("start"), GP64()).(reg.GPVirtual)
	word, index, zero, one := GP64(), GP64(), GP64(), GP64()
	XORL(word.As32(), word.As32())
	XORL(index.As32(), index.As32())
	XORL(zero.As32(), zero.As32())
	MOVL(U32(1), one.As32())
	Label(name + "_loop")
	end, at, bit := GP64(), GP64(), GP64()
	MOVL(Mem{Base: ends}, end.As32())
	SUBL(start.As32(), end.As32())
	MOVL(end.As32(), at.As32())
	SHRL(U8(6), at.As32())
	CMPQ(at, index)
	CMOVQNE(zero, word)
	MOVQ(at, index)
	SHLXQ(end, one, bit)
	ORQ(bit, word)
	MOVQ(word, Mem{Base: bitmap, Index: index, Scale: 8})
	ADDQ(U8(4), ends)
	DECQ(n)
	JNZ(LabelRef(name + "_loop"))
	RET()
}

// Fields of wordsArgs in dispatch_amd64.go, of eight bytes each.
const (
	wordsAmp = 8 * iota
	wordsRows
	wordsEscape
	wordsBegin
	wordsBefore
	wordsStarts
	wordsEnds
	wordsN
)

// splitWords makes bitmaps of where pairs begin and of where they end, whose n-th bits belong together, and lists of
// their positions. list makes the list of the bits of a word.
func splitWords(name string, list func(name string, word, at reg.GPVirtual, to reg.GPVirtual)) {
	TEXT(name, NOSPLIT, "func(a *byte) int")
	Doc(name+" takes a.n words of the bitmaps of ampersands and of ends of rows. It makes the bitmap of the bytes that pairs begin",
		"with, and lists these positions and where the pairs end, one pair fewer than the result, since there is a last beginning",
		"behind the text. a.before gets how many beginnings and escapes there are before each word. Up to 16 numbers too",
		"much are written. It checks no bounds. a.n is at least 1.")
	Pragma("noescape")
	a := Load(Param("a"), GP64())
	arg := func(offset int) Mem { return Mem{Base: a, Disp: offset} }
	field := func(offset int) reg.GPVirtual {
		r := GP64()
		MOVQ(arg(offset), r)
		return r
	}
	amps, before, starts, ends := field(wordsAmp), field(wordsBefore), field(wordsStarts), field(wordsEnds)
	carry, w, begun, escaped := GP64(), GP64(), GP64(), GP64()
	MOVL(U32(1), carry.As32())
	XORL(w.As32(), w.As32())
	XORL(begun.As32(), begun.As32())
	XORL(escaped.As32(), escaped.As32())

	Label(name + "_loop")
	amp, row, behind, begin, tmp := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(Mem{Base: amps, Index: w, Scale: 8}, amp)
	MOVQ(arg(wordsRows), tmp)
	MOVQ(Mem{Base: tmp, Index: w, Scale: 8}, row)
	LEAQ(Mem{Base: carry, Index: amp, Scale: 2}, behind)
	MOVQ(amp, carry)
	SHRQ(U8(63), carry)
	MOVQ(behind, begin)
	ORQ(row, begin)
	ANDNQ(begin, amp, begin)
	ORQ(amp, row)
	ANDNQ(row, behind, row)

	MOVL(begun.As32(), Mem{Base: before, Index: w, Scale: 8})
	MOVL(escaped.As32(), Mem{Base: before, Index: w, Scale: 8, Disp: 4})
	MOVQ(arg(wordsEscape), tmp)
	POPCNTQ(Mem{Base: tmp, Index: w, Scale: 8}, tmp)
	ADDL(tmp.As32(), escaped.As32())
	MOVQ(arg(wordsBegin), tmp)
	MOVQ(begin, Mem{Base: tmp, Index: w, Scale: 8})
	at := GP64()
	MOVQ(w, at)
	SHLQ(U8(6), at)
	POPCNTQ(begin, tmp)
	ADDL(tmp.As32(), begun.As32())
	list(name+"_begin", begin, at, starts)
	list(name+"_end", row, at, ends)
	INCQ(w)
	CMPQ(w, arg(wordsN))
	JLT(LabelRef(name + "_loop"))
	Comment("Of words too: what is behind the last.")
	MOVL(begun.As32(), Mem{Base: before, Index: w, Scale: 8})
	MOVL(escaped.As32(), Mem{Base: before, Index: w, Scale: 8, Disp: 4})
	VZEROUPPER()
	Store(begun, ReturnIndex(0))
	RET()
}

// listBMI writes eight positions whatever there are, so that few words take a branch that depends on it.
func listBMI(name string, word, at, to reg.GPVirtual) {
	n, next, bit := GP64(), GP64(), GP64()
	POPCNTQ(word, n)
	LEAQ(Mem{Base: to, Index: n, Scale: 4}, next)
	const step = 8
	for i := range step {
		TZCNTQ(word, bit)
		ADDL(at.As32(), bit.As32())
		MOVL(bit.As32(), Mem{Base: to, Disp: 4 * i})
		BLSRQ(word, word)
	}
	CMPQ(n, U8(step))
	JLE(LabelRef(name + "_listed"))
	Label(name + "_more")
	ADDQ(U8(4), to)
	TZCNTQ(word, bit)
	ADDL(at.As32(), bit.As32())
	MOVL(bit.As32(), Mem{Base: to, Disp: 4 * (step - 1)})
	BLSRQ(word, word)
	JNZ(LabelRef(name + "_more"))
	Label(name + "_listed")
	MOVQ(next, to)
}

// list512 brings the numbers of the bits together, and 16 of them to 32 bits at a time.
func list512() func(name string, word, at, to reg.GPVirtual) {
	table := GLOBL("numbers", RODATA|NOPTR)
	for i := range 64 {
		DATA(i, U8(i))
	}
	numbers := reg.VecVirtual(nil)
	return func(name string, word, at, to reg.GPVirtual) {
		if numbers == nil {
			numbers = ZMM()
		}
		VMOVDQU64(table, numbers)
		k, packed, base, n := K(), ZMM(), ZMM(), GP64()
		KMOVQ(word, k)
		compress(numbers, k, packed)
		VPBROADCASTD(at.As32(), base)
		POPCNTQ(word, n)
		wide := ZMM()
		VPMOVZXBD(packed.AsX(), wide)
		VPADDD(base, wide, wide)
		VMOVDQU32(wide, Mem{Base: to})
		CMPQ(n, U8(16))
		JLE(LabelRef(name + "_listed"))
		Comment("Words of so many are rare.")
		next := GP64()
		LEAQ(Mem{Base: to, Index: n, Scale: 4}, next)
		Label(name + "_more")
		ADDQ(I8(64), to)
		VALIGNQ(U8(2), packed, packed, packed)
		VPMOVZXBD(packed.AsX(), wide)
		VPADDD(base, wide, wide)
		VMOVDQU32(wide, Mem{Base: to})
		SUBQ(U8(16), n)
		CMPQ(n, U8(16))
		JGT(LabelRef(name + "_more"))
		Label(name + "_listed")
		LEAQ(Mem{Base: to, Index: n, Scale: 4}, to)
	}
}

// Fields of pairsArgs in dispatch_amd64.go, of eight bytes each.
const (
	pairsStarts = 8 * iota
	pairsEnds
	pairsN
	pairsEqual
	pairsEscape
	pairsBefore
	pairsPairs
	pairsEscaped
	pairsBegin
	pairsRowEnds
	pairsRows
	pairsStart
	pairsCounts
	pairsFirst
	pairsFound // result
)

// splitPairs looks for the end of the name in 57 positions from where a pair begins on, and has a second way for longer
// names. Whether something is escaped follows from how many escapes there are before the ends of this pair and of the
// one before.
func splitPairs() {
	const name, window = "splitPairsBMI", 57
	TEXT(name, NOSPLIT, "func(a *byte)")
	Doc(name+" makes the pairs from where they begin and end, and counts those of each row, for a *pairsArgs. It checks no bounds;",
		"a.n and a.rows are at least 1.")
	Pragma("noescape")
	a := Load(Param("a"), GP64())
	arg := func(offset int) Mem { return Mem{Base: a, Disp: offset} }
	field := func(offset int) reg.GPVirtual {
		r := GP64()
		MOVQ(arg(offset), r)
		return r
	}
	starts, ends, equal, escape, before := field(pairsStarts), field(pairsEnds), field(pairsEqual), field(pairsEscape), field(pairsBefore)
	pairs, escaped := field(pairsPairs), field(pairsEscaped)
	i, seen := GP64(), GP64()
	XORL(i.As32(), i.As32())
	XORL(seen.As32(), seen.As32())

	Label(name + "_pair")
	start, end, nameEnd, where, low := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVL(Mem{Base: starts, Index: i, Scale: 4}, start.As32())
	MOVL(Mem{Base: ends, Index: i, Scale: 4}, end.As32())
	MOVL(start.As32(), where.As32())
	MOVL(start.As32(), low.As32())
	SHRL(U8(3), where.As32())
	ANDL(U8(7), low.As32())
	SHRXQ(low, Mem{Base: equal, Index: where, Scale: 1}, nameEnd)
	TZCNTQ(nameEnd, nameEnd)
	ADDQ(start, nameEnd)
	CMPQ(nameEnd, end)
	CMOVQGT(end, nameEnd)
	LEAQ(Mem{Base: start, Disp: window}, low)
	CMPQ(nameEnd, low)
	JGT(LabelRef(name + "_long"))

	Label(name + "_store")
	MOVL(start.As32(), Mem{Base: pairs})
	MOVL(nameEnd.As32(), Mem{Base: pairs, Disp: 4})
	MOVL(end.As32(), Mem{Base: pairs, Disp: 12})
	ADDL(U8(1), nameEnd.As32())
	CMPL(nameEnd.As32(), end.As32())
	CMOVLGT(end.As32(), nameEnd.As32())
	MOVL(nameEnd.As32(), Mem{Base: pairs, Disp: 8})
	ADDQ(U8(16), pairs)
	Comment("The number is written always, and stays when there are escapes.")
	MOVL(i.As32(), Mem{Base: escaped})
	MOVL(end.As32(), where.As32())
	SHRL(U8(6), where.As32())
	ANDL(U8(63), end.As32())
	BZHIQ(end, Mem{Base: escape, Index: where, Scale: 8}, low)
	POPCNTQ(low, low)
	ADDL(Mem{Base: before, Index: where, Scale: 8, Disp: 4}, low.As32())
	XORL(where.As32(), where.As32())
	CMPL(low.As32(), seen.As32())
	SETNE(where.As8())
	LEAQ(Mem{Base: escaped, Index: where, Scale: 4}, escaped)
	MOVL(low.As32(), seen.As32())
	INCQ(i)
	CMPQ(i, arg(pairsN))
	JLT(LabelRef(name + "_pair"))
	SUBQ(arg(pairsEscaped), escaped)
	SHRQ(U8(2), escaped)
	MOVQ(escaped, arg(pairsFound))

	countPairs(name, field, end, where, low, before)
	RET()

	longName(name, start, end, nameEnd, where, low, equal)
}

// countPairs is the second loop of splitPairs, over the rows.
func countPairs(name string, field func(offset int) reg.GPVirtual, end, where, low, before reg.GPVirtual) {
	Comment("How many pairs begin before the end of each row.")
	begin, rowEnds, rows, counts, first := field(pairsBegin), field(pairsRowEnds), field(pairsRows), field(pairsCounts), field(pairsFirst)
	text := field(pairsStart)
	Label(name + "_row")
	MOVL(Mem{Base: rowEnds}, end.As32())
	SUBL(text.As32(), end.As32())
	MOVL(end.As32(), where.As32())
	SHRL(U8(6), where.As32())
	ANDL(U8(63), end.As32())
	BZHIQ(end, Mem{Base: begin, Index: where, Scale: 8}, low)
	POPCNTQ(low, low)
	ADDL(first.As32(), low.As32())
	ADDL(Mem{Base: before, Index: where, Scale: 8}, low.As32())
	MOVL(low.As32(), Mem{Base: counts})
	ADDQ(U8(4), rowEnds)
	ADDQ(U8(4), counts)
	DECQ(rows)
	JNZ(LabelRef(name + "_row"))
}

// longName is the second way of splitPairs.
func longName(name string, start, end, nameEnd, where, low, equal reg.GPVirtual) {
	Label(name + "_long")
	Comment("On to the next whole bytes of the bitmap, until the pair ends.")
	MOVL(start.As32(), where.As32())
	SHRL(U8(3), where.As32())
	Label(name + "_more")
	ADDQ(U8(7), where)
	MOVQ(where, nameEnd)
	SHLQ(U8(3), nameEnd)
	CMPQ(nameEnd, end)
	JGE(LabelRef(name + "_limit"))
	MOVQ(Mem{Base: equal, Index: where, Scale: 1}, low)
	TESTQ(low, low)
	JZ(LabelRef(name + "_skip"))
	TZCNTQ(low, low)
	ADDQ(low, nameEnd)
	Label(name + "_limit")
	CMPQ(nameEnd, end)
	CMOVQGT(end, nameEnd)
	JMP(LabelRef(name + "_store"))
	Label(name + "_skip")
	INCQ(where)
	JMP(LabelRef(name + "_more"))
}
