#include "textflag.h"

// func divide32AVX2(y, x *float32, n int, floor float32)
// n is a multiple of 8.
TEXT ·divide32AVX2(SB), NOSPLIT, $0-28
	MOVQ         y+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), BX
	VBROADCASTSS floor+24(FP), Y15

eight:
	VMOVUPS (SI), Y0
	VMAXPS  (DI), Y15, Y1
	VDIVPS  Y1, Y0, Y1
	VMOVUPS Y1, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $8, BX
	JNZ     eight
	VZEROUPPER
	RET

// func divideSum32AVX2(y, x *float32, n int, floor float32, constants *[8]float32) float64
// n is a multiple of 8. Y2 is the exponent, Y1 the rest less 1, Y3 the series. Y6 and Y7 are the
// sums of the first and the last four of eight numbers.
TEXT ·divideSum32AVX2(SB), NOSPLIT, $0-48
	MOVQ         y+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), BX
	VBROADCASTSS floor+24(FP), Y15
	MOVQ         constants+32(FP), DX
	VMOVUPS      0(DX), Y14   // from √½ to 1
	VMOVUPS      32(DX), Y13  // √½
	VMOVUPS      64(DX), Y12  // a mantissa
	VMOVUPS      96(DX), Y11  // the exponent of 1
	VMOVUPS      128(DX), Y10 // log 2
	VPADDD       Y13, Y14, Y9 // 1
	VXORPD       Y6, Y6, Y6
	VXORPD       Y7, Y7, Y7

eight:
	VMOVUPS (SI), Y0
	VMAXPS  (DI), Y15, Y1
	VDIVPS  Y1, Y0, Y1
	VMOVUPS Y1, (DI)

	VPADDD       Y14, Y1, Y1
	VPSRLD       $23, Y1, Y2
	VPSUBD       Y11, Y2, Y2
	VCVTDQ2PS    Y2, Y2
	VPAND        Y12, Y1, Y1
	VPADDD       Y13, Y1, Y1
	VSUBPS       Y9, Y1, Y1
	VMOVUPS      160(DX), Y3
	VFMADD213PS  192(DX), Y1, Y3
	VFMADD213PS  224(DX), Y1, Y3
	VFMADD213PS  256(DX), Y1, Y3
	VFMADD213PS  288(DX), Y1, Y3
	VFMADD213PS  320(DX), Y1, Y3
	VFMADD213PS  352(DX), Y1, Y3
	VFMADD213PS  384(DX), Y1, Y3
	VFMADD213PS  416(DX), Y1, Y3
	VFMADD213PS  448(DX), Y1, Y3
	VMULPS       Y1, Y1, Y4
	VFMADD213PS  Y1, Y4, Y3
	VFMADD231PS  Y2, Y10, Y3
	VMULPS       Y3, Y0, Y3
	VEXTRACTF128 $1, Y3, X4
	VCVTPS2PD    X3, Y3
	VCVTPS2PD    X4, Y4
	VADDPD       Y3, Y6, Y6
	VADDPD       Y4, Y7, Y7

	ADDQ $32, SI
	ADDQ $32, DI
	SUBQ $8, BX
	JNZ  eight

	VADDPD       Y7, Y6, Y6
	VHADDPD      Y6, Y6, Y6
	VEXTRACTF128 $1, Y6, X7
	VADDSD       X7, X6, X6
	VMOVSD       X6, ret+40(FP)
	VZEROUPPER
	RET
