#include "textflag.h"

DATA unlimited<>+0(SB)/8, $0x7FF0000000000000
GLOBL unlimited<>(SB), RODATA|NOPTR, $8

// The number of row R11 for four samples at R12 beside those of X, by the row's scale and offset: AT, LEAST and SECOND
// are what there was of the rows before, and Y12 is the row's place. Y13 and Y14 are its scale and offset.
#define ROW(x, AT, LEAST, SECOND, V, LESS) \
	VMULPD    x, Y13, V             \
	VSUBPD    V, Y14, V             \
	VCMPPD    $1, LEAST, V, LESS    \
	VBLENDVPD LESS, Y12, AT, AT     \
	VMAXPD    V, LEAST, LESS        \
	VMINPD    LESS, SECOND, SECOND  \
	VMINPD    V, LEAST, LEAST

// func leastRowsAVX2(at *int, least, second, x *float64, n, stride int, scales, offsets *float64, k int)
// Eight samples at a time, or the last four: Y0, Y1 are the places of the least, Y2, Y3 these and Y4, Y5 the least of the others.
TEXT ·leastRowsAVX2(SB), NOSPLIT, $0-72
	MOVQ at+0(FP), DI
	MOVQ least+8(FP), SI
	MOVQ second+16(FP), DX
	MOVQ x+24(FP), BX
	MOVQ n+32(FP), CX
	MOVQ stride+40(FP), R8
	MOVQ scales+48(FP), R9
	MOVQ offsets+56(FP), R10
	MOVQ k+64(FP), R13
	SHLQ $3, R8
	VBROADCASTSD unlimited<>(SB), Y15
	VPCMPEQQ Y11, Y11, Y11 // −1 in each lane
	CMPQ CX, $8
	JLT  four

eight:
	VMOVAPD Y15, Y2
	VMOVAPD Y15, Y3
	VMOVAPD Y15, Y4
	VMOVAPD Y15, Y5
	VPXOR   Y0, Y0, Y0
	VPXOR   Y1, Y1, Y1
	VPXOR   Y12, Y12, Y12
	MOVQ    BX, R12
	XORQ    R11, R11

row:
	VBROADCASTSD (R9)(R11*8), Y13
	VBROADCASTSD (R10)(R11*8), Y14
	ROW((R12), Y0, Y2, Y4, Y6, Y7)
	ROW(32(R12), Y1, Y3, Y5, Y8, Y9)
	VPSUBQ Y11, Y12, Y12
	ADDQ   R8, R12
	INCQ   R11
	CMPQ   R11, R13
	JLT    row

	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VMOVUPD Y2, (SI)
	VMOVUPD Y3, 32(SI)
	VMOVUPD Y4, (DX)
	VMOVUPD Y5, 32(DX)
	ADDQ    $64, DI
	ADDQ    $64, SI
	ADDQ    $64, DX
	ADDQ    $64, BX
	SUBQ    $8, CX
	CMPQ    CX, $8
	JGE     eight

four:
	TESTQ CX, CX
	JZ    end
	VMOVAPD Y15, Y2
	VMOVAPD Y15, Y4
	VPXOR   Y0, Y0, Y0
	VPXOR   Y12, Y12, Y12
	XORQ    R11, R11

last:
	VBROADCASTSD (R9)(R11*8), Y13
	VBROADCASTSD (R10)(R11*8), Y14
	ROW((BX), Y0, Y2, Y4, Y6, Y7)
	VPSUBQ Y11, Y12, Y12
	ADDQ   R8, BX
	INCQ   R11
	CMPQ   R11, R13
	JLT    last

	VMOVDQU Y0, (DI)
	VMOVUPD Y2, (SI)
	VMOVUPD Y4, (DX)

end:
	VZEROUPPER
	RET

// func leastCostsAVX2(x, before, first, by *float64, n int, offset, limit float64) int
TEXT ·leastCostsAVX2(SB), NOSPLIT, $0-64
	MOVQ x+0(FP), DI
	MOVQ before+8(FP), SI
	MOVQ first+16(FP), DX
	MOVQ by+24(FP), BX
	MOVQ n+32(FP), CX
	VBROADCASTSD offset+40(FP), Y0
	VBROADCASTSD limit+48(FP), Y1
	VXORPD Y2, Y2, Y2
	XORQ   R9, R9

cost:
	VSUBPD    (DI)(R9*8), Y0, Y3
	VMULPD    (BX)(R9*8), Y3, Y3
	VADDPD    (DX)(R9*8), Y3, Y3
	VMOVUPD   (SI)(R9*8), Y4
	VCMPPD    $2, Y1, Y3, Y5 // the cost is at most limit
	VCMPPD    $1, Y4, Y2, Y6 // and before was above 0
	VPTEST    Y6, Y5
	JNZ       stop
	VMINPD    Y4, Y3, Y3
	VMOVUPD   Y3, (DI)(R9*8)
	ADDQ      $4, R9
	CMPQ      R9, CX
	JLT       cost

stop:
	MOVQ R9, ret+56(FP)
	VZEROUPPER
	RET

// func sumLanesAVX2(lanes *[16]float64, x *float64, n int)
TEXT ·sumLanesAVX2(SB), NOSPLIT, $0-24
	MOVQ lanes+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3

sum:
	VADDPD (SI), Y0, Y0
	VADDPD 32(SI), Y1, Y1
	VADDPD 64(SI), Y2, Y2
	VADDPD 96(SI), Y3, Y3
	ADDQ   $128, SI
	SUBQ   $16, CX
	JNZ    sum

	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VZEROUPPER
	RET
