package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// Fields of locateArgs in dispatch_amd64.go, of eight bytes each.
const (
	argText = 8 * iota
	argEnds
	argRows
	argStart
	argStop
	argDot
	argParts
	argFlags
	argDeclined
	argIrregular
	argHashes
	argPairs
	argWild
	argWithPath
	argHTTPS
	argHTTP
	argMark // bitmap, then its current word, where that is
	argMarkWord
	argMarkAt
	argDirty
	argDirtyWord
	argDirtyAt
	argDeclinedN // results
	argIrregularN
	argSpillStart // of the row in hand
	argSpillDots
	argSpillTLD
)

// locate goes over the rows with the cursors' words in memory and all else in registers.
func locate() {
	TEXT("locateBMI", NOSPLIT, "func(a *byte)")
	Doc("locateBMI is locateGeneric for a *locateArgs. It checks no bounds; a.rows is at least 1.")
	Pragma("noescape")
	a := Load(Param("a"), GP64())
	arg := func(offset int) Mem { return Mem{Base: a, Disp: offset} }
	text, row, end := GP64(), GP64(), GP64()
	MOVQ(arg(argText), text)
	XORL(row.As32(), row.As32())
	XORL(end.As32(), end.As32())
	mark, dirt := GP64(), GP64() // what the cursors are on
	settle("first_mark", a, argMark, mark)
	settle("first_dirt", a, argDirty, dirt)

	Label("row")
	start, tmp, tmp2 := GP64(), GP64(), GP64()
	MOVQ(end, start)
	MOVQ(arg(argEnds), tmp)
	MOVLQSX(Mem{Base: tmp, Index: row, Scale: 4}, end)
	SUBQ(arg(argStart), end)
	LEAQ(Mem{Base: start, Disp: 8}, tmp)
	CMPQ(end, tmp)
	JLT(LabelRef("decline"))

	Comment("The scheme, without a branch that depends on which.")
	host := GP64()
	MOVQ(Mem{Base: text, Index: start, Scale: 1}, tmp)
	XORL(host.As32(), host.As32())
	CMPQ(tmp, arg(argHTTPS))
	SETEQ(host.As8())
	SHLQ(U8(8), tmp)
	XORL(tmp2.As32(), tmp2.As32())
	CMPQ(tmp, arg(argHTTP))
	SETEQ(tmp2.As8())
	ORL(host.As32(), tmp2.As32())
	JZ(LabelRef("decline"))
	LEAQ(Mem{Base: start, Index: host, Scale: 1, Disp: 7}, host)

	Comment("The host ends at the first stop or with the row.")
	hostEnd := GP64()
	MOVQ(host, tmp)
	SHRQ(U8(3), tmp)
	ADDQ(arg(argStop), tmp)
	SHRXQ(lowBits(host, 7), Mem{Base: tmp}, tmp)
	TZCNTQ(tmp, hostEnd)
	ADDQ(host, hostEnd)
	CMPQ(hostEnd, end)
	CMOVQGT(end, hostEnd)
	size := GP64()
	MOVQ(hostEnd, size)
	SUBQ(host, size)
	LEAQ(Mem{Base: size, Disp: -1}, tmp)
	CMPQ(tmp, Imm(55))
	JCC(LabelRef("decline"))

	Comment("Dots before the end of the host, the nearest highest, and a bit for the slash before the host.")
	dots, tld := GP64(), GP64()
	LEAQ(Mem{Base: hostEnd, Disp: 7}, tmp)
	shift := lowBits(tmp, 7)
	SHRQ(U8(3), tmp)
	ADDQ(arg(argDot), tmp)
	SHRXQ(shift, Mem{Base: tmp}, dots)
	SHLQ(U8(7), dots)
	MOVQ(U64(1<<63), tmp)
	SHRXQ(size, tmp, tmp)
	ORQ(tmp, dots)
	LZCNTQ(dots, tld)
	TESTQ(tld, tld)
	JZ(LabelRef("decline"))
	MOVQ(start, arg(argSpillStart))
	MOVQ(dots, arg(argSpillDots))
	MOVQ(tld, arg(argSpillTLD))
	MOVQ(hostEnd, tmp)
	SUBQ(tld, tmp)
	MOVBLZX(Mem{Base: text, Index: tmp, Scale: 1}, tmp.As32())
	SUBL(U8('0'), tmp.As32())
	CMPL(tmp.As32(), U8(9))
	JLS(LabelRef("decline"))

	flags, pathEnd, query, fragment := GP32(), GP64(), GP64(), GP64()
	MOVL(U32(scan.IsURL|scan.HasHost|scan.HasOrigin|scan.HasSuffix), flags)
	MOVQ(end, pathEnd)
	MOVQ(end, query)
	MOVQ(end, fragment)
	JMP(LabelRef("seek_mark"))
	Label("next_mark")
	advance("next_mark", a, argMark, mark)
	Label("seek_mark")
	CMPQ(mark, hostEnd)
	JLT(LabelRef("next_mark"))
	CMPQ(mark, end)
	JGE(LabelRef("marks_done"))
	MOVQ(mark, pathEnd)
	MOVQ(mark, query)
	CMPB(Mem{Base: text, Index: mark, Scale: 1}, U8('?'))
	JNE(LabelRef("fragment"))
	ORL(U8(scan.HasQuery), flags)
	INCQ(query)
	Label("in_query")
	advance("in_query", a, argMark, mark)
	CMPQ(mark, end)
	JGE(LabelRef("marks_done"))
	CMPB(Mem{Base: text, Index: mark, Scale: 1}, U8('#'))
	JNE(LabelRef("in_query"))
	Label("fragment")
	MOVQ(mark, fragment)
	ORL(U32(scan.HasFragment), flags)
	Label("marks_done")

	JMP(LabelRef("seek_dirt"))
	Label("next_dirt")
	advance("next_dirt", a, argDirty, dirt)
	Label("seek_dirt")
	CMPQ(dirt, hostEnd)
	JLT(LabelRef("next_dirt"))
	CMPQ(dirt, end)
	JLT(LabelRef("dirty"))

	CMPQ(hostEnd, pathEnd)
	JEQ(LabelRef("no_path"))
	CMPB(Mem{Base: text, Index: hostEnd, Scale: 1}, U8('/'))
	JNE(LabelRef("decline"))
	Label("write")

	Comment("Positions in the input from here on.")
	parts, base := GP64(), GP64()
	MOVQ(row, parts)
	SHLQ(U8(6), parts)
	ADDQ(arg(argParts), parts)
	MOVQ(arg(argStart), base)
	put := func(word int, position reg.GPVirtual) {
		MOVL(position.As32(), Mem{Base: parts, Disp: 4 * word})
	}
	at := func(position reg.GPVirtual, offset int) reg.GPVirtual {
		sum := GP64()
		LEAQ(Mem{Base: position, Index: base, Scale: 1, Disp: offset}, sum)
		return sum
	}
	put(scan.QueryWord, at(query, 0))
	absHostEnd := at(hostEnd, 0)
	put(scan.HostWord+1, absHostEnd)
	put(scan.OriginWord+1, absHostEnd)
	put(scan.PathWord, absHostEnd)
	put(scan.DomainWord, absHostEnd)
	SUBQ(arg(argSpillTLD), absHostEnd)
	put(scan.SuffixWord, absHostEnd)
	put(scan.PathWord+1, at(pathEnd, 0))
	CMPQ(hostEnd, pathEnd)
	JNE(LabelRef("path_written"))
	root := GP64()
	MOVQ(U64(uint64(scan.Side)|uint64(scan.Side+1)<<32), root)
	MOVQ(root, Mem{Base: parts, Disp: 4 * scan.PathWord})
	Label("path_written")
	absFragment, absEnd := at(fragment, 0), at(end, 0)
	put(scan.HrefWord+1, absEnd)
	put(scan.FragmentWord+1, absEnd)
	put(scan.QueryWord+1, absFragment)
	INCQ(absFragment)
	CMPQ(absFragment, absEnd)
	CMOVQGT(absEnd, absFragment)
	put(scan.FragmentWord, absFragment)
	put(scan.HostWord, at(host, 0))
	put(scan.SchemeWord+1, at(host, -3))
	ADDQ(arg(argSpillStart), base)
	put(scan.HrefWord, base)
	put(scan.SchemeWord, base)
	put(scan.OriginWord, base)

	suffixes(a, text, row, host, hostEnd, flags, parts)
	Label("flags")
	MOVQ(arg(argFlags), tmp)
	MOVB(flags.As8(), Mem{Base: tmp, Index: row, Scale: 1})
	Label("next")
	INCQ(row)
	CMPQ(row, arg(argRows))
	JLT(LabelRef("row"))
	RET()

	Label("no_path")
	CMPQ(arg(argWithPath), Imm(0))
	JEQ(LabelRef("write"))
	Label("decline")
	listRow(a, argDeclined, argDeclinedN, row)
	JMP(LabelRef("next"))

	Label("decline_dirty")
	MOVQ(row, tmp)
	NOTQ(tmp)
	listRow(a, argDeclined, argDeclinedN, tmp)
	JMP(LabelRef("next"))

	Label("dirty")
	Comment("Plus signs, and percent signs that do not begin %2e, are no dot segments.")
	MOVBLZX(Mem{Base: text, Index: dirt, Scale: 1}, tmp.As32())
	CMPL(tmp.As32(), U8('+'))
	JEQ(LabelRef("next_dirt"))
	CMPL(tmp.As32(), U8('%'))
	JNE(LabelRef("decline_dirty"))
	LEAQ(Mem{Base: dirt, Disp: 3}, tmp)
	CMPQ(tmp, end)
	JGT(LabelRef("next_dirt"))
	MOVWLZX(Mem{Base: text, Index: dirt, Scale: 1, Disp: 1}, tmp.As32())
	ORL(U32(0x2000), tmp.As32())
	CMPL(tmp.As32(), U32('2'|'e'<<8))
	JNE(LabelRef("next_dirt"))
	JMP(LabelRef("decline_dirty"))

	Label("irregular")
	hash := GP64()
	MOVQ(U32(1), hash)
	listSuffix(a, row, hash)
	JMP(LabelRef("flags"))
}

