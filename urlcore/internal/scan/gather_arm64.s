//go:build !purego

#include "textflag.h"

// All of these are gatherGeneric, with other usual lengths. As much as is usual is copied whatever a piece's length: the
// next piece overwrites what is too much, and pieces of the usual length take no branch that depends on it. The rest of
// a longer one goes in steps of 64 bytes.
//
//	R0 dst      R1 where the next piece goes    R2 where the next offset goes
//	R3 the next span    R4 distance of its end  R5 distance of the next span
//	R6 spans left       R7 input                R8 side
//	R9 piece            R10 its length

#define BEGIN \
	MOVD dst+0(FP), R0; \
	MOVD at+8(FP), R1; \
	MOVD offsets+16(FP), R2; \
	MOVD spans+24(FP), R3; \
	MOVD distance+32(FP), R4; \
	MOVD stride+40(FP), R5; \
	MOVD n+48(FP), R6; \
	MOVD input+56(FP), R7; \
	MOVD side+64(FP), R8; \
	ADD  R0, R1, R1

#define SPAN \
	MOVWU (R3), R9; \
	MOVWU (R3)(R4), R10; \
	ADD   R5, R3, R3; \
	SUBW  R9, R10, R10

#define PIECE \
	TSTW  $0x80000000, R9; \
	CSEL  EQ, R7, R8, R11; \
	ANDW  $0x7fffffff, R9, R9; \
	ADD   R11, R9, R9

#define COPY16 \
	FMOVQ (R9), F0; \
	FMOVQ F0, (R1)

#define COPY32 \
	FLDPQ (R9), (F0, F1); \
	FSTPQ (F0, F1), (R1)

#define COPY64 \
	FLDPQ (R9), (F0, F1); \
	FLDPQ 32(R9), (F2, F3); \
	FSTPQ (F0, F1), (R1); \
	FSTPQ (F2, F3), 32(R1)

#define COPY128 \
	FLDPQ (R9), (F0, F1); \
	FLDPQ 32(R9), (F2, F3); \
	FLDPQ 64(R9), (F4, F5); \
	FLDPQ 96(R9), (F6, F7); \
	FSTPQ (F0, F1), (R1); \
	FSTPQ (F2, F3), 32(R1); \
	FSTPQ (F4, F5), 64(R1); \
	FSTPQ (F6, F7), 96(R1)

// LONG copies what is left behind the first width bytes of a piece.
#define LONG(width, more) \
	MOVD  $width, R11; \
more: \
	ADD   R11, R9, R12; \
	ADD   R11, R1, R13; \
	FLDPQ (R12), (F0, F1); \
	FLDPQ 32(R12), (F2, F3); \
	FSTPQ (F0, F1), (R13); \
	FSTPQ (F2, F3), 32(R13); \
	ADD   $64, R11, R11; \
	CMP   R10, R11; \
	BLO   more

#define OFFSET \
	ADD    R10, R1, R1; \
	SUB    R0, R1, R12; \
	MOVW.P R12, 4(R2); \
	SUBS   $1, R6, R6

#define END \
	SUB  R0, R1, R1; \
	MOVD R1, ret+72(FP); \
	RET

// func gatherNEON16(dst *byte, at int, offsets *int32, spans *uint32, distance int, stride int, n int, input *byte, side *byte) int
TEXT ·gatherNEON16(SB), NOSPLIT, $0-80
	BEGIN

loop:
	SPAN
	PIECE
	COPY16
	CMP $16, R10
	BHI long

next:
	OFFSET
	BNE loop
	END

long:
	LONG(16, more)
	B next

// func gatherNEON32(dst *byte, at int, offsets *int32, spans *uint32, distance int, stride int, n int, input *byte, side *byte) int
TEXT ·gatherNEON32(SB), NOSPLIT, $0-80
	BEGIN

loop:
	SPAN
	PIECE
	COPY32
	CMP $32, R10
	BHI long

next:
	OFFSET
	BNE loop
	END

long:
	LONG(32, more)
	B next

// func gatherNEON64(dst *byte, at int, offsets *int32, spans *uint32, distance int, stride int, n int, input *byte, side *byte) int
TEXT ·gatherNEON64(SB), NOSPLIT, $0-80
	BEGIN

loop:
	SPAN
	PIECE
	COPY64
	CMP $64, R10
	BHI long

next:
	OFFSET
	BNE loop
	END

long:
	LONG(64, more)
	B next

// func gatherNEON128(dst *byte, at int, offsets *int32, spans *uint32, distance int, stride int, n int, input *byte, side *byte) int
TEXT ·gatherNEON128(SB), NOSPLIT, $0-80
	BEGIN

loop:
	SPAN
	PIECE
	COPY128
	CMP $128, R10
	BHI long

next:
	OFFSET
	BNE loop
	END

long:
	LONG(128, more)
	B next

// func gatherNEONSparse(dst *byte, at int, offsets *int32, spans *uint32, distance int, stride int, n int, input *byte, side *byte) int
TEXT ·gatherNEONSparse(SB), NOSPLIT, $0-80
	BEGIN

loop:
	SPAN
	CBZ R10, next
	PIECE
	COPY64
	CMP $64, R10
	BHI long

next:
	OFFSET
	BNE loop
	END

long:
	LONG(64, more)
	B next
