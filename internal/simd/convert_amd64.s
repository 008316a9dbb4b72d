#include "textflag.h"

// All bits of Y15 but the signs.
#define ALLBUTSIGN \
	VPCMPEQQ Y15, Y15, Y15 \
	VPSRLQ   $1, Y15, Y15

// func toSingleAVX2(dst *float32, x *float64, n int, scale, least float64)
// n is a multiple of 4.
TEXT ·toSingleAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), BX
	VBROADCASTSD scale+24(FP), Y14
	VBROADCASTSD least+32(FP), Y13
	ALLBUTSIGN

four:
	VMULPD     (SI), Y14, Y0
	VANDPD     Y15, Y0, Y1
	VCMPPD     $21, Y13, Y1, Y1 // not less
	VANDPD     Y1, Y0, Y0
	VCVTPD2PSY Y0, X0
	VMOVUPS    X0, (DI)
	ADDQ       $32, SI
	ADDQ       $16, DI
	SUBQ       $4, BX
	JNZ        four
	VZEROUPPER
	RET

// func toDoubleAVX2(dst *float64, x *float32, n int, scale float64)
// n is a multiple of 4.
TEXT ·toDoubleAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), BX
	VBROADCASTSD scale+24(FP), Y14

next:
	VCVTPS2PD (SI), Y0
	VMULPD    Y14, Y0, Y0
	VMOVUPD   Y0, (DI)
	ADDQ      $16, SI
	ADDQ      $32, DI
	SUBQ      $4, BX
	JNZ       next
	VZEROUPPER
	RET

// func largestAVX2(x *float64, n int) float64
// n is a multiple of 16.
TEXT ·largestAVX2(SB), NOSPLIT, $0-24
	MOVQ   x+0(FP), SI
	MOVQ   n+8(FP), BX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	ALLBUTSIGN

sixteen:
	VANDPD 0(SI), Y15, Y4
	VANDPD 32(SI), Y15, Y5
	VANDPD 64(SI), Y15, Y6
	VANDPD 96(SI), Y15, Y7
	VMAXPD Y4, Y0, Y0
	VMAXPD Y5, Y1, Y1
	VMAXPD Y6, Y2, Y2
	VMAXPD Y7, Y3, Y3
	ADDQ   $128, SI
	SUBQ   $16, BX
	JNZ    sixteen

	VMAXPD       Y1, Y0, Y0
	VMAXPD       Y3, Y2, Y2
	VMAXPD       Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMAXPD       X1, X0, X0
	VPERMILPD    $1, X0, X1
	VMAXPD       X1, X0, X0
	VMOVSD       X0, ret+16(FP)
	VZEROUPPER
	RET
