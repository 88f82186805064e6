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

// decoder holds what does not change while texts are decoded.
type decoder struct {
	low, high, percent, plus, space, upper reg.VecVirtual
	numbers                                Mem // zero, step
}

// step is how many bytes are decoded together.
const step = 62

func newDecoder() *decoder {
	table := hexTable()
	numbers := GLOBL("decodeNumbers", RODATA|NOPTR)
	DATA(0, U64(0))
	DATA(8, U64(step))
	low, high := ZMM(), ZMM()
	VMOVDQU64(table, low)
	VMOVDQU64(table.Offset(64), high)
	broadcast := func(c byte) reg.VecVirtual {
		value, vector := GP32(), ZMM()
		MOVL(U32(c), value)
		VPBROADCASTB(value, vector)
		return vector
	}
	return &decoder{low, high, broadcast('%'), broadcast('+'), broadcast(' '), broadcast(0xF0), numbers}
}

// text decodes rest bytes at src, at least one, to dst. It changes all three, and sets seen unless all bytes are ASCII.
// It works on the triplets that begin in 62 bytes together: the digits behind each byte are the same text, read one and
// two bytes further on. What is left of each triplet is brought together by a compression.
func (d *decoder) text(name string, dst, src, rest, seen reg.Register) {
	Label(name + "_loop")
	in, first, second := ZMM(), ZMM(), ZMM()
	VMOVDQU64(Mem{Base: src}, in)
	VMOVDQU64(Mem{Base: src, Disp: 1}, first)
	VMOVDQU64(Mem{Base: src, Disp: 2}, second)
	bad := ZMM()
	VPORQ(first, second, bad) // the lookup does not see the highest bits
	VPERMI2B(d.high, d.low, first)
	VPERMI2B(d.high, d.low, second)
	VPORQ(first, bad, bad)
	VPORQ(second, bad, bad)
	noDigits, signs := K(), K()
	VPMOVB2M(bad, noDigits)
	VPCMPEQB(d.percent, in, signs)
	KANDNQ(signs, noDigits, signs)
	triplets := GP64()
	KMOVQ(signs, triplets)

	Comment("Triplets begin in this step and end in the text.")
	bound := GP64()
	MOVQ(rest, bound)
	SUBQ(U8(2), bound)
	CMOVQMI(d.numbers, bound)
	CMPQ(bound, U8(step))
	CMOVQGT(d.numbers.Offset(8), bound)
	BZHIQ(bound, triplets, triplets)

	k := K()
	VPCMPEQB(d.plus, in, k)
	VMOVDQU8(d.space, k, in)
	VPSLLW(U8(4), first, first)
	VPANDQ(d.upper, first, first)
	VPORQ(second, first, first)
	KMOVQ(triplets, k)
	VMOVDQU8(first, k, in)

	Comment("The digits go, and so do those that the step before has seen to.")
	digits, keep := GP64(), GP64()
	LEAQ(Mem{Base: triplets, Index: triplets, Scale: 1}, digits)
	LEAQ(Mem{Base: digits, Index: triplets, Scale: 4}, digits)
	MOVQ(digits, keep)
	NOTQ(keep)
	MOVQ(rest, bound)
	CMPQ(bound, U8(step))
	CMOVQGT(d.numbers.Offset(8), bound)
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
	CMPQ(rest, U8(step))
	JLE(LabelRef(name + "_done"))
	SHRQ(U8(step), digits)
	POPCNTQ(digits, digits)
	ADDQ(bound, digits)
	ADDQ(digits, src)
	SUBQ(digits, rest)
	JG(LabelRef(name + "_loop"))
	Label(name + "_done")
}

// Fields of decodeArgs in dispatch_amd64.go, of eight bytes each.
const (
	decodeText = 8 * iota
	decodeEscape
	decodePairsAt
	decodeEscaped
	decodeCursor
	decodeLimit
	decodeSide
	decodeAt
	decodeSpan
	decodeStart
)

