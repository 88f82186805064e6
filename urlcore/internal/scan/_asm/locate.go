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

// locator has the registers of locate.
type locator struct {
	a               reg.Register // the *locateArgs
	text, row, end  reg.GPVirtual
	mark, dirt      reg.GPVirtual // what the cursors are on
	start           reg.GPVirtual // of the row, which ends at end
	host, hostEnd   reg.GPVirtual
	size            reg.GPVirtual // of the host
	flags           reg.GPVirtual
	pathEnd         reg.GPVirtual
	query, fragment reg.GPVirtual // where they begin, and the end of the row where there is none
	tmp, tmp2       reg.GPVirtual
}

func (l *locator) arg(offset int) Mem { return Mem{Base: l.a, Disp: offset} }

// locate goes over the rows with the cursors' words in memory and all else in registers.
func locate() {
	TEXT("locateBMI", NOSPLIT, "func(a *byte)")
	Doc("locateBMI is locateGeneric for a *locateArgs. It checks no bounds; a.rows is at least 1.")
	Pragma("noescape")
	l := &locator{a: Load(Param("a"), GP64())}
	l.text, l.row, l.end = GP64(), GP64(), GP64()
	MOVQ(l.arg(argText), l.text)
	XORL(l.row.As32(), l.row.As32())
	XORL(l.end.As32(), l.end.As32())
	l.mark, l.dirt = GP64(), GP64()
	settle("first_mark", l.a, argMark, l.mark)
	settle("first_dirt", l.a, argDirty, l.dirt)

	Label("row")
	l.start, l.tmp, l.tmp2 = GP64(), GP64(), GP64()
	MOVQ(l.end, l.start)
	MOVQ(l.arg(argEnds), l.tmp)
	MOVLQSX(Mem{Base: l.tmp, Index: l.row, Scale: 4}, l.end)
	SUBQ(l.arg(argStart), l.end)
	LEAQ(Mem{Base: l.start, Disp: 8}, l.tmp)
	CMPQ(l.end, l.tmp)
	JLT(LabelRef("decline"))
	l.findHost()
	l.findDots()
	l.findMarks()
	l.checkDirt()
	CMPQ(l.hostEnd, l.pathEnd)
	JEQ(LabelRef("no_path"))
	CMPB(Mem{Base: l.text, Index: l.hostEnd, Scale: 1}, U8('/'))
	JNE(LabelRef("decline"))
	Label("write")
	parts := l.write()
	l.suffixes(parts)
	Label("flags")
	MOVQ(l.arg(argFlags), l.tmp)
	MOVB(l.flags.As8(), Mem{Base: l.tmp, Index: l.row, Scale: 1})
	Label("next")
	INCQ(l.row)
	CMPQ(l.row, l.arg(argRows))
	JLT(LabelRef("row"))
	RET()

	Label("no_path")
	CMPQ(l.arg(argWithPath), Imm(0))
	JEQ(LabelRef("write"))
	Label("decline")
	listRow(l.a, argDeclined, argDeclinedN, l.row)
	JMP(LabelRef("next"))

	Label("decline_dirty")
	MOVQ(l.row, l.tmp)
	NOTQ(l.tmp)
	listRow(l.a, argDeclined, argDeclinedN, l.tmp)
	JMP(LabelRef("next"))

	l.dirty()

	Label("irregular")
	hash := GP64()
	MOVQ(U32(1), hash)
	listSuffix(l.a, l.row, hash)
	JMP(LabelRef("flags"))
}

