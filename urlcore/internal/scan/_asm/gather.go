package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// gather copies each piece in steps of 64 bytes, whatever its length: what is written too much is overwritten by
// the next piece. So short pieces, which are most, take no branch that depends on their length.
func gather(name string, width int) {
	TEXT(name, NOSPLIT, "func(dst *byte, at int, offsets *int32, spans *uint32, distance, stride, n int, input, side *byte) int")
	Doc(name+" is Gather: the uint32 at spans+i*stride bytes is where piece i begins, and that distance bytes behind it where",
		"the piece ends; it goes to dst+at. It reads and writes up to 63 bytes too much, and checks no bounds. n is at least 1.")
	Pragma("noescape")
	dst, at := Load(Param("dst"), GP64()), Load(Param("at"), GP64())
	offsets, spans := Load(Param("offsets"), GP64()), Load(Param("spans"), GP64())
	distance, stride := Load(Param("distance"), GP64()), Load(Param("stride"), GP64())
	n := Load(Param("n"), GP64())
	input, side := Load(Param("input"), GP64()), Load(Param("side"), GP64())
	ADDQ(dst, at)

	move := func(from, to Mem) {
		if width == 64 {
			v := ZMM()
			VMOVDQU64(from, v)
			VMOVDQU64(v, to)
			return
		}
		v, w := YMM(), YMM()
		VMOVDQU(from, v)
		VMOVDQU(from.Offset(32), w)
		VMOVDQU(v, to)
		VMOVDQU(w, to.Offset(32))
	}
	start, size, base := GP32(), GP32(), GP64()
	Label(name + "_loop")
	MOVL(Mem{Base: spans}, start)
	MOVL(Mem{Base: spans, Index: distance, Scale: 1}, size)
	SUBL(start, size)
	MOVQ(input, base)
	TESTL(start, start)
	CMOVQMI(side, base)
	ANDL(U32(0x7FFFFFFF), start)
	ADDQ(start.As64(), base)
	move(Mem{Base: base}, Mem{Base: at})
	CMPL(size, U8(64))
	JHI(LabelRef(name + "_long"))
	Label(name + "_next")
	ADDQ(size.As64(), at)
	end := GP64()
	MOVQ(at, end)
	SUBQ(dst, end)
	MOVL(end.As32(), Mem{Base: offsets})
	ADDQ(U8(4), offsets)
	ADDQ(stride, spans)
	DECQ(n)
	JNZ(LabelRef(name + "_loop"))
	VZEROUPPER()
	SUBQ(dst, at)
	Store(at, ReturnIndex(0))
	RET()

	Label(name + "_long")
	done := GP32()
	MOVL(U32(64), done)
	Label(name + "_more")
	move(Mem{Base: base, Index: done.As64(), Scale: 1}, Mem{Base: at, Index: done.As64(), Scale: 1})
	ADDL(U8(64), done)
	CMPL(done, size)
	JCS(LabelRef(name + "_more"))
	JMP(LabelRef(name + "_next"))
}