// decodePairs goes over the pairs with escapes. The cursor counts keys and values of these pairs. A key is decoded if there
// is an escape among its first 57 bytes, or if it is longer.
func decodePairs() {
	const name, window = "decodePairs512", 57
	TEXT(name, NOSPLIT, "func(a *byte)")
	Doc(name+" is decodePairsGeneric for a *decodeArgs, which stops behind the first text that has bytes from 0x80 on, and tells where",
		"its span is, or else zero. It reads up to 65 bytes behind a text and writes up to 63 too much, and checks no bounds.",
		"There is at least one text left.")
	Pragma("noescape")
	a := Load(Param("a"), GP64())
	arg := func(offset int) Mem { return Mem{Base: a, Disp: offset} }
	d := newDecoder()
	dst, cursor, seen, span := GP64(), GP64(), GP64(), GP64()
	MOVQ(arg(decodeSide), dst)
	ADDQ(arg(decodeAt), dst)
	MOVQ(arg(decodeCursor), cursor)
	XORL(seen.As32(), seen.As32())

	Label(name + "_pair")
	src, rest, tmp, bits := GP64(), GP64(), GP64(), GP64()
	MOVQ(cursor, span)
	SHRQ(U8(1), span)
	MOVQ(arg(decodeEscaped), tmp)
	MOVL(Mem{Base: tmp, Index: span, Scale: 4}, span.As32())
	SHLQ(U8(4), span)
	ADDQ(arg(decodePairsAt), span)
	TESTB(U8(1), cursor.As8())
	JNZ(LabelRef(name + "_value"))
	MOVL(Mem{Base: span}, src.As32())
	MOVL(Mem{Base: span, Disp: 4}, rest.As32())
	SUBL(src.As32(), rest.As32())
	CMPL(rest.As32(), U8(window))
	JHI(LabelRef(name + "_text"))
	MOVL(src.As32(), tmp.As32())
	SHRL(U8(3), tmp.As32())
	ADDQ(arg(decodeEscape), tmp)
	low := GP64()
	MOVL(src.As32(), low.As32())
	ANDL(U8(7), low.As32())
	SHRXQ(low, Mem{Base: tmp}, bits)
	BZHIQ(rest, bits, bits)
	TESTQ(bits, bits)
	JNZ(LabelRef(name + "_text"))
	INCQ(cursor)

	Label(name + "_value")
	ADDQ(U8(8), span)
	MOVL(Mem{Base: span}, src.As32())
	MOVL(Mem{Base: span, Disp: 4}, rest.As32())
	SUBL(src.As32(), rest.As32())
	JZ(LabelRef(name + "_next"))
	Label(name + "_text")
	ADDQ(arg(decodeText), src)
	MOVQ(dst, tmp)
	SUBQ(arg(decodeSide), tmp)
	MOVQ(tmp, arg(decodeStart))
	BTSL(U8(31), tmp.As32())
	MOVL(tmp.As32(), Mem{Base: span})
	d.text(name, dst, src, rest, seen)
	MOVQ(dst, tmp)
	SUBQ(arg(decodeSide), tmp)
	BTSL(U8(31), tmp.As32())
	MOVL(tmp.As32(), Mem{Base: span, Disp: 4})
	TESTQ(seen, seen)
	JNZ(LabelRef(name + "_high"))
	Label(name + "_next")
	INCQ(cursor)
	CMPQ(cursor, arg(decodeLimit))
	JLT(LabelRef(name + "_pair"))
	XORL(span.As32(), span.As32())
	DECQ(cursor)
	Label(name + "_high")
	INCQ(cursor)
	MOVQ(cursor, arg(decodeCursor))
	MOVQ(span, arg(decodeSpan))
	SUBQ(arg(decodeSide), dst)
	MOVQ(dst, arg(decodeAt))
	VZEROUPPER()
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
