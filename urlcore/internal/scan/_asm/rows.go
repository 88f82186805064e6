package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// Fields of rowsArgs in dispatch_amd64.go.
const (
	rowsParts   = 0
	rowsN       = 8
	rowsInput   = 16
	rowsSide    = 24
	rowsWanted  = 32 // 8 times 32 bits: all of them set for the columns that are wanted
	rowsAt      = 64 // 8 times 32 bits: the lengths of the columns' data
	rowsDst     = 96 // a pointer for each column
	rowsOffsets = rowsDst + 8*scan.RowColumns
	rowsTable   = rowsOffsets + 8*scan.RowColumns // nine times what rowsAt is

	tableRow = 32
)

// rowLimits are the lengths up to which a row's parts are copied without a branch. That of the path is the kernel's.
var rowLimits = [8]uint32{8, 64, 64, 32, 32, 1<<31 - 1, 1<<31 - 1, 1<<31 - 1}

// vector32 is a global of eight numbers.
func vector32(name string, values [8]uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i, v := range values {
		DATA(4*i, U32(v))
	}
	return m
}

type rowTables struct{ starts, ends, limits Mem }

var theRowTables *rowTables

// tablesOfRows are the permutations that bring the words of Parts into the order of the columns.
func tablesOfRows() *rowTables {
	if theRowTables != nil {
		return theRowTables
	}
	var start, end [8]uint32
	for i, s := range scan.RowSpans {
		start[i], end[i] = uint32(s.Start), uint32(s.End)
	}
	theRowTables = &rowTables{
		vector32("rowStarts", start), vector32("rowEnds", end), vector32("rowLimits", rowLimits),
	}
	return theRowTables
}

// upper is the mask of the columns whose position is in the upper half of Parts.
func upper(at func(i int) int) (mask uint8) {
	for i := range scan.RowColumns {
		if at(i) >= 8 {
			mask |= 1 << i
		}
	}
	return mask
}

// rowGatherer has the registers of gatherRows.
type rowGatherer struct {
	name     string
	path     int          // bytes of a path that are copied at once
	a        reg.Register // the *rowsArgs
	parts    reg.GPVirtual
	input    reg.GPVirtual
	side     reg.GPVirtual // where the side buffer would begin if it were part of the input
	table    reg.GPVirtual // the lengths before the row in hand
	lengths  reg.VecVirtual
	from, at reg.GPVirtual // the value in hand, from the base on, and where it goes
	base     reg.GPVirtual // of all values but the path
	size     reg.GPVirtual
}

func (g *rowGatherer) arg(offset int) Mem { return Mem{Base: g.a, Disp: offset} }

// gatherRows keeps the lengths of all columns in one vector. The lengths after each of eight rows make a table, which
// is turned over to become the columns' offsets; where a value goes is read from the row before.
func gatherRows(name string, path int) {
	tables := tablesOfRows()
	TEXT(name, NOSPLIT, "func(a *byte)")
	Doc(name+" is gatherRowsGeneric for a *rowsArgs. It reads and writes up to 127 bytes too much, and checks no bounds. a.n is",
		"at least 1.")
	Pragma("noescape")
	g := &rowGatherer{name: name, path: path, a: Load(Param("a"), GP64())}
	g.parts, g.input, g.side, g.table = GP64(), GP64(), GP64(), GP64()
	count := GP64()
	MOVQ(g.arg(rowsParts), g.parts)
	MOVQ(g.arg(rowsInput), g.input)
	MOVQ(g.arg(rowsSide), g.side)
	g.from = GP64()
	MOVQ(U64(scan.Side), g.from)
	SUBQ(g.from, g.side) // a position in the side buffer has this bit
	MOVQ(g.arg(rowsN), count)
	LEAQ(g.arg(rowsTable), g.table)
	wanted, startWords, endWords, limits := g.vectors(tables)

	Label(name + "_row")
	long, sides := g.measure(wanted, startWords, endWords, limits)
	g.values(long, sides)
	pathBase := g.copyPath()
	Label(name + "_next")
	ADDQ(U8(scan.PartsWords*4), g.parts)
	ADDQ(U8(tableRow), g.table)
	DECQ(count)
	JZ(LabelRef(name + "_end"))
	end := GP64()
	LEAQ(g.arg(rowsTable+8*tableRow), end)
	CMPQ(g.table, end)
	JNE(LabelRef(name + "_row"))

	Comment("Turn eight rows of lengths into eight offsets of each column.")
	LEAQ(g.arg(rowsTable), g.table)
	turn(g.a, g.table, g.lengths)
	JMP(LabelRef(name + "_row"))

	done, v := g.copyRest(pathBase)
	g.slowly(done, v)
	g.rest(end)
	VMOVDQU(g.lengths, g.arg(rowsAt))
	VZEROUPPER()
	RET()
}

