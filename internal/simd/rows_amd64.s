#include "textflag.h"

// Rows that values of sparse data pick of a factor, four at a time.

// The four rows that SI points at: R8, R9, R10, R11 = DX + at·CX.
#define ROWS \
	MOVQ  0(SI), R8   \
	MOVQ  8(SI), R9   \
	MOVQ  16(SI), R10 \
	MOVQ  24(SI), R11 \
	ADDQ  $32, SI     \
	IMULQ CX, R8      \
	IMULQ CX, R9      \
	IMULQ CX, R10     \
	IMULQ CX, R11     \
	ADDQ  DX, R8      \
	ADDQ  DX, R9      \
	ADDQ  DX, R10     \
	ADDQ  DX, R11

// func dotsAVX2(dst, a, rows *float64, at *int, n, width int)
// Eight sums of each row: those of the first four numbers of eight, and of the others.
TEXT ·dotsAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), AX
	MOVQ rows+16(FP), DX
	MOVQ at+24(FP), SI
	MOVQ n+32(FP), BX
	MOVQ width+40(FP), CX
	SHLQ $3, CX

four:
	ROWS
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	XORQ   R12, R12

lanes:
	VMOVUPD     (AX)(R12*1), Y8
	VFMADD231PD (R8)(R12*1), Y8, Y0
	VFMADD231PD (R9)(R12*1), Y8, Y1
	VFMADD231PD (R10)(R12*1), Y8, Y2
	VFMADD231PD (R11)(R12*1), Y8, Y3
	ADDQ        $32, R12
	CMPQ        R12, CX
	JGE         summed
	VMOVUPD     (AX)(R12*1), Y8
	VFMADD231PD (R8)(R12*1), Y8, Y4
	VFMADD231PD (R9)(R12*1), Y8, Y5
	VFMADD231PD (R10)(R12*1), Y8, Y6
	VFMADD231PD (R11)(R12*1), Y8, Y7
	ADDQ        $32, R12
	CMPQ        R12, CX
	JLT         lanes

summed:
	// Of each row the eight sums to four, and those: (s0 + s1) + (s2 + s3).
	VADDPD     Y4, Y0, Y0
	VADDPD     Y5, Y1, Y1
	VADDPD     Y6, Y2, Y2
	VADDPD     Y7, Y3, Y3
	VHADDPD    Y1, Y0, Y0
	VHADDPD    Y3, Y2, Y2
	VPERM2F128 $0x21, Y2, Y0, Y1
	VBLENDPD   $0xC, Y2, Y0, Y0
	VADDPD     Y1, Y0, Y0
	VMOVUPD    Y0, (DI)
	ADDQ       $32, DI
	SUBQ       $4, BX
	JNZ        four
	VZEROUPPER
	RET

// func addRowsAVX2(dst, weights, rows *float64, at *int, n, width int)
TEXT ·addRowsAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ weights+8(FP), AX
	MOVQ rows+16(FP), DX
	MOVQ at+24(FP), SI
	MOVQ n+32(FP), BX
	MOVQ width+40(FP), CX
	SHLQ $3, CX

four:
	ROWS
	VBROADCASTSD 0(AX), Y0
	VBROADCASTSD 8(AX), Y1
	VBROADCASTSD 16(AX), Y2
	VBROADCASTSD 24(AX), Y3
	ADDQ         $32, AX
	XORQ         R12, R12

lane:
	VMULPD      (R8)(R12*1), Y0, Y4
	VFMADD231PD (R9)(R12*1), Y1, Y4
	VFMADD231PD (R10)(R12*1), Y2, Y4
	VFMADD231PD (R11)(R12*1), Y3, Y4
	VADDPD      (DI)(R12*1), Y4, Y4
	VMOVUPD     Y4, (DI)(R12*1)
	ADDQ        $32, R12
	CMPQ        R12, CX
	JLT         lane

	SUBQ $4, BX
	JNZ  four
	VZEROUPPER
	RET

// In registers of eight numbers Z0 to Z4 are what is added to, up to 40 numbers.

