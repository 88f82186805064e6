package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// suffixes sets the domain to the last two labels and lists the row, and the hash of the labels, for filterSuffixes.
func (l *locator) suffixes(parts reg.GPVirtual) {
	pairs := GP64()
	MOVQ(l.arg(argPairs), pairs)
	TESTQ(pairs, pairs)
	JZ(LabelRef("flags"))
	tld, tmp := GP64(), GP64()
	MOVQ(l.arg(argSpillTLD), tld)
	MOVQ(l.hostEnd, tmp)
	SUBQ(l.host, tmp)
	CMPQ(tld, tmp)
	JGE(LabelRef("flags"))
	ORL(U8(scan.HasDomain), l.flags)
	label, labelEnd := GP64(), GP64()
	LEAQ(Mem{Base: tld, Disp: 1}, labelEnd)
	SHLXQ(labelEnd, l.arg(argSpillDots), label)
	LZCNTQ(label, label)
	NEGQ(labelEnd)
	ADDQ(l.hostEnd, labelEnd)
	MOVQ(labelEnd, tmp)
	SUBQ(label, tmp)
	ADDQ(l.arg(argStart), tmp)
	MOVL(tmp.As32(), Mem{Base: parts, Disp: 4 * scan.DomainWord})
	CMPB(Mem{Base: l.text, Index: l.host, Scale: 1}, U8('.'))
	JEQ(LabelRef("irregular"))
	TESTQ(label, label)
	JZ(LabelRef("irregular"))
	// The hash functions are those of scan.SuffixFilter.
	hash := l.tail(l.hostEnd, tld)
	ADDQ(tld, hash)
	factor := GP64()
	MOVQ(U64(hashTLD), factor)
	IMULQ(factor, hash)
	pair := l.tail(labelEnd, label)
	RORXQ(U8(64-7), pair, pair)
	ADDQ(label, pair)
	XORQ(hash, pair)
	MOVQ(U64(hashPair), factor)
	IMULQ(factor, pair)

	Comment("The lowest bit of the hash tells that everything below the last label is irregular.")
	word, bit := GP64(), GP64()
	MOVQ(hash, bit)
	SHRQ(U8(wildShift), bit)
	MOVQ(l.arg(argWild), word)
	MOVQ(Mem{Base: word, Index: bit, Scale: 8}, word)
	SHRQ(U8(wildBit), hash)
	SHRXQ(hash, word, word)
	ANDL(U8(1), word.As32())
	ANDQ(I8(-2), pair)
	ORQ(word, pair)
	listSuffix(l.a, l.row, pair)
}

// tail returns the last eight bytes, or as many as size, before end, in a register of their own.
func (l *locator) tail(end, size reg.GPVirtual) reg.GPVirtual {
	drop, word, zero := GP64(), GP64(), GP64()
	XORL(zero.As32(), zero.As32())
	MOVQ(U32(8), drop)
	SUBQ(size, drop)
	CMOVQMI(zero, drop)
	SHLQ(U8(3), drop)
	SHRXQ(drop, Mem{Base: l.text, Index: end, Scale: 1, Disp: -8}, word)
	return word
}

// listSuffix appends a row and the hash of its suffix to the lists.
func listSuffix(a reg.Register, row, hash reg.GPVirtual) {
	n, to := GP64(), GP64()
	MOVQ(Mem{Base: a, Disp: argIrregularN}, n)
	MOVQ(Mem{Base: a, Disp: argIrregular}, to)
	MOVL(row.As32(), Mem{Base: to, Index: n, Scale: 4})
	MOVQ(Mem{Base: a, Disp: argHashes}, to)
	MOVQ(hash, Mem{Base: to, Index: n, Scale: 8})
	INCQ(n)
	MOVQ(n, Mem{Base: a, Disp: argIrregularN})
}

// filterSuffixes is apart from locate, in a loop so short that many rows wait for their word of the filter together, and
// it has no branch that depends on what it finds.
func filterSuffixes() {
	const name = "filterSuffixesBMI"
	TEXT(name, NOSPLIT, "func(rows *int32, hashes *uint64, n int, pairs *uint64) int")
	Doc(name+" keeps those of n rows, in place, whose hash is in the filter or has the lowest bit, and returns how many there",
		"are. It checks no bounds. n is at least 1.")
	Pragma("noescape")
	rows, hashes := Load(Param("rows"), GP64()), Load(Param("hashes"), GP64())
	n, pairs := Load(Param("n"), GP64()), Load(Param("pairs"), GP64())
	to, row, hash, word, first, bit := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	from := GP64()
	MOVQ(rows, to)
	MOVQ(rows, from)
	Label(name + "_loop")
	MOVQ(Mem{Base: hashes}, hash)
	MOVL(Mem{Base: from}, row.As32())
	MOVL(row.As32(), Mem{Base: to})
	MOVQ(hash, bit)
	SHRQ(U8(pairShift), bit)
	MOVQ(Mem{Base: pairs, Index: bit, Scale: 8}, word)
	RORXQ(U8(pairBit1), hash, bit)
	SHRXQ(bit, word, first)
	RORXQ(U8(pairBit2), hash, bit)
	SHRXQ(bit, word, word)
	ANDQ(first, word)
	ORQ(hash, word)
	ANDL(U8(1), word.As32())
	LEAQ(Mem{Base: to, Index: word, Scale: 4}, to)
	ADDQ(U8(8), hashes)
	ADDQ(U8(4), from)
	DECQ(n)
	JNZ(LabelRef(name + "_loop"))
	SUBQ(rows, to)
	SHRQ(U8(2), to)
	Store(to, ReturnIndex(0))
	RET()
}

// The constants of scan.SuffixFilter, which a test compares.
const (
	hashTLD  = 0x9E3779B97F4A7C15
	hashPair = 0xD6E8FEB86659FD93

	pairShift, pairBit1, pairBit2 = 64 - 11, 40, 34
	wildShift, wildBit            = 58, 52
)