// vectors loads what stays the same for all rows, and the lengths before the first one.
func (g *rowGatherer) vectors(tables *rowTables) (wanted, startWords, endWords, limits reg.VecVirtual) {
	g.lengths, wanted, startWords, endWords, limits = YMM(), YMM(), YMM(), YMM(), YMM()
	VMOVDQU(g.arg(rowsAt), g.lengths)
	VMOVDQU(g.arg(rowsWanted), wanted)
	VMOVDQU(tables.starts, startWords)
	VMOVDQU(tables.ends, endWords)
	VMOVDQU(tables.limits, limits)
	VMOVDQU(g.lengths, Mem{Base: g.table})
	return wanted, startWords, endWords, limits
}

// measure adds the lengths of a row. It returns the columns whose value is longer than what is copied at once, and those whose
// value is in the side buffer, as bits.
func (g *rowGatherer) measure(wanted, startWords, endWords, limits reg.VecVirtual) (long, sides reg.GPVirtual) {
	low, high := YMM(), YMM()
	VMOVDQU(Mem{Base: g.parts}, low)
	VMOVDQU(Mem{Base: g.parts, Disp: 32}, high)
	starts, ends, other := YMM(), YMM(), YMM()
	// VPERMD takes the lower three bits of each number, those within a half.
	VPERMD(low, startWords, starts)
	VPERMD(high, startWords, other)
	VPBLENDD(U8(upper(func(i int) int { return scan.RowSpans[i].Start })), other, starts, starts)
	VPERMD(low, endWords, ends)
	VPERMD(high, endWords, other)
	VPBLENDD(U8(upper(func(i int) int { return scan.RowSpans[i].End })), other, ends, ends)
	sizes := YMM()
	VPSUBD(starts, ends, sizes)
	VPAND(wanted, sizes, sizes)
	VPADDD(sizes, g.lengths, g.lengths)
	VMOVDQU(g.lengths, Mem{Base: g.table, Disp: tableRow})
	VPCMPGTD(limits, sizes, sizes)
	long, sides = GP32(), GP32()
	VMOVMSKPS(sizes, long)
	VMOVMSKPS(starts, sides)
	return long, sides
}

// place finds a value, and where it goes.
func (g *rowGatherer) place(column int) {
	MOVL(Mem{Base: g.table, Disp: 4 * column}, g.at.As32())
	ADDQ(g.arg(rowsDst+8*column), g.at)
	MOVL(Mem{Base: g.parts, Disp: 4 * scan.RowSpans[column].Start}, g.from.As32())
}

// move copies size bytes of the value.
func (g *rowGatherer) move(base reg.GPVirtual, size int) {
	var vs []reg.VecVirtual
	for i := 0; i < size; i += 32 {
		v := YMM()
		VMOVDQU(Mem{Base: base, Index: g.from, Scale: 1, Disp: i}, v)
		vs = append(vs, v)
	}
	for i, v := range vs {
		VMOVDQU(v, Mem{Base: g.at, Disp: 32 * i})
	}
}

// values copies all values but the path, if none is too long.
func (g *rowGatherer) values(long, sides reg.GPVirtual) {
	Comment("All but the path are in the input, or all are in the side buffer.")
	const butPath = 1<<scan.PathColumn - 1
	g.at = GP64()
	ANDL(U8(butPath), sides)
	g.base = GP64()
	MOVQ(g.input, g.base)
	CMOVQNE(g.side, g.base)
	ADDL(U8(1), sides)
	ANDL(U8(butPath-1), sides)
	ORL(long, sides)
	JNZ(LabelRef(g.name + "_slow"))
	g.place(scan.SchemeColumn)
	word := GP64()
	MOVQ(Mem{Base: g.base, Index: g.from, Scale: 1}, word)
	MOVQ(word, Mem{Base: g.at})
	for _, column := range []int{scan.HostColumn, scan.OriginColumn, scan.DomainColumn, scan.SuffixColumn} {
		g.place(column)
		g.move(g.base, int(rowLimits[column]))
	}
}

// copyPath copies what is copied at once of the path, and returns where that is from.
func (g *rowGatherer) copyPath() (base reg.GPVirtual) {
	Label(g.name + "_path")
	g.place(scan.PathColumn)
	base = GP64()
	MOVQ(g.input, base)
	TESTL(g.from.As32(), g.from.As32())
	CMOVQMI(g.side, base)
	g.move(base, g.path)
	g.size = GP32()
	MOVL(Mem{Base: g.table, Disp: tableRow + 4*scan.PathColumn}, g.size)
	SUBL(Mem{Base: g.table, Disp: 4 * scan.PathColumn}, g.size)
	CMPL(g.size, U8(g.path))
	JHI(LabelRef(g.name + "_long"))
	return base
}