// sum += Z6·row + Z7·row + Z8·row + Z9·row, of eight numbers of the four rows.
#define ADD(at, sum) \
	VMULPD      at(R8), Z6, Z10  \
	VFMADD231PD at(R9), Z7, Z10  \
	VFMADD231PD at(R10), Z8, Z10 \
	VFMADD231PD at(R11), Z9, Z10 \
	VADDPD      Z10, sum, sum

// The next four weights, of which there are AX of.
#define WEIGHTS \
	VBROADCASTSD 0(AX), Z6  \
	VBROADCASTSD 8(AX), Z7  \
	VBROADCASTSD 16(AX), Z8 \
	VBROADCASTSD 24(AX), Z9 \
	ADDQ         $32, AX

// The inner products begin with the first eight numbers of the rows, and go on with others.
// The rows stay in r0, r1, r2, r3.
#define FIRST(r0, r1, r2, r3) \
	VMOVUPD (AX), Z9    \
	VMOVUPD (R8), r0    \
	VMOVUPD (R9), r1    \
	VMOVUPD (R10), r2   \
	VMOVUPD (R11), r3   \
	VMULPD  r0, Z9, Z5  \
	VMULPD  r1, Z9, Z6  \
	VMULPD  r2, Z9, Z7  \
	VMULPD  r3, Z9, Z8

#define NEXT(at, r0, r1, r2, r3) \
	VMOVUPD     at(AX), Z9  \
	VMOVUPD     at(R8), r0  \
	VMOVUPD     at(R9), r1  \
	VMOVUPD     at(R10), r2 \
	VMOVUPD     at(R11), r3 \
	VFMADD231PD r0, Z9, Z5  \
	VFMADD231PD r1, Z9, Z6  \
	VFMADD231PD r2, Z9, Z7  \
	VFMADD231PD r3, Z9, Z8

// The four ratios x/max(product, floor) to y, and in Z6 to Z9 for the rows.
#define DIVIDE \
	VEXTRACTF64X4 $1, Z5, Y9         \
	VADDPD        Y9, Y5, Y5         \
	VEXTRACTF64X4 $1, Z6, Y30        \
	VADDPD        Y30, Y6, Y6        \
	VEXTRACTF64X4 $1, Z7, Y9         \
	VADDPD        Y9, Y7, Y7         \
	VEXTRACTF64X4 $1, Z8, Y30        \
	VADDPD        Y30, Y8, Y8        \
	VHADDPD       Y6, Y5, Y5         \
	VHADDPD       Y8, Y7, Y7         \
	VPERM2F128    $0x21, Y7, Y5, Y6  \
	VBLENDPD      $0xC, Y7, Y5, Y5   \
	VADDPD        Y6, Y5, Y5         \
	VMAXPD        Y5, Y31, Y5        \
	VMOVUPD       (R12), Y6          \
	VDIVPD        Y5, Y6, Y5         \
	VMOVUPD       Y5, (R13)          \
	ADDQ          $32, R12           \
	ADDQ          $32, R13           \
	VINSERTF64X4  $1, Y5, Z5, Z5     \
	VPERMPD       $0x00, Z5, Z6      \
	VPERMPD       $0x55, Z5, Z7      \
	VPERMPD       $0xAA, Z5, Z8      \
	VPERMPD       $0xFF, Z5, Z9

// sum += Z6·r0 + Z7·r1 + Z8·r2 + Z9·r3.
#define ADDHELD(sum, r0, r1, r2, r3) \
	VMULPD      r0, Z6, r0 \
	VFMADD231PD r1, Z7, r0 \
	VFMADD231PD r2, Z8, r0 \
	VFMADD231PD r3, Z9, r0 \
	VADDPD      r0, sum, sum

