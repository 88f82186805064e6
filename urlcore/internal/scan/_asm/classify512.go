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

// classes512 holds the classes of every ASCII byte that bitmaps are made of, for the two tables of VPERMI2B. The highest
// bit of an entry is not in use.
func classes512() Mem {
	table := GLOBL("classes", RODATA|NOPTR)
	for i := range 128 {
		DATA(i, U8(scan.ClassOf(byte(i))&^(scan.Amp|scan.Equal)))
	}
	return table
}

// ahead is how many bytes in front the text is fetched from memory, which the CPU does by itself within a page only.
const ahead = 4096

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
	broadcast := func(value byte) reg.VecVirtual {
		r, v := GP32(), ZMM()
		MOVL(U32(value), r)
		VPBROADCASTB(r, v)
		return v
	}
	// The highest bit of a byte stands for Stop and Dirty in one.
	const nonASCII = 0x80
	top := broadcast(nonASCII)
	stop, mark, dirty := broadcast(byte(scan.Stop)|nonASCII), broadcast(byte(scan.Mark)), broadcast(byte(scan.Dirty)|nonASCII)
	dot, begins, slash := broadcast(byte(scan.Dot)), broadcast(byte(scan.Dot|scan.Escape)), broadcast('/')
	three := GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)

	Comment("The block before the first one is a slash, or is not.")
	before := ZMM()
	IMUL3Q(U8('/'), carry, carry)
	VPBROADCASTB(carry.(reg.GPVirtual).As32(), before)

	Label(name + "_loop")
	in, class, last := ZMM(), ZMM(), ZMM()
	PREFETCHT0(Mem{Base: text, Disp: ahead})
	VMOVDQU64(Mem{Base: text}, in)
	VMOVDQA64(in, class)
	VPERMI2B(high, low, class)
	VPTERNLOGD(U8(0xF8), top, in, class) // class or in and top
	Comment("What stands one byte further in front.")
	VALIGNQ(U8(6), before, in, last)
	VPALIGNR(U8(15), last, in, last)
	VMOVDQA64(in, before)
	test := func(bits reg.VecVirtual, to Mem) {
		k := K()
		VPTESTMB(bits, class, k)
		KMOVQ(k, to)
	}
	test(stop, Mem{Base: dst})
	test(mark, Mem{Base: dst, Index: stride, Scale: 1})
	test(dot, Mem{Base: dst, Index: three, Scale: 1})
	k, segment := K(), K()
	VPCMPEQB(slash, last, segment)
	VPTESTMB(begins, class, segment, segment)
	VPTESTMB(dirty, class, k)
	KORQ(segment, k, k)
	KMOVQ(k, Mem{Base: dst, Index: stride, Scale: 2})
	ADDQ(U8(64), text)
	ADDQ(U8(8), dst)
	DECQ(blocks)
	JNZ(LabelRef(name + "_loop"))
	VPCMPEQB(slash, before, k)
	KMOVQ(k, carry)
	SHRQ(U8(63), carry)
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
