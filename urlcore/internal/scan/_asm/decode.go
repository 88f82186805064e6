package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// hexTable holds the value of every hexadecimal digit, and 0x80 for all other ASCII characters.
func hexTable() Mem {
	table := GLOBL("hexDigits", RODATA|NOPTR)
	for i := range 128 {
		v := byte(0x80)
		switch {
		case '0' <= i && i <= '9':
			v = byte(i - '0')
		case 'a' <= i|0x20 && i|0x20 <= 'f':
			v = byte(i | 0x20 - 'a' + 10)
		}
		DATA(i, U8(v))
	}
	return table
}

// decode works on the triplets that begin in 62 bytes together: the digits behind each byte are the same text, read
// one and two bytes further on. What is left of each triplet is brought together by a compression.
func decode() {
	const name, step = "decode512", 62
	table := hexTable()
	TEXT(name, NOSPLIT, "func(dst, src *byte, n int) (written int, high uint64)")
	Doc("decode512 is decodeGeneric for n bytes at src, at least one. high is not zero when there are bytes from 0x80 on. It reads up",
		"to 65 bytes behind the text and writes up to 63 too much, and checks no bounds.")
	Pragma("noescape")
	dst, src, rest := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	start := GP64()
	MOVQ(dst, start)
	low, high := ZMM(), ZMM()
	VMOVDQU64(table, low)
	VMOVDQU64(table.Offset(64), high)
	broadcast := func(c byte) reg.VecVirtual {
		value, vector := GP32(), ZMM()
		MOVL(U32(c), value)
		VPBROADCASTB(value, vector)
		return vector
	}
	percent, plus, space, upper := broadcast('%'), broadcast('+'), broadcast(' '), broadcast(0xF0)
	seen, zero, limit, ones := GP64(), GP64(), GP64(), GP64()
	XORL(seen.As32(), seen.As32())
	XORL(zero.As32(), zero.As32())
	MOVQ(U32(step), limit)
	MOVQ(I32(-1), ones)

	Label(name + "_loop")
	in, first, second := ZMM(), ZMM(), ZMM()
	VMOVDQU64(Mem{Base: src}, in)
	VMOVDQU64(Mem{Base: src, Disp: 1}, first)
	VMOVDQU64(Mem{Base: src, Disp: 2}, second)
	bad := ZMM()
	VPORQ(first, second, bad) // the lookup does not see the highest bits
	VPERMI2B(high, low, first)
	VPERMI2B(high, low, second)
	VPORQ(first, bad, bad)
	VPORQ(second, bad, bad)
	noDigits, signs := K(), K()
	VPMOVB2M(bad, noDigits)
	VPCMPEQB(percent, in, signs)
	KANDNQ(signs, noDigits, signs)
	triplets := GP64()
	KMOVQ(signs, triplets)

	Comment("Triplets begin in this step and end in the text.")
	bound := GP64()
	MOVQ(rest, bound)
	SUBQ(U8(2), bound)
	CMOVQMI(zero, bound)
	CMPQ(bound, limit)
	CMOVQGT(limit, bound)
	BZHIQ(bound, triplets, triplets)

	k := K()
	VPCMPEQB(plus, in, k)
	VMOVDQU8(space, k, in)
	VPSLLW(U8(4), first, first)
	VPANDQ(upper, first, first)
	VPORQ(second, first, first)
	KMOVQ(triplets, k)
	VMOVDQU8(first, k, in)

	Comment("The digits go, and so do those that the step before has seen to.")
	digits, keep := GP64(), GP64()
	LEAQ(Mem{Base: triplets, Index: triplets, Scale: 1}, digits)
	LEAQ(Mem{Base: digits, Index: triplets, Scale: 4}, digits)
	ANDNQ(ones, digits, keep)
	MOVQ(rest, bound)
	CMPQ(bound, limit)
	CMOVQGT(limit, bound)
	BZHIQ(bound, keep, keep)
	KMOVQ(keep, k)
	packed := ZMM()
	compress(in, k, packed)
	VMOVDQU64(packed, Mem{Base: dst})
	VPMOVB2M(packed, k)
	highs := GP64()
	KMOVQ(k, highs)
	ORQ(highs, seen)
	POPCNTQ(keep, keep)
	ADDQ(keep, dst)
	SHRQ(U8(step), digits)
	POPCNTQ(digits, digits)
	CMPQ(rest, limit)
	JLE(LabelRef(name + "_done"))
	ADDQ(bound, digits)
	ADDQ(digits, src)
	SUBQ(digits, rest)
	JG(LabelRef(name + "_loop"))
	Label(name + "_done")
	VZEROUPPER()
	SUBQ(start, dst)
	Store(dst, ReturnIndex(0))
	Store(seen, ReturnIndex(1))
	RET()
}

// compress is VPCOMPRESSB with zeroing, which avo does not know.
func compress(from reg.Register, mask reg.Register, to reg.Register) {
	Instruction(&ir.Instruction{
		Opcode: "VPCOMPRESSB", Suffixes: []string{"Z"},
		Operands: []Op{from, mask, to}, Inputs: []Op{from, mask}, Outputs: []Op{to},
		ISA: []string{"AVX512VBMI2"},
	})
}