// findHost checks the scheme and finds the host behind it.
func (l *locator) findHost() {
	Comment("The scheme, without a branch that depends on which.")
	l.host = GP64()
	MOVQ(Mem{Base: l.text, Index: l.start, Scale: 1}, l.tmp)
	XORL(l.host.As32(), l.host.As32())
	CMPQ(l.tmp, l.arg(argHTTPS))
	SETEQ(l.host.As8())
	SHLQ(U8(8), l.tmp)
	XORL(l.tmp2.As32(), l.tmp2.As32())
	CMPQ(l.tmp, l.arg(argHTTP))
	SETEQ(l.tmp2.As8())
	ORL(l.host.As32(), l.tmp2.As32())
	JZ(LabelRef("decline"))
	LEAQ(Mem{Base: l.start, Index: l.host, Scale: 1, Disp: 7}, l.host)

	Comment("The host ends at the first stop or with the row.")
	l.hostEnd = GP64()
	MOVQ(l.host, l.tmp)
	SHRQ(U8(3), l.tmp)
	ADDQ(l.arg(argStop), l.tmp)
	SHRXQ(lowBits(l.host, 7), Mem{Base: l.tmp}, l.tmp)
	TZCNTQ(l.tmp, l.hostEnd)
	ADDQ(l.host, l.hostEnd)
	CMPQ(l.hostEnd, l.end)
	CMOVQGT(l.end, l.hostEnd)
	l.size = GP64()
	MOVQ(l.hostEnd, l.size)
	SUBQ(l.host, l.size)
	LEAQ(Mem{Base: l.size, Disp: -1}, l.tmp)
	CMPQ(l.tmp, Imm(55))
	JCC(LabelRef("decline"))
}

// findDots checks that the last label is one of a domain, and keeps what suffixes wants of it.
func (l *locator) findDots() {
	Comment("Dots before the end of the host, the nearest highest, and a bit for the slash before the host.")
	dots, tld := GP64(), GP64()
	LEAQ(Mem{Base: l.hostEnd, Disp: 7}, l.tmp)
	shift := lowBits(l.tmp, 7)
	SHRQ(U8(3), l.tmp)
	ADDQ(l.arg(argDot), l.tmp)
	SHRXQ(shift, Mem{Base: l.tmp}, dots)
	SHLQ(U8(7), dots)
	MOVQ(U64(1<<63), l.tmp)
	SHRXQ(l.size, l.tmp, l.tmp)
	ORQ(l.tmp, dots)
	LZCNTQ(dots, tld)
	TESTQ(tld, tld)
	JZ(LabelRef("decline"))
	MOVQ(l.start, l.arg(argSpillStart))
	MOVQ(dots, l.arg(argSpillDots))
	MOVQ(tld, l.arg(argSpillTLD))
	MOVQ(l.hostEnd, l.tmp)
	SUBQ(tld, l.tmp)
	MOVBLZX(Mem{Base: l.text, Index: l.tmp, Scale: 1}, l.tmp.As32())
	SUBL(U8('0'), l.tmp.As32())
	CMPL(l.tmp.As32(), U8(9))
	JLS(LabelRef("decline"))
}

// findMarks finds where path, query and fragment begin.
func (l *locator) findMarks() {
	l.flags, l.pathEnd, l.query, l.fragment = GP32(), GP64(), GP64(), GP64()
	MOVL(U32(scan.IsURL|scan.HasHost|scan.HasOrigin|scan.HasSuffix), l.flags)
	MOVQ(l.end, l.pathEnd)
	MOVQ(l.end, l.query)
	MOVQ(l.end, l.fragment)
	JMP(LabelRef("seek_mark"))
	Label("next_mark")
	advance("next_mark", l.a, argMark, l.mark)
	Label("seek_mark")
	CMPQ(l.mark, l.hostEnd)
	JLT(LabelRef("next_mark"))
	CMPQ(l.mark, l.end)
	JGE(LabelRef("marks_done"))
	MOVQ(l.mark, l.pathEnd)
	MOVQ(l.mark, l.query)
	CMPB(Mem{Base: l.text, Index: l.mark, Scale: 1}, U8('?'))
	JNE(LabelRef("fragment"))
	ORL(U8(scan.HasQuery), l.flags)
	INCQ(l.query)
	Label("in_query")
	advance("in_query", l.a, argMark, l.mark)
	CMPQ(l.mark, l.end)
	JGE(LabelRef("marks_done"))
	CMPB(Mem{Base: l.text, Index: l.mark, Scale: 1}, U8('#'))
	JNE(LabelRef("in_query"))
	Label("fragment")
	MOVQ(l.mark, l.fragment)
	ORL(U32(scan.HasFragment), l.flags)
	Label("marks_done")
}