// copyRest copies the rest of a long path.
func (g *rowGatherer) copyRest(pathBase reg.GPVirtual) (done reg.GPVirtual, v reg.VecVirtual) {
	Label(g.name + "_long")
	done = GP64()
	MOVL(U32(g.path), done.As32())
	ADDQ(g.from, pathBase)
	Label(g.name + "_more")
	v, w := YMM(), YMM()
	VMOVDQU(Mem{Base: pathBase, Index: done, Scale: 1}, v)
	VMOVDQU(Mem{Base: pathBase, Index: done, Scale: 1, Disp: 32}, w)
	VMOVDQU(v, Mem{Base: g.at, Index: done, Scale: 1})
	VMOVDQU(w, Mem{Base: g.at, Index: done, Scale: 1, Disp: 32})
	ADDL(U8(64), done.As32())
	CMPL(done.As32(), g.size)
	JCS(LabelRef(g.name + "_more"))
	JMP(LabelRef(g.name + "_next"))
	return done, v
}

// slowly copies values of any length, from wherever each is.
func (g *rowGatherer) slowly(done reg.GPVirtual, v reg.VecVirtual) {
	Label(g.name + "_slow")
	for column := range scan.PathColumn {
		slow := func(what string) string { return g.name + "_" + what + "_" + string(rune('0'+column)) }
		g.place(column)
		MOVL(Mem{Base: g.table, Disp: tableRow + 4*column}, g.size)
		SUBL(Mem{Base: g.table, Disp: 4 * column}, g.size)
		JZ(LabelRef(slow("none")))
		MOVQ(g.input, g.base)
		TESTL(g.from.As32(), g.from.As32())
		CMOVQMI(g.side, g.base)
		ADDQ(g.from, g.base)
		XORL(done.As32(), done.As32())
		Label(slow("more"))
		VMOVDQU(Mem{Base: g.base, Index: done, Scale: 1}, v)
		VMOVDQU(v, Mem{Base: g.at, Index: done, Scale: 1})
		ADDL(U8(32), done.As32())
		CMPL(done.As32(), g.size)
		JCS(LabelRef(slow("more")))
		Label(slow("none"))
	}
	JMP(LabelRef(g.name + "_path"))
}

// rest writes the rows of the table that are not eight.
func (g *rowGatherer) rest(end reg.GPVirtual) {
	Label(g.name + "_end")
	Comment("What is left of the table, then the lengths.")
	LEAQ(g.arg(rowsTable), end)
	JMP(LabelRef(g.name + "_rest_test"))
	Label(g.name + "_rest")
	for column := range scan.RowColumns {
		MOVQ(g.arg(rowsOffsets+8*column), g.from)
		MOVL(Mem{Base: end, Disp: tableRow + 4*column}, g.at.As32())
		MOVL(g.at.As32(), Mem{Base: g.from})
		ADDQ(U8(4), g.from)
		MOVQ(g.from, g.arg(rowsOffsets+8*column))
	}
	ADDQ(U8(tableRow), end)
	Label(g.name + "_rest_test")
	CMPQ(end, g.table)
	JNE(LabelRef(g.name + "_rest"))
}

// turn writes the last eight rows of the table into the columns' offsets and makes lengths the first row.
func turn(a reg.Register, table, lengths reg.Register) {
	row := func(i int) Mem { return Mem{Base: table, Disp: tableRow * (1 + i)} }
	// Halves of four columns: rows 0 to 3 in the lower half, 4 to 7 in the upper one.
	half := func(offset int) (columns [4]reg.VecVirtual) {
		var r [4]reg.VecVirtual
		for i := range r {
			x := XMM()
			r[i] = YMM()
			VMOVDQU(row(i).Offset(offset), x)
			VINSERTI128(U8(1), row(i+4).Offset(offset), x.AsY(), r[i])
		}
		a0, a1, a2, a3 := YMM(), YMM(), YMM(), YMM()
		VPUNPCKLDQ(r[1], r[0], a0)
		VPUNPCKHDQ(r[1], r[0], a1)
		VPUNPCKLDQ(r[3], r[2], a2)
		VPUNPCKHDQ(r[3], r[2], a3)
		for i := range columns {
			columns[i] = YMM()
		}
		VPUNPCKLQDQ(a2, a0, columns[0])
		VPUNPCKHQDQ(a2, a0, columns[1])
		VPUNPCKLQDQ(a3, a1, columns[2])
		VPUNPCKHQDQ(a3, a1, columns[3])
		return columns
	}
	to := GP64()
	write := func(column int, v reg.VecVirtual) {
		MOVQ(Mem{Base: a, Disp: rowsOffsets + 8*column}, to)
		VMOVDQU(v, Mem{Base: to})
		ADDQ(U8(32), to)
		MOVQ(to, Mem{Base: a, Disp: rowsOffsets + 8*column})
	}
	for i, v := range half(0) {
		write(i, v)
	}
	for i, v := range half(16) {
		if 4+i < scan.RowColumns {
			write(4+i, v)
		}
	}
	VMOVDQU(lengths, Mem{Base: table})
}
