#include "textflag.h"

// The second to fourth of rows that are stride numbers apart from first on, or for those that are missing
// the last.
#define FOURROWS(rows, stride, first, second, third, fourth) \
	SHLQ    $2, stride                \
	LEAQ    (first)(stride*1), second \
	CMPQ    rows, $2                  \
	CMOVQLT first, second             \
	LEAQ    (second)(stride*1), third \
	CMPQ    rows, $3                  \
	CMOVQLT second, third             \
	LEAQ    (third)(stride*1), fourth \
	CMPQ    rows, $4                  \
	CMOVQLT third, fourth

// Four rows of a and of b, and how long they are.
#define FACTORS \
	MOVQ a+8(FP), SI      \
	MOVQ rowsA+16(FP), AX \
	MOVQ lda+24(FP), BX   \
	FOURROWS(AX, BX, SI, R8, R9, R10) \
	MOVQ b+32(FP), DI     \
	MOVQ rowsB+40(FP), AX \
	MOVQ ldb+48(FP), BX   \
	FOURROWS(AX, BX, DI, R11, R12, R13) \
	MOVQ depth+56(FP), DX

// What is read from the beginning of the rows, in registers of sixteen numbers.
#define BEGIN \
	XORQ BX, BX \
	MOVQ DX, CX \
	SHRQ $4, CX

// A row of b with the four of a.
#define INNERROW(x, p, q, r, s) \
	VFMADD231PS Z0, x, p \
	VFMADD231PS Z1, x, q \
	VFMADD231PS Z2, x, r \
	VFMADD231PS Z3, x, s

// Of two registers or of two pairs the sums of neighbouring lanes, those of one beside those of the other.
#define PAIRS(UNPACKLOW, UNPACKHIGH, p, q, free, to) \
	UNPACKHIGH q, p, free \
	UNPACKLOW  q, p, to   \
	VADDPS     free, to, to

// func innerAVX512(sums *[16]float32, a *float32, rowsA, lda int, b *float32, rowsB, ldb, depth int, ahead *float32)
TEXT ·innerAVX512(SB), NOSPLIT, $0-72
	FACTORS
	MOVQ   ahead+64(FP), AX
	BEGIN
	VPXORQ Z16, Z16, Z16
	VPXORQ Z17, Z17, Z17
	VPXORQ Z18, Z18, Z18
	VPXORQ Z19, Z19, Z19
	VPXORQ Z20, Z20, Z20
	VPXORQ Z21, Z21, Z21
	VPXORQ Z22, Z22, Z22
	VPXORQ Z23, Z23, Z23
	VPXORQ Z24, Z24, Z24
	VPXORQ Z25, Z25, Z25
	VPXORQ Z26, Z26, Z26
	VPXORQ Z27, Z27, Z27
	VPXORQ Z28, Z28, Z28
	VPXORQ Z29, Z29, Z29
	VPXORQ Z30, Z30, Z30
	VPXORQ Z31, Z31, Z31
	TESTQ  CX, CX
	JEQ    rest

	PCALIGN $64
deep:
	PREFETCHT1 (AX)(BX*1)
	VMOVUPS    (SI)(BX*1), Z0
	VMOVUPS    (R8)(BX*1), Z1
	VMOVUPS    (R9)(BX*1), Z2
	VMOVUPS    (R10)(BX*1), Z3
	VMOVUPS    (DI)(BX*1), Z4
	INNERROW(Z4, Z16, Z20, Z24, Z28)
	VMOVUPS    (R11)(BX*1), Z5
	INNERROW(Z5, Z17, Z21, Z25, Z29)
	VMOVUPS    (R12)(BX*1), Z6
	INNERROW(Z6, Z18, Z22, Z26, Z30)
	VMOVUPS    (R13)(BX*1), Z7
	INNERROW(Z7, Z19, Z23, Z27, Z31)
	ADDQ       $64, BX
	DECQ       CX
	JNZ        deep

