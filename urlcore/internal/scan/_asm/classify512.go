package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

func classifyDoc(name string) {
	Doc(name+" is classifyGeneric for blocks of 64 bytes from text on; map i of dst begins at i*stride. It reads 64 bytes a",
		"block and writes eight into every map, and checks no bounds. blocks is at least 1.")
}

const classifySignature = "func(dst *byte, stride int, text *byte, blocks int, carry uint64) uint64"

// classes512 is the class of every ASCII byte, for the two tables of VPERMI2B.
func classes512() Mem {
	table := GLOBL("classes", RODATA|NOPTR)
	for i := range 128 {
		DATA(i, U8(scan.ClassOf(byte(i))))
	}
	return table
}

// classify512 looks the classes of 64 bytes up at once and tests one class after the other into a mask register.
func classify512() {
	const name = "classify512"
	classTable := classes512()
	TEXT(name, NOSPLIT, classifySignature)
	classifyDoc(name)
	Pragma("noescape")
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	text, blocks := Load(Param("text"), GP64()), Load(Param("blocks"), GP64())
	carry := Load(Param("carry"), GP64())

	low, high := ZMM(), ZMM()
	VMOVDQU64(classTable, low)
	VMOVDQU64(classTable.Offset(64), high)
	wanted := []scan.Class{scan.Stop, scan.Mark, scan.Dirty, scan.Dot, scan.Slash, scan.Escape}
	tests := map[scan.Class]reg.VecVirtual{}
	for _, class := range wanted {
		value, vector := GP32(), ZMM()
		MOVL(U32(class), value)
		VPBROADCASTB(value, vector)
		tests[class] = vector
	}
	three := GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)

	Label(name + "_loop")
	in, class := ZMM(), ZMM()
	VMOVDQU64(Mem{Base: text}, in)
	VMOVDQA64(in, class)
	// The lookup does not see the highest bit, which Escape is the same as.
	ascii, nonASCII := K(), GP64()
	VPTESTNMB(tests[scan.Escape], in, ascii)
	VPERMI2B_Z(high, low, ascii, class)
	KMOVQ(ascii, nonASCII)
	NOTQ(nonASCII)
	mask := func(c scan.Class) reg.GPVirtual {
		k, r := K(), GP64()
		VPTESTMB(tests[c], class, k)
		KMOVQ(k, r)
		return r
	}
	stop := mask(scan.Stop)
	ORQ(nonASCII, stop)
	MOVQ(stop, Mem{Base: dst})
	MOVQ(mask(scan.Mark), Mem{Base: dst, Index: stride, Scale: 1})

	slash, dot, escape, dirty := mask(scan.Slash), mask(scan.Dot), mask(scan.Escape), mask(scan.Dirty)
	MOVQ(dot, Mem{Base: dst, Index: three, Scale: 1})
	ORQ(escape, dot)
	behind := GP64()
	LEAQ(Mem{Base: carry, Index: slash, Scale: 2}, behind)
	MOVQ(slash, carry)
	SHRQ(U8(63), carry)
	ANDQ(behind, dot)
	ORQ(nonASCII, dirty)
	ORQ(dot, dirty)
	MOVQ(dirty, Mem{Base: dst, Index: stride, Scale: 2})
	ADDQ(U8(64), text)
	ADDQ(U8(8), dst)
	DECQ(blocks)
	JNZ(LabelRef(name + "_loop"))
	VZEROUPPER()
	Store(carry, ReturnIndex(0))
	RET()
}

const classifyQuerySignature = "func(dst *byte, stride int, text *byte, blocks int) int"

func classifyQueryDoc(name string) {
	Doc(name+" is classifyQueryGeneric for blocks of 64 bytes from text on; map i of dst begins at i*stride. It reads 64",
		"bytes a block and writes eight into every map, and checks no bounds. blocks is at least 1.")
}

// classifyQuery512 compares with the four characters.
func classifyQuery512() {
	const name = "classifyQuery512"
	TEXT(name, NOSPLIT, classifyQuerySignature)
	classifyQueryDoc(name)
	Pragma("noescape")
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	text, blocks := Load(Param("text"), GP64()), Load(Param("blocks"), GP64())
	values := map[byte]reg.VecVirtual{}
	for _, c := range []byte("&=+%") {
		value, vector := GP32(), ZMM()
		MOVL(U32(c), value)
		VPBROADCASTB(value, vector)
		values[c] = vector
	}
	n := GP64()
	XORL(n.As32(), n.As32())
	Label(name + "_loop")
	in := ZMM()
	VMOVDQU64(Mem{Base: text}, in)
	mask := func(c byte) reg.GPVirtual {
		k, r := K(), GP64()
		VPCMPEQB(values[c], in, k)
		KMOVQ(k, r)
		return r
	}
	amp := mask('&')
	MOVQ(amp, Mem{Base: dst})
	POPCNTQ(amp, amp)
	ADDQ(amp, n)
	MOVQ(mask('='), Mem{Base: dst, Index: stride, Scale: 1})
	escape := mask('+')
	ORQ(mask('%'), escape)
	MOVQ(escape, Mem{Base: dst, Index: stride, Scale: 2})
	ADDQ(U8(64), text)
	ADDQ(U8(8), dst)
	DECQ(blocks)
	JNZ(LabelRef(name + "_loop"))
	VZEROUPPER()
	Store(n, ReturnIndex(0))
	RET()
}
