//go:build !purego

#include "textflag.h"

// NIBBLES makes one bitmap of four vectors of truth values (all bits of a byte, or none) that VLD4 has dealt out: byte
// 4*i+j of a text is byte i of mj. Bits 4 to 7 of byte i of m3 become those of bytes 4*i to 4*i+3 of the text; the bits
// below have no meaning. m1 is overwritten.
#define NIBBLES(m0, m1, m2, m3) \
	VSRI $1, m0.B16, m1.B16; \
	VSRI $1, m2.B16, m3.B16; \
	VSRI $2, m1.B16, m3.B16

// JOIN makes two bitmaps of 64 bits of what NIBBLES left: a's in the lower half of b, and b's in the upper half. a and
// tmp are overwritten.
#define JOIN(a, b, tmp) \
	VUZP1 b.B16, a.B16, tmp.B16; \
	VUZP2 b.B16, a.B16, b.B16; \
	VSRI  $4, tmp.B16, b.B16

// EQUAL4 compares the text in V0 to V3 with a character.
#define EQUAL4(c, m0, m1, m2, m3) \
	VCMEQ V0.B16, c.B16, m0.B16; \
	VCMEQ V1.B16, c.B16, m1.B16; \
	VCMEQ V2.B16, c.B16, m2.B16; \
	VCMEQ V3.B16, c.B16, m3.B16

// ONEOF4 compares the text in V0 to V3, the lower halves of whose bytes are in V4 to V7, with the characters that a
// table has for these.
#define ONEOF4(table, m0, m1, m2, m3) \
	VTBL  V4.B16, [table.B16], m0.B16; \
	VTBL  V5.B16, [table.B16], m1.B16; \
	VTBL  V6.B16, [table.B16], m2.B16; \
	VTBL  V7.B16, [table.B16], m3.B16; \
	VCMEQ V0.B16, m0.B16, m0.B16; \
	VCMEQ V1.B16, m1.B16, m1.B16; \
	VCMEQ V2.B16, m2.B16, m2.B16; \
	VCMEQ V3.B16, m3.B16, m3.B16

// LOOKUP4 looks the text up in tables of package function Nibbles: the lower halves of its bytes are in V4 to V7, the
// upper ones in V8 to V11. V26 and V27 are overwritten.
#define LOOKUP4(low, high, m0, m1, m2, m3) \
	VTBL   V4.B16, [low.B16], m0.B16; \
	VTBL   V8.B16, [high.B16], V26.B16; \
	VTBL   V5.B16, [low.B16], m1.B16; \
	VTBL   V9.B16, [high.B16], V27.B16; \
	VCMTST V26.B16, m0.B16, m0.B16; \
	VCMTST V27.B16, m1.B16, m1.B16; \
	VTBL   V6.B16, [low.B16], m2.B16; \
	VTBL   V10.B16, [high.B16], V26.B16; \
	VTBL   V7.B16, [low.B16], m3.B16; \
	VTBL   V11.B16, [high.B16], V27.B16; \
	VCMTST V26.B16, m2.B16, m2.B16; \
	VCMTST V27.B16, m3.B16, m3.B16

// func classifyNEON(dst *byte, stride int, text *byte, blocks int, carry uint64, t *classTables) uint64
//
// R0, R6, R7 and R8 go over the four bitmaps. V25 is the truth about slashes of the bytes 3, 7, ... of the block before.
TEXT ·classifyNEON(SB), NOSPLIT, $0-56
	MOVD   dst+0(FP), R0
	MOVD   stride+8(FP), R1
	MOVD   text+16(FP), R2
	MOVD   blocks+24(FP), R3
	MOVD   carry+32(FP), R4
	MOVD   t+40(FP), R5
	ADD    R1, R0, R6
	ADD    R1, R6, R7
	ADD    R1, R7, R8
	NEG    R4, R4
	VMOV   R4, V25.D2
	VLD1.P 64(R5), [V17.B16, V18.B16, V19.B16, V20.B16] // clean, dirty
	VLD1   (R5), [V21.B16, V22.B16]                     // marks, dots and escapes
	VMOVI  $15, V16.B16
	VMOVI  $'/', V23.B16
	VMOVI  $'.', V24.B16

