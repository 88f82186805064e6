//go:build !purego

#include "textflag.h"
#include "go_asm.h"

// FIND sets result to the position of the first bit of a bitmap from from on and before limit, else to limit. R24, R25
// and R26 are overwritten.
#define FIND(bitmap, from, limit, result, more, found, done) \
	LSR  $3, from, R24; \
	AND  $7, from, R25; \
	MOVD (bitmap)(R24), R26; \
	LSR  R25, R26, R26; \
	MOVD from, result; \
	CBNZ R26, found; \
more: \
	ADD  $8, R24, R24; \
	LSL  $3, R24, result; \
	CMP  limit, result; \
	BGE  done; \
	MOVD (bitmap)(R24), R26; \
	CBZ  R26, more; \
found: \
	RBIT R26, R26; \
	CLZ  R26, R26; \
	ADD  R26, result, result; \
done: \
	CMP  limit, result; \
	CSEL GT, limit, result, result

// func splitPairsNEON(q *Queries)
//
//	R0 *Queries      R1 next of Ends    R2 end of Ends    R3 Start
//	R4 amp           R5 equal           R6 escape         R9 next of Counts
//	R7 next of Pairs R8 Pairs           R10 next of Escaped
//	R11 start of the pair               R12 end of the query    R13 Before
//
// From the start of the pair on: R16 its end, R17 the end of the name, R19 not zero if anything is escaped.
TEXT ·splitPairsNEON(SB), NOSPLIT, $0-8
	MOVD q+0(FP), R0
	MOVD Queries_Ends(R0), R1
	MOVD (Queries_Ends+8)(R0), R2
	ADD  R2<<2, R1, R2
	MOVD Queries_Start(R0), R3
	MOVD Queries_amp(R0), R4
	MOVD Queries_equal(R0), R5
	MOVD Queries_escape(R0), R6
	MOVD Queries_Pairs(R0), R7
	MOVD R7, R8
	MOVD Queries_Counts(R0), R9
	MOVD Queries_Escaped(R0), R10
	MOVW Queries_Before(R0), R13
	MOVD ZR, R11

query:
	MOVW.P 4(R1), R12
	SUB    R3, R12, R12
	CMP    R12, R11
	BGE    query_done

pair:
	// A window of 57 bits of each bitmap.
	LSR  $3, R11, R14
	AND  $7, R11, R15
	MOVD (R4)(R14), R16
	MOVD (R5)(R14), R17
	MOVD (R6)(R14), R19
	LSR  R15, R16, R16
	LSR  R15, R17, R17
	LSR  R15, R19, R19
	RBIT R16, R16
	CLZ  R16, R16
	SUB  R11, R12, R20
	CMP  R20, R16
	CSEL GT, R20, R16, R16
	CMP  $57, R16
	BGT  long
	CBZ  R16, pair_done
	RBIT R17, R17
	CLZ  R17, R17
	CMP  R16, R17
	CSEL GT, R16, R17, R17
	NEG  R16, R20
	LSL  R20, R19, R19

store:
	// The number is written always, and stays when there are escapes.
	SUB  R8, R7, R20
	LSR  $4, R20, R20
	MOVW R20, (R10)
	CMP  $0, R19
	CSET NE, R20
	ADD  R20<<2, R10, R10
	ADD  R11, R17, R21
	ADD  R11, R16, R22
	ADD  $1, R21, R23
	CMP  R22, R23
	CSEL GT, R22, R23, R23
	STPW (R11, R21), Pair_Key(R7)
	STPW (R23, R22), Pair_Value(R7)
	ADD  $Pair__size, R7, R7

pair_done:
	ADD R16, R11, R11
	ADD $1, R11, R11
	CMP R12, R11
	BLT pair

query_done:
	MOVD   R12, R11
	SUB    R8, R7, R20
	LSR    $4, R20, R20
	ADD    R13, R20, R21
	MOVW.P R21, 4(R9)
	CMP    R2, R1
	BLO    query

	MOVD R20, (Queries_Pairs+8)(R0)
	MOVD Queries_Escaped(R0), R21
	SUB  R21, R10, R10
	LSR  $2, R10, R10
	MOVD R10, (Queries_Escaped+8)(R0)
	RET

long:
	FIND(R4, R11, R12, R16, amp_more, amp_found, amp_done)
	FIND(R5, R11, R16, R17, equal_more, equal_found, equal_done)
	FIND(R6, R11, R16, R19, escape_more, escape_found, escape_done)
	SUB R16, R19, R19
	SUB R11, R17, R17
	SUB R11, R16, R16
	B   store
