//go:build !purego

#include "textflag.h"
#include "go_asm.h"

// Positions are those in the input. The text is addressed from where the input would begin.
//
// For the whole of locateNEON:
//
//	R0 *Rows         R1 text, less Start   R2 next of Ends        R3 end of Ends
//	R4 Maps.Stop     R5 Maps.Dot           R14 Start
//	R12 next Parts   R13 next Flags        R15 end of the row, and start of the next
//	R6 where the cursor for marks is; R7 what is left of its word, which is at R8 and stands for positions from R9 on
//	R10, R11, R19, R20 the same for dirt
//
// For one row:
//
//	R16 start   R17 host   R21 end of the host   R22 dots   R23 length of the last label   R24 flags
//	R25, R26, R1x: anything
//
// On the stack: the schemes as numbers, where the next rows of Declined and Irregular go, the filter or 0, and whether
// a row without a path is declined.
#define schemeHTTPS locals-48(SP)
#define schemeHTTP locals-40(SP)
#define declined locals-32(SP)
#define irregular locals-24(SP)
#define pairs locals-16(SP)
#define withPath locals-8(SP)

// SETTLE puts a cursor on the lowest bit of what is left of its word, or of the next word that has any.
#define SETTLE(at, word, where, base, more, found) \
	CBNZ   word, found; \
more: \
	MOVD.W 8(where), word; \
	ADD    $64, base, base; \
	CBZ    word, more; \
found: \
	RBIT   word, at; \
	CLZ    at, at; \
	ADD    base, at, at

// ADVANCE puts a cursor on the next bit. R25 is overwritten.
#define ADVANCE(at, word, where, base, more, found) \
	SUB    $1, word, R25; \
	AND    R25, word, word; \
	SETTLE(at, word, where, base, more, found)

// TAIL sets word to the last eight bytes of the label that ends before end, as tailBefore does. R25 is overwritten.
#define TAIL(end, size, word) \
	ADD    R1, end, R25; \
	MOVD   -8(R25), word; \
	MOVD   $8, R25; \
	SUBS   size, R25, R25; \
	CSEL   LT, ZR, R25, R25; \
	LSL    $3, R25, R25; \
	LSR    R25, word, word

// func locateNEON(r *Rows, https, http uint64)
TEXT ·locateNEON(SB), NOSPLIT, $48-24
	MOVD r+0(FP), R0
	MOVD https+8(FP), R25
	MOVD http+16(FP), R26
	MOVD R25, schemeHTTPS
	MOVD R26, schemeHTTP
	MOVD Rows_Declined(R0), R25
	MOVD Rows_Irregular(R0), R26
	MOVD R25, declined
	MOVD R26, irregular
	MOVD  Rows_Suffixes(R0), R25
	MOVBU Rows_WithPath(R0), R26
	MOVD  R25, pairs
	MOVD  R26, withPath

	MOVD Rows_Text(R0), R1
	MOVD Rows_Start(R0), R14
	SUB  R14, R1, R1
	MOVD Rows_Ends(R0), R2
	MOVD (Rows_Ends+8)(R0), R3
	ADD  R3<<2, R2, R3
	MOVD Rows_Maps(R0), R25
	MOVD Bitmaps_Stop(R25), R4
	MOVD Bitmaps_Dot(R25), R5
	MOVD Bitmaps_Mark(R25), R8
	MOVD Bitmaps_Dirty(R25), R19
	MOVD Rows_Parts(R0), R12
	MOVD Rows_Flags(R0), R13
	MOVD R14, R15
	MOVD R14, R9
	MOVD R14, R20
	MOVD (R8), R7
	SETTLE(R6, R7, R8, R9, first_mark_more, first_mark)
	MOVD (R19), R11
	SETTLE(R10, R11, R19, R20, first_dirt_more, first_dirt)

