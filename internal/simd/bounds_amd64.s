#include "textflag.h"

DATA lanes<>+0(SB)/8, $0
DATA lanes<>+8(SB)/8, $1
DATA lanes<>+16(SB)/8, $2
DATA lanes<>+24(SB)/8, $3
GLOBL lanes<>(SB), RODATA|NOPTR, $32

DATA infinity<>+0(SB)/8, $0x7FF0000000000000
GLOBL infinity<>(SB), RODATA|NOPTR, $8

// The least of the four numbers of Y0 to ret.
#define LEAST(ret) \
	VEXTRACTF128 $1, Y0, X1  \
	VMINPD       X1, X0, X0  \
	VPERMILPD    $1, X0, X1  \
	VMINSD       X1, X0, X0  \
	VMOVSD       X0, ret

// func leastGapAVX2(lower *float32, went *float64, n int) float64
// R9 is the place of the four numbers, R10 that of the last four.
TEXT ·leastGapAVX2(SB), NOSPLIT, $0-32
	MOVQ lower+0(FP), DI
	MOVQ went+8(FP), SI
	MOVQ n+16(FP), R10
	SUBQ $4, R10
	XORQ R9, R9
	VBROADCASTSD infinity<>(SB), Y0

gap:
	VCVTPS2PD (DI)(R9*4), Y1
	VSUBPD    (SI)(R9*8), Y1, Y1
	VMINPD    Y1, Y0, Y0
	ADDQ      $4, R9
	CMPQ      R9, R10
	JLE       gap
	SUBQ      $4, R9
	CMPQ      R9, R10
	MOVQ      R10, R9
	JNE       gap

	LEAST(ret+24(FP))
	VZEROUPPER
	RET

// func rootsAVX2(dst *float32, x, added *float64, n int, first, by float64) float64
TEXT ·rootsAVX2(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ added+16(FP), DX
	MOVQ n+24(FP), R10
	VBROADCASTSD first+32(FP), Y2
	VBROADCASTSD by+40(FP), Y3
	SUBQ $4, R10
	XORQ R9, R9
	VBROADCASTSD infinity<>(SB), Y0
	VXORPD       Y4, Y4, Y4

root:
	VMULPD     (SI)(R9*8), Y3, Y1
	VADDPD     Y2, Y1, Y1
	VMAXPD     Y4, Y1, Y1
	VCVTPD2PSY Y1, X1
	VSQRTPS    X1, X1
	VCVTPS2PD  X1, Y1
	VMINPD     Y1, Y0, Y0
	VADDPD     (DX)(R9*8), Y1, Y1
	VCVTPD2PSY Y1, X1
	VMOVUPS    X1, (DI)(R9*4)
	ADDQ       $4, R9
	CMPQ       R9, R10
	JLE        root
	SUBQ       $4, R9
	CMPQ       R9, R10
	MOVQ       R10, R9
	JNE        root

	LEAST(ret+48(FP))
	VZEROUPPER
	RET

// func leastTwoAVX2(x *float64, n int, lanes *leastLanes)
// Of each lane Y0 is the least, Y1 the least of the others and Y2 where Y0 is; Y3 is where the
// next is.
TEXT ·leastTwoAVX2(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ lanes+16(FP), DI
	VBROADCASTSD infinity<>(SB), Y0
	VMOVAPD      Y0, Y1
	VMOVDQU      lanes<>(SB), Y3
	VMOVDQA      Y3, Y2
	VPCMPEQQ     Y4, Y4, Y4
	VPSLLQ       $63, Y4, Y4
	VPSRLQ       $61, Y4, Y4 // 4 in each lane

two:
	VMOVUPD   (SI), Y5
	VCMPPD    $1, Y0, Y5, Y6 // x < least
	VMAXPD    Y0, Y5, Y7
	VMINPD    Y7, Y1, Y1
	VMINPD    Y5, Y0, Y0
	VBLENDVPD Y6, Y3, Y2, Y2
	VPADDQ    Y4, Y3, Y3
	ADDQ      $32, SI
	SUBQ      $4, CX
	JNZ       two

	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VZEROUPPER
	RET
