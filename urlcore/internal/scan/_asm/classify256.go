package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// broadcast16 is a global of a table of 16 bytes.
func broadcast16(name string, table [16]byte) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i, b := range table {
		DATA(i, U8(b))
	}
	return m
}

var nibbleTables map[string]Mem

func table256(name string) Mem {
	if nibbleTables == nil {
		nibbleTables = map[string]Mem{}
		add := func(name string, in func(byte) bool) {
			low, high := scan.Nibbles(in)
			nibbleTables[name+"Low"], nibbleTables[name+"High"] = broadcast16(name+"Low", low), broadcast16(name+"High", high)
		}
		add("clean", func(c byte) bool { return scan.ClassOf(c)&scan.Stop == 0 })
		add("dirty", func(c byte) bool { return c < 0x80 && scan.ClassOf(c)&scan.Dirty != 0 })
		nibbleTables["nibble"] = broadcast16("nibble", [16]byte{15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15})
	}
	return nibbleTables[name]
}

// classify256 goes 32 bytes at a time. The two irregular classes are looked up by nibbles, the others compared with.
func classify256() {
	const name = "classify256"
	tables := map[string]Mem{}
	for _, t := range []string{"cleanLow", "cleanHigh", "dirtyLow", "dirtyHigh", "nibble"} {
		tables[t] = table256(t)
	}
	TEXT(name, NOSPLIT, classifySignature)
	classifyDoc(name)
	Pragma("noescape")
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	text, halves := Load(Param("text"), GP64()), Load(Param("blocks"), GP64())
	carry := Load(Param("carry"), GP64()).(reg.GPVirtual)
	SHLQ(U8(1), halves)

	load := func(t string) reg.VecVirtual {
		v := YMM()
		VBROADCASTI128(tables[t], v)
		return v
	}
	cleanLow, cleanHigh, dirtyLow, dirtyHigh, nibble := load("cleanLow"), load("cleanHigh"), load("dirtyLow"), load("dirtyHigh"), load("nibble")
	constants := map[byte]Mem{}
	for _, c := range []byte("?#/.+%") {
		constants[c] = byteConstant(c)
	}
	zero := YMM()
	VPXOR(zero, zero, zero)
	three := GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)

	Label(name + "_loop")
	in := YMM()
	PREFETCHT0(Mem{Base: text, Disp: ahead})
	VMOVDQU(Mem{Base: text}, in)
	low, high := YMM(), YMM()
	VPAND(nibble, in, low)
	VPSRLW(U8(4), in, high)
	VPAND(nibble, high, high)

	equal := func(c byte) reg.VecVirtual {
		v := YMM()
		VPCMPEQB(constants[c], in, v)
		return v
	}
	either := func(a, b byte) reg.VecVirtual {
		v, w := equal(a), equal(b)
		VPOR(v, w, v)
		return v
	}
	mask := func(v reg.VecVirtual) reg.GPVirtual {
		r := GP32()
		VPMOVMSKB(v, r)
		return r
	}
	irregular := func(lowTable, highTable reg.VecVirtual) reg.VecVirtual {
		a, b := YMM(), YMM()
		VPSHUFB(low, lowTable, a)
		VPSHUFB(high, highTable, b)
		VPAND(a, b, a)
		VPCMPEQB(zero, a, a) // -1 where no bit is common
		return a
	}
	MOVL(mask(irregular(cleanLow, cleanHigh)), Mem{Base: dst})
	MOVL(mask(either('?', '#')), Mem{Base: dst, Index: stride, Scale: 1})
	dirty := mask(irregular(dirtyLow, dirtyHigh))
	NOTL(dirty)
	nonASCII := mask(in)
	ORL(nonASCII, dirty)

	slash, dot, escape := mask(equal('/')), mask(equal('.')), mask(either('+', '%'))
	MOVL(dot, Mem{Base: dst, Index: three, Scale: 1})
	ORL(escape, dot)
	behind := GP64()
	LEAQ(Mem{Base: carry, Index: slash.As64(), Scale: 2}, behind)
	MOVL(slash, carry.As32())
	SHRL(U8(31), carry.As32())
	ANDL(behind.As32(), dot)
	ORL(dot, dirty)
	MOVL(dirty, Mem{Base: dst, Index: stride, Scale: 2})
	ADDQ(U8(32), text)
	ADDQ(U8(4), dst)
	DECQ(halves)
	JNZ(LabelRef(name + "_loop"))
	VZEROUPPER()
	Store(carry, ReturnIndex(0))
	RET()
}

// classifyQuery256 compares with the four characters.
func classifyQuery256() {
	const name = "classifyQuery256"
	TEXT(name, NOSPLIT, classifyQuerySignature)
	classifyQueryDoc(name)
	Pragma("noescape")
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	text, halves := Load(Param("text"), GP64()), Load(Param("blocks"), GP64())
	SHLQ(U8(1), halves)
	values := map[byte]reg.VecVirtual{}
	for _, c := range []byte("&=+%") {
		values[c] = YMM()
		VMOVDQU(byteConstant(c), values[c])
	}
	n := GP64()
	XORL(n.As32(), n.As32())
	Label(name + "_loop")
	in := YMM()
	VMOVDQU(Mem{Base: text}, in)
	equal := func(c byte) reg.VecVirtual {
		v := YMM()
		VPCMPEQB(values[c], in, v)
		return v
	}
	mask := func(v reg.VecVirtual) reg.GPVirtual {
		r := GP32()
		VPMOVMSKB(v, r)
		return r
	}
	amp := mask(equal('&'))
	MOVL(amp, Mem{Base: dst})
	POPCNTL(amp, amp)
	ADDQ(amp.As64(), n)
	MOVL(mask(equal('=')), Mem{Base: dst, Index: stride, Scale: 1})
	plus, percent := equal('+'), equal('%')
	VPOR(plus, percent, plus)
	MOVL(mask(plus), Mem{Base: dst, Index: stride, Scale: 2})
	ADDQ(U8(32), text)
	ADDQ(U8(4), dst)
	DECQ(halves)
	JNZ(LabelRef(name + "_loop"))
	VZEROUPPER()
	Store(n, ReturnIndex(0))
	RET()
}

var byteConstants = map[byte]Mem{}

// byteConstant is a global of 32 times c.
func byteConstant(c byte) Mem {
	if m, ok := byteConstants[c]; ok {
		return m
	}
	m := GLOBL("bytes"+string("0123456789ABCDEF"[c>>4])+string("0123456789ABCDEF"[c&15]), RODATA|NOPTR)
	for i := range 32 {
		DATA(i, U8(c))
	}
	byteConstants[c] = m
	return m
}
