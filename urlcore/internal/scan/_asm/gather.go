package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gather copies the first width bytes of each piece, whatever its length, and the whole of a longer one in steps of
// 64 bytes: what is written too much is overwritten by the next piece. So pieces of the usual length take no branch
// that depends on it. If sparse is set, empty pieces are passed over.
func gather(name string, width int, sparse bool) {
	TEXT(name, NOSPLIT, "func(dst *byte, at int, offsets *int32, spans *uint32, distance, stride, n int, input, side *byte) int")
	Doc(name+" is Gather: the uint32 at spans+i*stride bytes is where piece i begins, and that distance bytes behind it where",
		"the piece ends; it goes to dst+at. It reads and writes up to 127 bytes too much, and checks no bounds. n is at least 1.")
	Pragma("noescape")
	dst, at := Load(Param("dst"), GP64()), Load(Param("at"), GP64())
	offsets, spans := Load(Param("offsets"), GP64()), Load(Param("spans"), GP64())
	distance, stride := Load(Param("distance"), GP64()), Load(Param("stride"), GP64())
	n := Load(Param("n"), GP64())
	input, side := Load(Param("input"), GP64()), Load(Param("side"), GP64())
	ADDQ(dst, at)

	move := func(from, to Mem, size int) {
		if size == 16 {
			v := XMM()
			VMOVDQU(from, v)
			VMOVDQU(v, to)
			return
		}
		var parts []reg.VecVirtual
		for at := 0; at < size; at += 32 {
			v := YMM()
			VMOVDQU(from.Offset(at), v)
			parts = append(parts, v)
		}
		for i, v := range parts {
			VMOVDQU(v, to.Offset(32*i))
		}
	}
	start, size, base := GP32(), GP32(), GP64()
	Label(name + "_loop")
	MOVL(Mem{Base: spans}, start)
	MOVL(Mem{Base: spans, Index: distance, Scale: 1}, size)
	SUBL(start, size)
	if sparse {
		JZ(LabelRef(name + "_next"))
	}
	MOVQ(input, base)
	TESTL(start, start)
	CMOVQMI(side, base)
	ANDL(U32(0x7FFFFFFF), start)
	ADDQ(start.As64(), base)
	move(Mem{Base: base}, Mem{Base: at}, width)
	CMPL(size, U8(width))
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
	MOVL(U32(width), done)
	Label(name + "_more")
	move(Mem{Base: base, Index: done.As64(), Scale: 1}, Mem{Base: at, Index: done.As64(), Scale: 1}, 64)
	ADDL(U8(64), done)
	CMPL(done, size)
	JCS(LabelRef(name + "_more"))
	JMP(LabelRef(name + "_next"))
}

// plane brings bit i of 32 bytes at a time to the top, and their top bits together.
func plane() {
	const name = "planeAVX2"
	TEXT(name, NOSPLIT, "func(dst, flags *byte, shift, n int) int")
	Doc("planeAVX2 is planeGeneric for n times 32 flags, at least one time, of which the bit to look at is shift bits below the top.")
	Pragma("noescape")
	dst, flags := Load(Param("dst"), GP64()), Load(Param("flags"), GP64())
	shift, n := Load(Param("shift"), GP64()), Load(Param("n"), GP64())
	by := XMM()
	VMOVQ(shift, by)
	count := GP64()
	XORL(count.As32(), count.As32())
	Label(name + "_loop")
	v, mask := YMM(), GP32()
	VMOVDQU(Mem{Base: flags}, v)
	VPSLLW(by, v, v)
	VPMOVMSKB(v, mask)
	MOVL(mask, Mem{Base: dst})
	POPCNTL(mask, mask)
	ADDQ(mask.As64(), count)
	ADDQ(U8(32), flags)
	ADDQ(U8(4), dst)
	DECQ(n)
	JNZ(LabelRef(name + "_loop"))
	VZEROUPPER()
	Store(count, ReturnIndex(0))
	RET()
}