row:
	MOVD   R15, R16
	MOVW.P 4(R2), R15
	SUB    R16, R15, R25
	CMP    $8, R25
	BLT    decline

	// The scheme, without a branch that depends on which.
	MOVD (R1)(R16), R25
	MOVD schemeHTTPS, R26
	MOVD schemeHTTP, R17
	CMP  R26, R25
	LSL  $8, R25, R25
	CSET EQ, R26
	CCMP NE, R25, R17, $4
	BNE  decline
	ADD  R16, R26, R17
	ADD  $7, R17, R17

	// The host ends at the first stop or with the row.
	SUB  R14, R17, R25
	LSR  $3, R25, R26
	MOVD (R4)(R26), R26
	AND  $7, R25, R25
	LSR  R25, R26, R26
	RBIT R26, R26
	CLZ  R26, R26
	ADD  R17, R26, R21
	CMP  R15, R21
	CSEL GT, R15, R21, R21
	SUB  R17, R21, R22
	SUB  $1, R22, R25
	CMP  $const_maxHost, R25
	BHS  decline

	// Dots before the end of the host, the nearest highest, and a bit for the slash before the host.
	SUB  R14, R21, R25
	ADD  $7, R25, R25
	LSR  $3, R25, R26
	MOVD (R5)(R26), R26
	AND  $7, R25, R25
	LSR  R25, R26, R26
	MOVD $(1<<63), R25
	LSR  R22, R25, R25
	ORR  R26<<7, R25, R22
	CLZ  R22, R23
	CBZ  R23, decline
	SUB  R23, R21, R25
	MOVBU (R1)(R25), R25
	SUB  $'0', R25, R25
	CMP  $9, R25
	BLS  decline
	MOVD $(const_IsURL|const_HasHost|const_HasOrigin|const_HasSuffix), R24

	// R26 is where the path ends, R16 and then R25 where the query does; they are written as soon as they are known,
	// for those of declined rows do not count.
	STPW (R16, R15), Parts_Href(R12)
	SUB  $3, R17, R25
	STPW (R16, R25), Parts_Scheme(R12)
	STPW (R17, R21), Parts_Host(R12)
	STPW (R16, R21), Parts_Origin(R12)
	MOVD R15, R26
	STPW (R15, R15), Parts_Query(R12)
	STPW (R15, R15), Parts_Fragment(R12)
	B    seek_mark

next_mark:
	ADVANCE(R6, R7, R8, R9, next_mark_more, next_mark_found)

seek_mark:
	CMP   R21, R6
	BLT   next_mark
	CMP   R15, R6
	BGE   marks_done
	MOVD  R6, R26
	MOVBU (R1)(R6), R25
	CMP   $'?', R25
	BNE   only_fragment
	ORR   $const_HasQuery, R24, R24
	ADD   $1, R6, R16
	MOVW  R16, Parts_Query(R12)

in_query:
	ADVANCE(R6, R7, R8, R9, in_query_more, in_query_found)
	CMP   R15, R6
	BGE   marks_done
	MOVBU (R1)(R6), R25
	CMP   $'#', R25
	BNE   in_query
	B     fragment

only_fragment:
	MOVW R6, Parts_Query(R12)

fragment:
	ORR  $const_HasFragment, R24, R24
	MOVW R6, (Parts_Query+Span_End)(R12)
	ADD  $1, R6, R25
	MOVW R25, Parts_Fragment(R12)

marks_done:
	B seek_dirt

next_dirt:
	ADVANCE(R10, R11, R19, R20, next_dirt_more, next_dirt_found)

seek_dirt:
	CMP R21, R10
	BLT next_dirt
	CMP R15, R10
	BLT dirty

	CMP   R21, R26
	BEQ   no_path
	MOVBU (R1)(R21), R25
	CMP   $'/', R25
	BNE   decline
	STPW  (R21, R26), Parts_Path(R12)