rest:
	// What is left of the rows, less than a register of each.
	MOVQ DX, CX
	ANDQ $15, CX
	JEQ  sum
	MOVQ $1, DX
	SHLQ CX, DX
	DECQ DX
	KMOVW DX, K1
	VMOVUPS.Z (SI)(BX*1), K1, Z0
	VMOVUPS.Z (R8)(BX*1), K1, Z1
	VMOVUPS.Z (R9)(BX*1), K1, Z2
	VMOVUPS.Z (R10)(BX*1), K1, Z3
	VMOVUPS.Z (DI)(BX*1), K1, Z4
	INNERROW(Z4, Z16, Z20, Z24, Z28)
	VMOVUPS.Z (R11)(BX*1), K1, Z5
	INNERROW(Z5, Z17, Z21, Z25, Z29)
	VMOVUPS.Z (R12)(BX*1), K1, Z6
	INNERROW(Z6, Z18, Z22, Z26, Z30)
	VMOVUPS.Z (R13)(BX*1), K1, Z7
	INNERROW(Z7, Z19, Z23, Z27, Z31)

sum:
	// Sixteen sums of sixteen lanes, to two quarters of each, to one, and of four quarters to one register.
	MOVQ sums+0(FP), DI
	PAIRS(VUNPCKLPS, VUNPCKHPS, Z16, Z17, Z0, Z1)
	PAIRS(VUNPCKLPS, VUNPCKHPS, Z18, Z19, Z2, Z3)
	PAIRS(VUNPCKLPS, VUNPCKHPS, Z20, Z21, Z4, Z5)
	PAIRS(VUNPCKLPS, VUNPCKHPS, Z22, Z23, Z6, Z7)
	PAIRS(VUNPCKLPS, VUNPCKHPS, Z24, Z25, Z8, Z9)
	PAIRS(VUNPCKLPS, VUNPCKHPS, Z26, Z27, Z10, Z11)
	PAIRS(VUNPCKLPS, VUNPCKHPS, Z28, Z29, Z12, Z13)
	PAIRS(VUNPCKLPS, VUNPCKHPS, Z30, Z31, Z14, Z15)
	PAIRS(VUNPCKLPD, VUNPCKHPD, Z1, Z3, Z16, Z0)
	PAIRS(VUNPCKLPD, VUNPCKHPD, Z5, Z7, Z17, Z2)
	PAIRS(VUNPCKLPD, VUNPCKHPD, Z9, Z11, Z18, Z4)
	PAIRS(VUNPCKLPD, VUNPCKHPD, Z13, Z15, Z19, Z6)
	VSHUFF32X4 $0x88, Z2, Z0, Z1
	VSHUFF32X4 $0xDD, Z2, Z0, Z3
	VADDPS     Z3, Z1, Z1
	VSHUFF32X4 $0x88, Z6, Z4, Z5
	VSHUFF32X4 $0xDD, Z6, Z4, Z7
	VADDPS     Z7, Z5, Z5
	VSHUFF32X4 $0x88, Z5, Z1, Z2
	VSHUFF32X4 $0xDD, Z5, Z1, Z3
	VADDPS     Z3, Z2, Z2
	VMOVUPS    Z2, (DI)
	VZEROUPPER
	RET

// Sixteen numbers of two rows of a, Y0 to Y3, with those of two rows of b.
#define INNERTWO \
	VFMADD231PS Y0, Y4, Y8  \
	VFMADD231PS Y1, Y5, Y9  \
	VFMADD231PS Y2, Y4, Y12 \
	VFMADD231PS Y3, Y5, Y13 \
	VFMADD231PS Y0, Y6, Y10 \
	VFMADD231PS Y1, Y7, Y11 \
	VFMADD231PS Y2, Y6, Y14 \
	VFMADD231PS Y3, Y7, Y15

// Of four sums of eight lanes, to those of a quarter and to one of each.
#define LANES(p, q, r, s, to) \
	PAIRS(VUNPCKLPS, VUNPCKHPS, p, q, Y0, Y1) \
	PAIRS(VUNPCKLPS, VUNPCKHPS, r, s, Y2, Y3) \
	PAIRS(VUNPCKLPD, VUNPCKHPD, Y1, Y3, Y0, Y2) \
	VEXTRACTF128 $1, Y2, X0 \
	VADDPS       X0, X2, to