loop:
	VLD4.P 64(R2), [V0.B16, V1.B16, V2.B16, V3.B16]
	VAND   V16.B16, V0.B16, V4.B16
	VAND   V16.B16, V1.B16, V5.B16
	VAND   V16.B16, V2.B16, V6.B16
	VAND   V16.B16, V3.B16, V7.B16
	VUSHR  $4, V0.B16, V8.B16
	VUSHR  $4, V1.B16, V9.B16
	VUSHR  $4, V2.B16, V10.B16
	VUSHR  $4, V3.B16, V11.B16

	// What ends a clean host, and marks.
	LOOKUP4(V17, V18, V12, V13, V14, V15)
	NIBBLES(V12, V13, V14, V15)
	VMOVI  $255, V26.B16
	VEOR   V26.B16, V15.B16, V15.B16
	ONEOF4(V21, V28, V29, V30, V31)
	NIBBLES(V28, V29, V30, V31)
	JOIN(V15, V31, V12)
	VST1.P V31.D[0], 8(R0)
	VST1.P V31.D[1], 8(R6)

	// What is dirty, also dots and escapes behind slashes.
	LOOKUP4(V19, V20, V12, V13, V14, V15)
	EQUAL4(V23, V28, V29, V30, V31)
	ONEOF4(V22, V4, V5, V6, V7)
	VEXT   $15, V31.B16, V25.B16, V26.B16
	VMOV   V31.B16, V25.B16
	VAND   V26.B16, V4.B16, V4.B16
	VAND   V28.B16, V5.B16, V5.B16
	VAND   V29.B16, V6.B16, V6.B16
	VAND   V30.B16, V7.B16, V7.B16
	VORR   V4.B16, V12.B16, V12.B16
	VORR   V5.B16, V13.B16, V13.B16
	VORR   V6.B16, V14.B16, V14.B16
	VORR   V7.B16, V15.B16, V15.B16
	NIBBLES(V12, V13, V14, V15)

	EQUAL4(V24, V8, V9, V10, V11)
	NIBBLES(V8, V9, V10, V11)
	JOIN(V15, V11, V12)
	VST1.P V11.D[0], 8(R7)
	VST1.P V11.D[1], 8(R8)
	SUB    $1, R3
	CBNZ   R3, loop

	VMOV V25.B[15], R4
	AND  $1, R4
	MOVD R4, ret+48(FP)
	RET

// func classifyQueryNEON(dst *byte, stride int, text *byte, blocks int) int
TEXT ·classifyQueryNEON(SB), NOSPLIT, $0-40
	MOVD  dst+0(FP), R0
	MOVD  stride+8(FP), R1
	MOVD  text+16(FP), R2
	MOVD  blocks+24(FP), R3
	ADD   R1, R0, R6
	ADD   R1, R6, R7
	VMOVI $'&', V16.B16
	VMOVI $'=', V17.B16
	VMOVI $'+', V18.B16
	VMOVI $'%', V19.B16
	VEOR  V20.B16, V20.B16, V20.B16 // how many ampersands

loop:
	VLD4.P  64(R2), [V0.B16, V1.B16, V2.B16, V3.B16]
	EQUAL4(V16, V4, V5, V6, V7)
	NIBBLES(V4, V5, V6, V7)
	EQUAL4(V17, V8, V9, V10, V11)
	NIBBLES(V8, V9, V10, V11)
	JOIN(V7, V11, V4)
	VST1.P  V11.D[0], 8(R0)
	VST1.P  V11.D[1], 8(R6)
	VCNT    V11.B8, V11.B8
	VUADDLV V11.B8, V11
	VADD    V11.D2, V20.D2, V20.D2
	EQUAL4(V18, V4, V5, V6, V7)
	EQUAL4(V19, V8, V9, V10, V11)
	VORR    V4.B16, V8.B16, V8.B16
	VORR    V5.B16, V9.B16, V9.B16
	VORR    V6.B16, V10.B16, V10.B16
	VORR    V7.B16, V11.B16, V11.B16
	NIBBLES(V8, V9, V10, V11)
	JOIN(V11, V11, V4)
	VST1.P  V11.D[0], 8(R7)
	SUB     $1, R3
	CBNZ    R3, loop

	VMOV V20.D[0], R4
	MOVD R4, ret+32(FP)
	RET

// func planeNEON(dst *byte, flags *byte, flag uint64, n int) int
TEXT ·planeNEON(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD flags+8(FP), R2
	MOVD flag+16(FP), R1
	MOVD n+24(FP), R3
	VDUP R1, V16.B16
	VEOR V20.B16, V20.B16, V20.B16

loop:
	VLD4.P  64(R2), [V0.B16, V1.B16, V2.B16, V3.B16]
	VCMTST  V0.B16, V16.B16, V0.B16
	VCMTST  V1.B16, V16.B16, V1.B16
	VCMTST  V2.B16, V16.B16, V2.B16
	VCMTST  V3.B16, V16.B16, V3.B16
	NIBBLES(V0, V1, V2, V3)
	JOIN(V3, V3, V4)
	VST1.P  V3.D[0], 8(R0)
	VCNT    V3.B8, V3.B8
	VUADDLV V3.B8, V3
	VADD    V3.D2, V20.D2, V20.D2
	SUB     $1, R3
	CBNZ    R3, loop

	VMOV V20.D[0], R4
	MOVD R4, ret+32(FP)
	RET
