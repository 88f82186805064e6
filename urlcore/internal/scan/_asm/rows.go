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

// gatherRows keeps the lengths of all columns in one vector. The lengths after each of eight rows make a table, which
// is turned over to become the columns' offsets; where a value goes is read from the row before.
func gatherRows(name string, path int) {
	tables := tablesOfRows()
	TEXT(name, NOSPLIT, "func(a *byte)")
	Doc(name+" is gatherRowsGeneric for a *rowsArgs. It reads and writes up to 127 bytes too much, and checks no bounds. a.n is",
		"at least 1.")
	Pragma("noescape")
	a := Load(Param("a"), GP64())
	arg := func(offset int) Mem { return Mem{Base: a, Disp: offset} }
	parts, input, side, table, count := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(arg(rowsParts), parts)
	MOVQ(arg(rowsInput), input)
	MOVQ(arg(rowsSide), side)
	from := GP64()
	MOVQ(U64(scan.Side), from)
	SUBQ(from, side) // a position in the side buffer has this bit
	MOVQ(arg(rowsN), count)
	LEAQ(arg(rowsTable), table)
	lengths, wanted, startWords, endWords, limits := YMM(), YMM(), YMM(), YMM(), YMM()
	VMOVDQU(arg(rowsAt), lengths)
	VMOVDQU(arg(rowsWanted), wanted)
	VMOVDQU(tables.starts, startWords)
	VMOVDQU(tables.ends, endWords)
	VMOVDQU(tables.limits, limits)
	VMOVDQU(lengths, Mem{Base: table})

	Label(name + "_row")
	low, high := YMM(), YMM()
	VMOVDQU(Mem{Base: parts}, low)
	VMOVDQU(Mem{Base: parts, Disp: 32}, high)
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
	VPADDD(sizes, lengths, lengths)
	VMOVDQU(lengths, Mem{Base: table, Disp: tableRow})
	VPCMPGTD(limits, sizes, sizes)
	long, sides := GP32(), GP32()
	VMOVMSKPS(sizes, long)
	VMOVMSKPS(starts, sides)

	Comment("All but the path are in the input, or all are in the side buffer.")
	const butPath = 1<<scan.PathColumn - 1
	at := GP64()
	ANDL(U8(butPath), sides)
	base := GP64()
	MOVQ(input, base)
	CMOVQNE(side, base)
	ADDL(U8(1), sides)
	ANDL(U8(butPath-1), sides)
	ORL(long, sides)
	JNZ(LabelRef(name + "_slow"))
	place := func(column int) {
		MOVL(Mem{Base: table, Disp: 4 * column}, at.As32())
		ADDQ(arg(rowsDst+8*column), at)
		MOVL(Mem{Base: parts, Disp: 4 * scan.RowSpans[column].Start}, from.As32())
	}
	move := func(base reg.GPVirtual, size int) {
		var vs []reg.VecVirtual
		for i := 0; i < size; i += 32 {
			v := YMM()
			VMOVDQU(Mem{Base: base, Index: from, Scale: 1, Disp: i}, v)
			vs = append(vs, v)
		}
		for i, v := range vs {
			VMOVDQU(v, Mem{Base: at, Disp: 32 * i})
		}
	}
	place(scan.SchemeColumn)
	word := GP64()
	MOVQ(Mem{Base: base, Index: from, Scale: 1}, word)
	MOVQ(word, Mem{Base: at})
	for _, column := range []int{scan.HostColumn, scan.OriginColumn, scan.DomainColumn, scan.SuffixColumn} {
		place(column)
		move(base, int(rowLimits[column]))
	}
	Label(name + "_path")
	place(scan.PathColumn)
	pathBase := GP64()
	MOVQ(input, pathBase)
	TESTL(from.As32(), from.As32())
	CMOVQMI(side, pathBase)
	move(pathBase, path)
	size := GP32()
	MOVL(Mem{Base: table, Disp: tableRow + 4*scan.PathColumn}, size)
	SUBL(Mem{Base: table, Disp: 4 * scan.PathColumn}, size)
	CMPL(size, U8(path))
	JHI(LabelRef(name + "_long"))
	Label(name + "_next")
	ADDQ(U8(scan.PartsWords*4), parts)
	ADDQ(U8(tableRow), table)
	DECQ(count)
	JZ(LabelRef(name + "_end"))
	end := GP64()
	LEAQ(arg(rowsTable+8*tableRow), end)
	CMPQ(table, end)
	JNE(LabelRef(name + "_row"))

	Comment("Turn eight rows of lengths into eight offsets of each column.")
	LEAQ(arg(rowsTable), table)
	turn(a, table, lengths)
	JMP(LabelRef(name + "_row"))

	Label(name + "_long")
	done := GP64()
	MOVL(U32(path), done.As32())
	ADDQ(from, pathBase)
	Label(name + "_more")
	v, w := YMM(), YMM()
	VMOVDQU(Mem{Base: pathBase, Index: done, Scale: 1}, v)
	VMOVDQU(Mem{Base: pathBase, Index: done, Scale: 1, Disp: 32}, w)
	VMOVDQU(v, Mem{Base: at, Index: done, Scale: 1})
	VMOVDQU(w, Mem{Base: at, Index: done, Scale: 1, Disp: 32})
	ADDL(U8(64), done.As32())
	CMPL(done.As32(), size)
	JCS(LabelRef(name + "_more"))
	JMP(LabelRef(name + "_next"))

	Label(name + "_slow")
	for column := range scan.PathColumn {
		slow := func(what string) string { return name + "_" + what + "_" + string(rune('0'+column)) }
		place(column)
		MOVL(Mem{Base: table, Disp: tableRow + 4*column}, size)
		SUBL(Mem{Base: table, Disp: 4 * column}, size)
		JZ(LabelRef(slow("none")))
		MOVQ(input, base)
		TESTL(from.As32(), from.As32())
		CMOVQMI(side, base)
		ADDQ(from, base)
		XORL(done.As32(), done.As32())
		Label(slow("more"))
		VMOVDQU(Mem{Base: base, Index: done, Scale: 1}, v)
		VMOVDQU(v, Mem{Base: at, Index: done, Scale: 1})
		ADDL(U8(32), done.As32())
		CMPL(done.As32(), size)
		JCS(LabelRef(slow("more")))
		Label(slow("none"))
	}
	JMP(LabelRef(name + "_path"))

	Label(name + "_end")
	Comment("What is left of the table, then the lengths.")
	at32 := at.As32()
	LEAQ(arg(rowsTable), end)
	JMP(LabelRef(name + "_rest_test"))
	Label(name + "_rest")
	for column := range scan.RowColumns {
		MOVQ(arg(rowsOffsets+8*column), from)
		MOVL(Mem{Base: end, Disp: tableRow + 4*column}, at32)
		MOVL(at32, Mem{Base: from})
		ADDQ(U8(4), from)
		MOVQ(from, arg(rowsOffsets+8*column))
	}
	ADDQ(U8(tableRow), end)
	Label(name + "_rest_test")
	CMPQ(end, table)
	JNE(LabelRef(name + "_rest"))
	VMOVDQU(lengths, arg(rowsAt))
	VZEROUPPER()
	RET()
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
