#include "textflag.h"

// Both loops take eight columns at a time, and keep for each row a sum of every eighth product. To a number of y
// the rows are added one after another.

#define ARGUMENTS \
	MOVQ y+0(FP), DI          \
	MOVQ x+8(FP), SI          \
	MOVQ a+16(FP), R8         \
	MOVQ stride+24(FP), DX    \
	MOVQ n+32(FP), CX         \
	MOVQ weights+40(FP), AX   \
	MOVQ products+48(FP), BX  \
	SHLQ $3, DX               \
	SHRQ $3, CX               \
	LEAQ (DX)(DX*2), R9

// Of four rows the four sums in p, q, r and s: (s0 + s1) + (s2 + s3) of each.
#define FOURSUMS(p, q, r, s, to) \
	VHADDPD    q, p, p       \
	VHADDPD    s, r, r       \
	VPERM2F128 $0x21, r, p, q \
	VBLENDPD   $0xC, r, p, p \
	VADDPD     q, p, p       \
	VMOVUPD    p, to

// A row of eight columns and its weight, the sum of its products with x in Z16, and what is added to y in Z17.
#define ROW512(address, row, weight, sum) \
	VMOVUPD     address, row      \
	VFMADD231PD Z16, row, sum     \
	VFMADD231PD weight, row, Z17

// The sums of the second half of a register are added to those of the first.
#define HALVES(z, y) \
	VEXTRACTF64X4 $1, z, Y16 \
	VADDPD        Y16, y, y

// func addBothAVX512(y, x, a *float64, stride, n int, weights, products *[8]float64)
TEXT ·addBothAVX512(SB), NOSPLIT, $0-56
	ARGUMENTS
	LEAQ (R8)(DX*4), R10

	VBROADCASTSD 0(AX), Z8
	VBROADCASTSD 8(AX), Z9
	VBROADCASTSD 16(AX), Z10
	VBROADCASTSD 24(AX), Z11
	VBROADCASTSD 32(AX), Z12
	VBROADCASTSD 40(AX), Z13
	VBROADCASTSD 48(AX), Z14
	VBROADCASTSD 56(AX), Z15
	VPXORQ       Z0, Z0, Z0
	VPXORQ       Z1, Z1, Z1
	VPXORQ       Z2, Z2, Z2
	VPXORQ       Z3, Z3, Z3
	VPXORQ       Z4, Z4, Z4
	VPXORQ       Z5, Z5, Z5
	VPXORQ       Z6, Z6, Z6
	VPXORQ       Z7, Z7, Z7

wide:
	VMOVUPD (SI), Z16
	VMOVUPD (DI), Z17
	ROW512((R8), Z18, Z8, Z0)
	ROW512((R8)(DX*1), Z19, Z9, Z1)
	ROW512((R8)(DX*2), Z20, Z10, Z2)
	ROW512((R8)(R9*1), Z21, Z11, Z3)
	ROW512((R10), Z22, Z12, Z4)
	ROW512((R10)(DX*1), Z23, Z13, Z5)
	ROW512((R10)(DX*2), Z24, Z14, Z6)
	ROW512((R10)(R9*1), Z25, Z15, Z7)
	VMOVUPD Z17, (DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	ADDQ    $64, R8
	ADDQ    $64, R10
	DECQ    CX
	JNZ     wide

	HALVES(Z0, Y0)
	HALVES(Z1, Y1)
	HALVES(Z2, Y2)
	HALVES(Z3, Y3)
	HALVES(Z4, Y4)
	HALVES(Z5, Y5)
	HALVES(Z6, Y6)
	HALVES(Z7, Y7)
	FOURSUMS(Y0, Y1, Y2, Y3, (BX))
	FOURSUMS(Y4, Y5, Y6, Y7, 32(BX))
	VZEROUPPER
	RET

// The same of four columns, with x in Y12 and what is added to y in Y14.
#define ROW256(address, weight, sum) \
	VMOVUPD     address, Y13     \
	VFMADD231PD Y12, Y13, sum    \
	VFMADD231PD weight, Y13, Y14

// func addBothAVX2(y, x, a *float64, stride, n int, weights, products *[4]float64)
TEXT ·addBothAVX2(SB), NOSPLIT, $0-56
	ARGUMENTS

	VBROADCASTSD 0(AX), Y8
	VBROADCASTSD 8(AX), Y9
	VBROADCASTSD 16(AX), Y10
	VBROADCASTSD 24(AX), Y11
	VXORPD       Y0, Y0, Y0
	VXORPD       Y1, Y1, Y1
	VXORPD       Y2, Y2, Y2
	VXORPD       Y3, Y3, Y3
	VXORPD       Y4, Y4, Y4
	VXORPD       Y5, Y5, Y5
	VXORPD       Y6, Y6, Y6
	VXORPD       Y7, Y7, Y7

narrow:
	VMOVUPD (SI), Y12
	VMOVUPD (DI), Y14
	ROW256((R8), Y8, Y0)
	ROW256((R8)(DX*1), Y9, Y1)
	ROW256((R8)(DX*2), Y10, Y2)
	ROW256((R8)(R9*1), Y11, Y3)
	VMOVUPD Y14, (DI)
	VMOVUPD 32(SI), Y12
	VMOVUPD 32(DI), Y14
	ROW256(32(R8), Y8, Y4)
	ROW256(32(R8)(DX*1), Y9, Y5)
	ROW256(32(R8)(DX*2), Y10, Y6)
	ROW256(32(R8)(R9*1), Y11, Y7)
	VMOVUPD Y14, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	ADDQ    $64, R8
	DECQ    CX
	JNZ     narrow

	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	VADDPD Y7, Y3, Y3
	FOURSUMS(Y0, Y1, Y2, Y3, (BX))
	VZEROUPPER
	RET