// Two rows of a with two of b, of which place is the first of sums.
#define INNERFOUR(deep, rest, sum, a0, a1, b0, b1, place) \
	BEGIN \
	VXORPS Y8, Y8, Y8    \
	VXORPS Y9, Y9, Y9    \
	VXORPS Y10, Y10, Y10 \
	VXORPS Y11, Y11, Y11 \
	VXORPS Y12, Y12, Y12 \
	VXORPS Y13, Y13, Y13 \
	VXORPS Y14, Y14, Y14 \
	VXORPS Y15, Y15, Y15 \
	TESTQ  CX, CX        \
	JEQ    rest          \
deep: \
	VMOVUPS 0(a0)(BX*1), Y0  \
	VMOVUPS 32(a0)(BX*1), Y1 \
	VMOVUPS 0(a1)(BX*1), Y2  \
	VMOVUPS 32(a1)(BX*1), Y3 \
	VMOVUPS 0(b0)(BX*1), Y4  \
	VMOVUPS 32(b0)(BX*1), Y5 \
	VMOVUPS 0(b1)(BX*1), Y6  \
	VMOVUPS 32(b1)(BX*1), Y7 \
	INNERTWO     \
	ADDQ $64, BX \
	DECQ CX      \
	JNZ  deep    \
rest: \
	MOVQ DX, CX  \
	ANDQ $15, CX \
	JEQ  sum     \
	NEGQ CX      \
	LEAQ innerMask<>+64(SB), AX  \
	LEAQ (AX)(CX*4), AX          \
	VMOVUPS    0(AX), Y7         \
	VMASKMOVPS (a0)(BX*1), Y7, Y0 \
	VMASKMOVPS (a1)(BX*1), Y7, Y2 \
	VMASKMOVPS (b0)(BX*1), Y7, Y4 \
	VMASKMOVPS (b1)(BX*1), Y7, Y6 \
	VMOVUPS    32(AX), Y7          \
	VMASKMOVPS 32(a0)(BX*1), Y7, Y1 \
	VMASKMOVPS 32(a1)(BX*1), Y7, Y3 \
	VMASKMOVPS 32(b0)(BX*1), Y7, Y5 \
	VMASKMOVPS 32(b1)(BX*1), Y7, Y7 \
	INNERTWO \
sum: \
	LANES(Y8, Y10, Y12, Y14, X4) \
	LANES(Y9, Y11, Y13, Y15, X5) \
	VADDPS  X5, X4, X4           \
	MOVQ    sums+0(FP), AX       \
	VMOVLPS X4, place(AX)        \
	VMOVHPS X4, (place+16)(AX)

// Numbers to be read, and not to be read.
DATA innerMask<>+0(SB)/8, $-1
DATA innerMask<>+8(SB)/8, $-1
DATA innerMask<>+16(SB)/8, $-1
DATA innerMask<>+24(SB)/8, $-1
DATA innerMask<>+32(SB)/8, $-1
DATA innerMask<>+40(SB)/8, $-1
DATA innerMask<>+48(SB)/8, $-1
DATA innerMask<>+56(SB)/8, $-1
GLOBL innerMask<>(SB), RODATA|NOPTR, $128

// func innerAVX2(sums *[16]float32, a *float32, rowsA, lda int, b *float32, rowsB, ldb, depth int)
TEXT ·innerAVX2(SB), NOSPLIT, $0-64
	FACTORS
	INNERFOUR(deepfirst, restfirst, sumfirst, SI, R8, DI, R11, 0)
	INNERFOUR(deepsecond, restsecond, sumsecond, SI, R8, R12, R13, 8)
	INNERFOUR(deepthird, restthird, sumthird, R9, R10, DI, R11, 32)
	INNERFOUR(deepfourth, restfourth, sumfourth, R9, R10, R12, R13, 40)
	VZEROUPPER
	RET