suffixes:
	SUB  R23, R21, R25
	STPW (R21, R25), Parts_Domain(R12)
	MOVD pairs, R16
	CBZ  R16, flags
	SUB  R17, R21, R25
	CMP  R25, R23
	BGE  flags
	MOVBU (R1)(R17), R26
	ADD  $1, R23, R25
	SUB  R25, R21, R17 // end of the last label but one
	LSL  R25, R22, R22
	CLZ  R22, R22      // and its length
	SUB  R22, R17, R25
	MOVW R25, Parts_Domain(R12)
	ORR  $const_HasDomain, R24, R24
	CBZ  R22, irregular_row
	CMP  $'.', R26
	BEQ  irregular_row

	// The hash functions of SuffixFilter.
	TAIL(R21, R23, R26)
	ADD  R23, R26, R26
	MOVD $const_hashTLD, R25
	MUL  R25, R26, R26
	TAIL(R17, R22, R23)
	ROR  $(64-7), R23, R23
	ADD  R22, R23, R23
	EOR  R26, R23, R23
	MOVD $const_hashPair, R25
	MUL  R25, R23, R23

	LSR  $const_pairShift, R23, R25
	ADD  R25<<3, R16, R25
	MOVD SuffixFilter_pairs(R25), R21
	LSR  $const_pairBit1, R23, R25
	LSR  R25, R21, R25
	LSR  $const_pairBit2, R23, R23
	LSR  R23, R21, R21
	AND  R25, R21, R21
	LSR  $const_wildShift, R26, R25
	ADD  R25<<3, R16, R25
	MOVD $SuffixFilter_wild, R23
	MOVD (R25)(R23), R25
	LSR  $const_wildBit, R26, R26
	LSR  R26, R25, R25
	ORR  R25, R21, R21
	TBNZ $0, R21, irregular_row

flags:
	MOVB R24, (R13)

next:
	ADD $Parts__size, R12, R12
	ADD $1, R13, R13
	CMP R3, R2
	BLO row

	MOVD declined, R25
	MOVD Rows_Declined(R0), R26
	SUB  R26, R25, R25
	ASR  $2, R25, R25
	MOVD R25, (Rows_Declined+8)(R0)
	MOVD irregular, R25
	MOVD Rows_Irregular(R0), R26
	SUB  R26, R25, R25
	ASR  $2, R25, R25
	MOVD R25, (Rows_Irregular+8)(R0)
	RET

no_path:
	MOVD withPath, R25
	CBNZ R25, decline
	MOVD $const_Side, R25
	ADD  $1, R25, R26
	STPW (R25, R26), Parts_Path(R12)
	B    suffixes

dirty:
	// Plus signs, and percent signs that do not begin %2e, are no dot segments.
	MOVBU (R1)(R10), R25
	CMP   $'+', R25
	BEQ   next_dirt
	CMP   $'%', R25
	BNE   decline_dirty
	ADD   $3, R10, R25
	CMP   R15, R25
	BGT   next_dirt
	ADD   R1, R25, R25
	MOVHU -2(R25), R25
	ORR   $0x2000, R25, R25
	MOVD  $0x6532, R16
	CMP   R16, R25
	BNE   next_dirt

decline_dirty:
	MOVD   Rows_Ends(R0), R25
	SUB    R25, R2, R25
	ASR    $2, R25, R25
	SUB    $1, R25, R25
	MVN    R25, R25
	B      list_declined

decline:
	MOVD   Rows_Ends(R0), R25
	SUB    R25, R2, R25
	ASR    $2, R25, R25
	SUB    $1, R25, R25

list_declined:
	MOVD   declined, R26
	MOVW.P R25, 4(R26)
	MOVD   R26, declined
	B      next

irregular_row:
	MOVD   Rows_Ends(R0), R25
	SUB    R25, R2, R25
	ASR    $2, R25, R25
	SUB    $1, R25, R25
	MOVD   irregular, R26
	MOVW.P R25, 4(R26)
	MOVD   R26, irregular
	B      flags