// checkDirt goes over the dirty bytes behind the host. Each is one for dirty to look at.
func (l *locator) checkDirt() {
	JMP(LabelRef("seek_dirt"))
	Label("next_dirt")
	advance("next_dirt", l.a, argDirty, l.dirt)
	Label("seek_dirt")
	CMPQ(l.dirt, l.hostEnd)
	JLT(LabelRef("next_dirt"))
	CMPQ(l.dirt, l.end)
	JLT(LabelRef("dirty"))
}

// write writes the parts, and returns where they are.
func (l *locator) write() reg.GPVirtual {
	Comment("Positions in the input from here on.")
	parts, base := GP64(), GP64()
	MOVQ(l.row, parts)
	SHLQ(U8(6), parts)
	ADDQ(l.arg(argParts), parts)
	MOVQ(l.arg(argStart), base)
	put := func(word int, position reg.GPVirtual) {
		MOVL(position.As32(), Mem{Base: parts, Disp: 4 * word})
	}
	at := func(position reg.GPVirtual, offset int) reg.GPVirtual {
		sum := GP64()
		LEAQ(Mem{Base: position, Index: base, Scale: 1, Disp: offset}, sum)
		return sum
	}
	put(scan.QueryWord, at(l.query, 0))
	absHostEnd := at(l.hostEnd, 0)
	put(scan.HostWord+1, absHostEnd)
	put(scan.OriginWord+1, absHostEnd)
	put(scan.PathWord, absHostEnd)
	put(scan.DomainWord, absHostEnd)
	SUBQ(l.arg(argSpillTLD), absHostEnd)
	put(scan.SuffixWord, absHostEnd)
	put(scan.PathWord+1, at(l.pathEnd, 0))
	CMPQ(l.hostEnd, l.pathEnd)
	JNE(LabelRef("path_written"))
	root := GP64()
	MOVQ(U64(uint64(scan.Side)|uint64(scan.Side+1)<<32), root)
	MOVQ(root, Mem{Base: parts, Disp: 4 * scan.PathWord})
	Label("path_written")
	absFragment, absEnd := at(l.fragment, 0), at(l.end, 0)
	put(scan.HrefWord+1, absEnd)
	put(scan.FragmentWord+1, absEnd)
	put(scan.QueryWord+1, absFragment)
	INCQ(absFragment)
	CMPQ(absFragment, absEnd)
	CMOVQGT(absEnd, absFragment)
	put(scan.FragmentWord, absFragment)
	put(scan.HostWord, at(l.host, 0))
	put(scan.SchemeWord+1, at(l.host, -3))
	ADDQ(l.arg(argSpillStart), base)
	put(scan.HrefWord, base)
	put(scan.SchemeWord, base)
	put(scan.OriginWord, base)
	return parts
}

// dirty goes on behind a dirty byte that does not matter, and declines the row for another.
func (l *locator) dirty() {
	Label("dirty")
	Comment("Plus signs, and percent signs that do not begin %2e, are no dot segments.")
	MOVBLZX(Mem{Base: l.text, Index: l.dirt, Scale: 1}, l.tmp.As32())
	CMPL(l.tmp.As32(), U8('+'))
	JEQ(LabelRef("next_dirt"))
	CMPL(l.tmp.As32(), U8('%'))
	JNE(LabelRef("decline_dirty"))
	LEAQ(Mem{Base: l.dirt, Disp: 3}, l.tmp)
	CMPQ(l.tmp, l.end)
	JGT(LabelRef("next_dirt"))
	MOVWLZX(Mem{Base: l.text, Index: l.dirt, Scale: 1, Disp: 1}, l.tmp.As32())
	ORL(U32(0x2000), l.tmp.As32())
	CMPL(l.tmp.As32(), U32('2'|'e'<<8))
	JNE(LabelRef("next_dirt"))
	JMP(LabelRef("decline_dirty"))
}

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
