#include "textflag.h"

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
	ADDQ DX, R11

// func dotsAVX2(dst, a, rows *float64, at *int, n, width int)
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
	XORQ   R12, R12

lane:
	VMOVUPD     (AX)(R12*1), Y8
	VFMADD231PD (R8)(R12*1), Y8, Y0
	VFMADD231PD (R9)(R12*1), Y8, Y1
	VFMADD231PD (R10)(R12*1), Y8, Y2
	VFMADD231PD (R11)(R12*1), Y8, Y3
	ADDQ        $32, R12
	CMPQ        R12, CX
	JLT         lane

	// Of each row the four sums: (s0 + s1) + (s2 + s3).
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

// func divideAVX2(y, x *float64, n int, floor float64)
TEXT ·divideAVX2(SB), NOSPLIT, $0-32
	MOVQ         y+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), BX
	VBROADCASTSD floor+24(FP), Y15

four:
	VMOVUPD (SI), Y0
	VMAXPD  (DI), Y15, Y1
	VDIVPD  Y1, Y0, Y1
	VMOVUPD Y1, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, BX
	JNZ     four
	VZEROUPPER
	RET

// What constants holds.
#define EXPONENT 0(DX)
#define BIAS     8(DX)
#define INDEX    16(DX)
#define MANTISSA 24(DX)
#define ONE      32(DX)
#define LN2      40(DX)
#define HALF     48(DX)
#define THIRD    56(DX)
#define FOURTH   64(DX)
#define FIFTH    72(DX)
#define SIXTH    80(DX)

// func divideSumAVX2(y, x *float64, n int, floor float64, constants, table *float64) float64
TEXT ·divideSumAVX2(SB), NOSPLIT, $0-56
	MOVQ         y+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), BX
	VBROADCASTSD floor+24(FP), Y15
	MOVQ         constants+32(FP), DX
	MOVQ         table+40(FP), AX
	VBROADCASTSD EXPONENT, Y13
	VBROADCASTSD BIAS, Y12
	VBROADCASTSD INDEX, Y11
	VBROADCASTSD MANTISSA, Y10
	VBROADCASTSD ONE, Y9
	VXORPD       Y8, Y8, Y8

four:
	VMOVUPD (SI), Y0
	VMAXPD  (DI), Y15, Y1
	VDIVPD  Y1, Y0, Y1
	VMOVUPD Y1, (DI)

	// Y2 = exponent, Y3 = place in the table, Y1 = mantissa.
	VPSRLQ $52, Y1, Y2
	VPOR   Y13, Y2, Y2
	VSUBPD Y12, Y2, Y2
	VPSRLQ $45, Y1, Y3
	VPAND  Y11, Y3, Y3
	VPADDQ Y3, Y3, Y3
	VPAND  Y10, Y1, Y1
	VPOR   Y9, Y1, Y1

	// Y4 = inverse, Y5 = its logarithm.
	VPCMPEQQ   Y6, Y6, Y6
	VXORPD     Y4, Y4, Y4
	VGATHERQPD Y6, (AX)(Y3*8), Y4
	VPCMPEQQ   Y7, Y7, Y7
	VXORPD     Y5, Y5, Y5
	VGATHERQPD Y7, 8(AX)(Y3*8), Y5

	// Y1 = r, Y3 = the series.
	VFMSUB213PD  Y9, Y4, Y1
	VBROADCASTSD SIXTH, Y3
	VBROADCASTSD FIFTH, Y4
	VFNMADD213PD Y4, Y1, Y3
	VBROADCASTSD FOURTH, Y4
	VFNMADD213PD Y4, Y1, Y3
	VBROADCASTSD THIRD, Y4
	VFNMADD213PD Y4, Y1, Y3
	VBROADCASTSD HALF, Y4
	VFNMADD213PD Y4, Y1, Y3
	VFNMADD213PD Y9, Y1, Y3

	// x·(exponent·ln 2 + (logarithm + r·series))
	VFMADD213PD  Y5, Y1, Y3
	VBROADCASTSD LN2, Y4
	VFMADD213PD  Y3, Y4, Y2
	VFMADD231PD  Y2, Y0, Y8

	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $4, BX
	JNZ  four

	// (s0 + s1) + (s2 + s3)
	VHADDPD      Y8, Y8, Y8
	VEXTRACTF128 $1, Y8, X1
	VADDSD       X1, X8, X8
	VMOVSD       X8, ret+48(FP)
	VZEROUPPER
	RET

// func sweepAVX2(v, b, h, inverse, active, step *float64, k int)
// Y0–Y7 are h_r·v in the 32 columns, R9 is what row r begins at in bytes of v and b.
TEXT ·sweepAVX2(SB), NOSPLIT, $0-56
	MOVQ v+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ h+16(FP), DX
	MOVQ inverse+24(FP), R8
	MOVQ active+32(FP), AX
	MOVQ step+40(FP), BX
	MOVQ k+48(FP), CX
	XORQ R9, R9
	MOVQ CX, R10      // rows that are left
	XORQ R13, R13     // r in bytes

row:
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	MOVQ   DI, R11
	MOVQ   DX, R12
	MOVQ   CX, R14

other:
	VBROADCASTSD (R12), Y8
	VFMADD231PD  0(R11), Y8, Y0
	VFMADD231PD  32(R11), Y8, Y1
	VFMADD231PD  64(R11), Y8, Y2
	VFMADD231PD  96(R11), Y8, Y3
	VFMADD231PD  128(R11), Y8, Y4
	VFMADD231PD  160(R11), Y8, Y5
	VFMADD231PD  192(R11), Y8, Y6
	VFMADD231PD  224(R11), Y8, Y7
	ADDQ         $8, R12
	ADDQ         $256, R11
	DECQ         R14
	JNZ          other

	VBROADCASTSD (R8)(R13*1), Y9  // inverse_r
	VBROADCASTSD (DX)(R13*1), Y10 // h_rr
	VXORPD       Y11, Y11, Y11
	LEAQ         (DI)(R9*1), R11
	LEAQ         (SI)(R9*1), R12

// New values in Y13, what they have moved by in Y12.
#define MOVE(sum, at) \
	VMOVUPD      at(R11), Y14     \
	VSUBPD       at(R12), sum, sum \
	VMOVAPD      Y14, Y13         \
	VFNMADD231PD sum, Y9, Y13     \
	VMAXPD       Y11, Y13, Y13    \
	VSUBPD       Y14, Y13, Y12    \
	VANDPD       at(AX), Y12, Y12 \
	VADDPD       Y12, Y14, Y13    \
	VMOVUPD      Y13, at(R11)     \
	VMULPD       Y12, Y12, Y12    \
	VMOVUPD      at(BX), Y13      \
	VFMADD231PD  Y12, Y10, Y13    \
	VMOVUPD      Y13, at(BX)

	MOVE(Y0, 0)
	MOVE(Y1, 32)
	MOVE(Y2, 64)
	MOVE(Y3, 96)
	MOVE(Y4, 128)
	MOVE(Y5, 160)
	MOVE(Y6, 192)
	MOVE(Y7, 224)

	LEAQ (DX)(CX*8), DX
	ADDQ $256, R9
	ADDQ $8, R13
	DECQ R10
	JNZ  row
	VZEROUPPER
	RET