// func addRowsAVX512(dst, weights, rows *float64, at *int, n, width int)
// width is 8, 16, 24, 32 or 40.
TEXT ·addRowsAVX512(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ weights+8(FP), AX
	MOVQ rows+16(FP), DX
	MOVQ at+24(FP), SI
	MOVQ n+32(FP), BX
	MOVQ width+40(FP), CX
	SHLQ $3, CX
	CMPQ CX, $128
	JLT  one
	JEQ  two
	CMPQ CX, $256
	JLT  three
	JEQ  four
	JMP  five

one:
	VMOVUPD 0(DI), Z0

oneRows:
	ROWS
	WEIGHTS
	ADD(0, Z0)
	SUBQ $4, BX
	JNZ  oneRows
	VMOVUPD Z0, 0(DI)
	VZEROUPPER
	RET

two:
	VMOVUPD 0(DI), Z0
	VMOVUPD 64(DI), Z1

twoRows:
	ROWS
	WEIGHTS
	ADD(0, Z0)
	ADD(64, Z1)
	SUBQ $4, BX
	JNZ  twoRows
	VMOVUPD Z0, 0(DI)
	VMOVUPD Z1, 64(DI)
	VZEROUPPER
	RET

three:
	VMOVUPD 0(DI), Z0
	VMOVUPD 64(DI), Z1
	VMOVUPD 128(DI), Z2

threeRows:
	ROWS
	WEIGHTS
	ADD(0, Z0)
	ADD(64, Z1)
	ADD(128, Z2)
	SUBQ $4, BX
	JNZ  threeRows
	VMOVUPD Z0, 0(DI)
	VMOVUPD Z1, 64(DI)
	VMOVUPD Z2, 128(DI)
	VZEROUPPER
	RET

four:
	VMOVUPD 0(DI), Z0
	VMOVUPD 64(DI), Z1
	VMOVUPD 128(DI), Z2
	VMOVUPD 192(DI), Z3

fourRows:
	ROWS
	WEIGHTS
	ADD(0, Z0)
	ADD(64, Z1)
	ADD(128, Z2)
	ADD(192, Z3)
	SUBQ $4, BX
	JNZ  fourRows
	VMOVUPD Z0, 0(DI)
	VMOVUPD Z1, 64(DI)
	VMOVUPD Z2, 128(DI)
	VMOVUPD Z3, 192(DI)
	VZEROUPPER
	RET

five:
	VMOVUPD 0(DI), Z0
	VMOVUPD 64(DI), Z1
	VMOVUPD 128(DI), Z2
	VMOVUPD 192(DI), Z3
	VMOVUPD 256(DI), Z4

fiveRows:
	ROWS
	WEIGHTS
	ADD(0, Z0)
	ADD(64, Z1)
	ADD(128, Z2)
	ADD(192, Z3)
	ADD(256, Z4)
	SUBQ $4, BX
	JNZ  fiveRows
	VMOVUPD Z0, 0(DI)
	VMOVUPD Z1, 64(DI)
	VMOVUPD Z2, 128(DI)
	VMOVUPD Z3, 192(DI)
	VMOVUPD Z4, 256(DI)
	VZEROUPPER
	RET

// func ratiosAVX512(dst, a, rows *float64, at *int, x, y *float64, n, width int, floor float64)
// width is 8, 16, 24, 32 or 40. Rows are read once for both what they are for.
TEXT ·ratiosAVX512(SB), NOSPLIT, $0-72
	MOVQ         dst+0(FP), DI
	MOVQ         a+8(FP), AX
	MOVQ         rows+16(FP), DX
	MOVQ         at+24(FP), SI
	MOVQ         x+32(FP), R12
	MOVQ         y+40(FP), R13
	MOVQ         n+48(FP), BX
	MOVQ         width+56(FP), CX
	VBROADCASTSD floor+64(FP), Z31
	SHLQ         $3, CX
	CMPQ CX, $128
	JLT  one
	JEQ  two
	CMPQ CX, $256
	JLT  three
	JEQ  four
	JMP  five

one:
	VMOVUPD 0(DI), Z0

oneRows:
	ROWS
	FIRST(Z10, Z11, Z12, Z13)
	DIVIDE
	ADDHELD(Z0, Z10, Z11, Z12, Z13)
	SUBQ $4, BX
	JNZ  oneRows
	VMOVUPD Z0, 0(DI)
	VZEROUPPER
	RET

two:
	VMOVUPD 0(DI), Z0
	VMOVUPD 64(DI), Z1

twoRows:
	ROWS
	FIRST(Z10, Z11, Z12, Z13)
	NEXT(64, Z14, Z15, Z16, Z17)
	DIVIDE
	ADDHELD(Z0, Z10, Z11, Z12, Z13)
	ADDHELD(Z1, Z14, Z15, Z16, Z17)
	SUBQ $4, BX
	JNZ  twoRows
	VMOVUPD Z0, 0(DI)
	VMOVUPD Z1, 64(DI)
	VZEROUPPER
	RET

three:
	VMOVUPD 0(DI), Z0
	VMOVUPD 64(DI), Z1
	VMOVUPD 128(DI), Z2

threeRows:
	ROWS
	FIRST(Z10, Z11, Z12, Z13)
	NEXT(64, Z14, Z15, Z16, Z17)
	NEXT(128, Z18, Z19, Z20, Z21)
	DIVIDE
	ADDHELD(Z0, Z10, Z11, Z12, Z13)
	ADDHELD(Z1, Z14, Z15, Z16, Z17)
	ADDHELD(Z2, Z18, Z19, Z20, Z21)
	SUBQ $4, BX
	JNZ  threeRows
	VMOVUPD Z0, 0(DI)
	VMOVUPD Z1, 64(DI)
	VMOVUPD Z2, 128(DI)
	VZEROUPPER
	RET

four:
	VMOVUPD 0(DI), Z0
	VMOVUPD 64(DI), Z1
	VMOVUPD 128(DI), Z2
	VMOVUPD 192(DI), Z3

fourRows:
	ROWS
	FIRST(Z10, Z11, Z12, Z13)
	NEXT(64, Z14, Z15, Z16, Z17)
	NEXT(128, Z18, Z19, Z20, Z21)
	NEXT(192, Z22, Z23, Z24, Z25)
	DIVIDE
	ADDHELD(Z0, Z10, Z11, Z12, Z13)
	ADDHELD(Z1, Z14, Z15, Z16, Z17)
	ADDHELD(Z2, Z18, Z19, Z20, Z21)
	ADDHELD(Z3, Z22, Z23, Z24, Z25)
	SUBQ $4, BX
	JNZ  fourRows
	VMOVUPD Z0, 0(DI)
	VMOVUPD Z1, 64(DI)
	VMOVUPD Z2, 128(DI)
	VMOVUPD Z3, 192(DI)
	VZEROUPPER
	RET

five:
	VMOVUPD 0(DI), Z0
	VMOVUPD 64(DI), Z1
	VMOVUPD 128(DI), Z2
	VMOVUPD 192(DI), Z3
	VMOVUPD 256(DI), Z4

fiveRows:
	ROWS
	FIRST(Z10, Z11, Z12, Z13)
	NEXT(64, Z14, Z15, Z16, Z17)
	NEXT(128, Z18, Z19, Z20, Z21)
	NEXT(192, Z22, Z23, Z24, Z25)
	NEXT(256, Z26, Z27, Z28, Z29)
	DIVIDE
	ADDHELD(Z0, Z10, Z11, Z12, Z13)
	ADDHELD(Z1, Z14, Z15, Z16, Z17)
	ADDHELD(Z2, Z18, Z19, Z20, Z21)
	ADDHELD(Z3, Z22, Z23, Z24, Z25)
	ADDHELD(Z4, Z26, Z27, Z28, Z29)
	SUBQ $4, BX
	JNZ  fiveRows
	VMOVUPD Z0, 0(DI)
	VMOVUPD Z1, 64(DI)
	VMOVUPD Z2, 128(DI)
	VMOVUPD Z3, 192(DI)
	VMOVUPD Z4, 256(DI)
	VZEROUPPER
	RET
