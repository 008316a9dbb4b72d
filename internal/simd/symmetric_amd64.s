#include "textflag.h"

// func addBothAVX2(y, x, a *float64, stride, n int, weights, sums *[4]float64)
TEXT ·addBothAVX2(SB), NOSPLIT, $0-56
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ a+16(FP), R8
	MOVQ stride+24(FP), DX
	MOVQ n+32(FP), CX
	MOVQ weights+40(FP), AX
	MOVQ sums+48(FP), BX
	SHLQ $3, DX
	SHLQ $3, CX
	LEAQ (R8)(DX*1), R9
	LEAQ (R9)(DX*1), R10
	LEAQ (R10)(DX*1), R11

	VBROADCASTSD 0(AX), Y8
	VBROADCASTSD 8(AX), Y9
	VBROADCASTSD 16(AX), Y10
	VBROADCASTSD 24(AX), Y11
	VXORPD       Y0, Y0, Y0
	VXORPD       Y1, Y1, Y1
	VXORPD       Y2, Y2, Y2
	VXORPD       Y3, Y3, Y3
	XORQ         R12, R12

lane:
	VMOVUPD     (R8)(R12*1), Y4
	VMOVUPD     (R9)(R12*1), Y5
	VMOVUPD     (R10)(R12*1), Y6
	VMOVUPD     (R11)(R12*1), Y7
	VMOVUPD     (SI)(R12*1), Y12
	VFMADD231PD Y12, Y4, Y0
	VFMADD231PD Y12, Y5, Y1
	VFMADD231PD Y12, Y6, Y2
	VFMADD231PD Y12, Y7, Y3
	VMULPD      Y8, Y4, Y4
	VMULPD      Y10, Y6, Y6
	VFMADD231PD Y9, Y5, Y4
	VFMADD231PD Y11, Y7, Y6
	VADDPD      (DI)(R12*1), Y4, Y4
	VADDPD      Y6, Y4, Y4
	VMOVUPD     Y4, (DI)(R12*1)
	ADDQ        $32, R12
	CMPQ        R12, CX
	JLT         lane

	// Of each row the four sums: (s0 + s1) + (s2 + s3).
	VHADDPD    Y1, Y0, Y0
	VHADDPD    Y3, Y2, Y2
	VPERM2F128 $0x21, Y2, Y0, Y1
	VBLENDPD   $0xC, Y2, Y0, Y0
	VADDPD     Y1, Y0, Y0
	VADDPD     (BX), Y0, Y0
	VMOVUPD    Y0, (BX)
	VZEROUPPER
	RET