// suffixes sets the domain to the last two labels and lists the row, and the hash of the labels, for filterSuffixes.
func suffixes(a, text reg.Register, row, host, hostEnd, flags, parts reg.GPVirtual) {
	pairs := GP64()
	MOVQ(Mem{Base: a, Disp: argPairs}, pairs)
	TESTQ(pairs, pairs)
	JZ(LabelRef("flags"))
	tld, tmp := GP64(), GP64()
	MOVQ(Mem{Base: a, Disp: argSpillTLD}, tld)
	MOVQ(hostEnd, tmp)
	SUBQ(host, tmp)
	CMPQ(tld, tmp)
	JGE(LabelRef("flags"))
	ORL(U8(scan.HasDomain), flags)
	label, labelEnd := GP64(), GP64()
	LEAQ(Mem{Base: tld, Disp: 1}, labelEnd)
	SHLXQ(labelEnd, Mem{Base: a, Disp: argSpillDots}, label)
	LZCNTQ(label, label)
	NEGQ(labelEnd)
	ADDQ(hostEnd, labelEnd)
	MOVQ(labelEnd, tmp)
	SUBQ(label, tmp)
	ADDQ(Mem{Base: a, Disp: argStart}, tmp)
	MOVL(tmp.As32(), Mem{Base: parts, Disp: 4 * scan.DomainWord})
	CMPB(Mem{Base: text, Index: host, Scale: 1}, U8('.'))
	JEQ(LabelRef("irregular"))
	TESTQ(label, label)
	JZ(LabelRef("irregular"))
	tail := func(end, size reg.GPVirtual) reg.GPVirtual {
		drop, word, zero := GP64(), GP64(), GP64()
		XORL(zero.As32(), zero.As32())
		MOVQ(U32(8), drop)
		SUBQ(size, drop)
		CMOVQMI(zero, drop)
		SHLQ(U8(3), drop)
		SHRXQ(drop, Mem{Base: text, Index: end, Scale: 1, Disp: -8}, word)
		return word
	}
	// The hash functions are those of scan.SuffixFilter.
	hash := tail(hostEnd, tld)
	ADDQ(tld, hash)
	factor := GP64()
	MOVQ(U64(hashTLD), factor)
	IMULQ(factor, hash)
	pair := tail(labelEnd, label)
	RORXQ(U8(64-7), pair, pair)
	ADDQ(label, pair)
	XORQ(hash, pair)
	MOVQ(U64(hashPair), factor)
	IMULQ(factor, pair)

	Comment("The lowest bit of the hash tells that everything below the last label is irregular.")
	word, bit := GP64(), GP64()
	MOVQ(hash, bit)
	SHRQ(U8(wildShift), bit)
	MOVQ(Mem{Base: a, Disp: argWild}, word)
	MOVQ(Mem{Base: word, Index: bit, Scale: 8}, word)
	SHRQ(U8(wildBit), hash)
	SHRXQ(hash, word, word)
	ANDL(U8(1), word.As32())
	ANDQ(I8(-2), pair)
	ORQ(word, pair)
	listSuffix(a, row, pair)
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

// lowBits returns r&mask in a register of its own.
func lowBits(r reg.GPVirtual, mask int) reg.GPVirtual {
	low := GP64()
	MOVQ(r, low)
	ANDL(Imm(uint64(mask)), low.As32())
	return low
}

// settle puts a cursor, whose word and where that is are in memory, on the word's lowest bit or the next one.
func settle(name string, a reg.Register, cursor int, at reg.GPVirtual) {
	word, where := GP64(), GP64()
	MOVQ(Mem{Base: a, Disp: cursor}, where)
	MOVQ(Mem{Base: where}, word)
	settleWord(name, a, cursor, at, word, where)
}

// advance puts a cursor on the next bit.
func advance(name string, a reg.Register, cursor int, at reg.GPVirtual) {
	word, where := GP64(), GP64()
	MOVQ(Mem{Base: a, Disp: cursor + 8}, word)
	MOVQ(Mem{Base: a, Disp: cursor + 16}, where)
	BLSRQ(word, word)
	settleWord(name, a, cursor, at, word, where)
}

func settleWord(name string, a reg.Register, cursor int, at, word, where reg.GPVirtual) {
	JMP(LabelRef(name + "_test"))
	Label(name + "_word")
	ADDQ(U8(8), where)
	MOVQ(Mem{Base: where}, word)
	Label(name + "_test")
	TESTQ(word, word)
	JZ(LabelRef(name + "_word"))
	MOVQ(word, Mem{Base: a, Disp: cursor + 8})
	MOVQ(where, Mem{Base: a, Disp: cursor + 16})
	TZCNTQ(word, at)
	SUBQ(Mem{Base: a, Disp: cursor}, where)
	LEAQ(Mem{Base: at, Index: where, Scale: 8}, at)
}

// listRow appends the row to a list.
func listRow(a reg.Register, list, count int, row reg.GPVirtual) {
	to, n := GP64(), GP64()
	MOVQ(Mem{Base: a, Disp: list}, to)
	MOVQ(Mem{Base: a, Disp: count}, n)
	MOVL(row.As32(), Mem{Base: to, Index: n, Scale: 4})
	INCQ(n)
	MOVQ(n, Mem{Base: a, Disp: count})
}

// lzcnt makes the check for LZCNT.
func lzcnt() {
	TEXT("hasLZCNT", NOSPLIT, "func() bool")
	Doc("hasLZCNT asks the CPU for the instruction LZCNT, of which package cpu does not tell.")
	MOVL(U32(0x80000001), reg.EAX)
	XORL(reg.ECX, reg.ECX)
	CPUID()
	SHRL(U8(5), reg.ECX)
	ANDL(U8(1), reg.ECX)
	Store(reg.CL, ReturnIndex(0))
	RET()
}
