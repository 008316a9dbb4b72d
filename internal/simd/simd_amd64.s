#include "textflag.h"

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

// The constants of LOG4 and LOG8.
#define LOGCONSTANTS4 \
	VBROADCASTSD EXPONENT, Y13 \
	VBROADCASTSD BIAS, Y12     \
	VBROADCASTSD INDEX, Y11    \
	VBROADCASTSD MANTISSA, Y10 \
	VBROADCASTSD ONE, Y9       \
	VXORPD       Y8, Y8, Y8

#define LOGCONSTANTS8 \
	VBROADCASTSD EXPONENT, Z13 \
	VBROADCASTSD BIAS, Z12     \
	VBROADCASTSD INDEX, Z11    \
	VBROADCASTSD MANTISSA, Z10 \
	VBROADCASTSD ONE, Z9       \
	VBROADCASTSD LN2, Z16      \
	VBROADCASTSD HALF, Z17     \
	VBROADCASTSD THIRD, Z18    \
	VBROADCASTSD FOURTH, Z19   \
	VBROADCASTSD FIFTH, Z20    \
	VBROADCASTSD SIXTH, Z21    \
	VXORPD       Y8, Y8, Y8

// Y8 += Y0·log Y1: Y2 is the exponent, Y3 the place in the table, Y4 the inverse there and Y5
// its logarithm, then Y1 r and Y3 the series.
#define LOG4 \
	VPSRLQ       $52, Y1, Y2         \
	VPOR         Y13, Y2, Y2         \
	VSUBPD       Y12, Y2, Y2         \
	VPSRLQ       $45, Y1, Y3         \
	VPAND        Y11, Y3, Y3         \
	VPADDQ       Y3, Y3, Y3          \
	VPAND        Y10, Y1, Y1         \
	VPOR         Y9, Y1, Y1          \
	VPCMPEQQ     Y6, Y6, Y6          \
	VXORPD       Y4, Y4, Y4          \
	VGATHERQPD   Y6, (AX)(Y3*8), Y4  \
	VPCMPEQQ     Y7, Y7, Y7          \
	VXORPD       Y5, Y5, Y5          \
	VGATHERQPD   Y7, 8(AX)(Y3*8), Y5 \
	VFMSUB213PD  Y9, Y4, Y1          \
	VBROADCASTSD SIXTH, Y3           \
	VBROADCASTSD FIFTH, Y4           \
	VFNMADD213PD Y4, Y1, Y3          \
	VBROADCASTSD FOURTH, Y4          \
	VFNMADD213PD Y4, Y1, Y3          \
	VBROADCASTSD THIRD, Y4           \
	VFNMADD213PD Y4, Y1, Y3          \
	VBROADCASTSD HALF, Y4            \
	VFNMADD213PD Y4, Y1, Y3          \
	VFNMADD213PD Y9, Y1, Y3          \
	VFMADD213PD  Y5, Y1, Y3          \
	VBROADCASTSD LN2, Y4             \
	VFMADD213PD  Y3, Y4, Y2          \
	VFMADD231PD  Y2, Y0, Y8

// The same of eight, of which the first four are added before the others; Z6 is the series.
#define LOG8 \
	VPSRLQ        $52, Z1, Z2             \
	VPORQ         Z13, Z2, Z2             \
	VSUBPD        Z12, Z2, Z2             \
	VPSRLQ        $45, Z1, Z3             \
	VPANDQ        Z11, Z3, Z3             \
	VPADDQ        Z3, Z3, Z3              \
	VPANDQ        Z10, Z1, Z1             \
	VPORQ         Z9, Z1, Z1              \
	KXNORW        K1, K1, K1              \
	VPXORQ        Z4, Z4, Z4              \
	VGATHERQPD    (AX)(Z3*8), K1, Z4      \
	KXNORW        K2, K2, K2              \
	VPXORQ        Z5, Z5, Z5              \
	VGATHERQPD    8(AX)(Z3*8), K2, Z5     \
	VFMSUB213PD   Z9, Z4, Z1              \
	VMOVAPD       Z21, Z6                 \
	VFNMADD213PD  Z20, Z1, Z6             \
	VFNMADD213PD  Z19, Z1, Z6             \
	VFNMADD213PD  Z18, Z1, Z6             \
	VFNMADD213PD  Z17, Z1, Z6             \
	VFNMADD213PD  Z9, Z1, Z6              \
	VFMADD213PD   Z5, Z1, Z6              \
	VFMADD213PD   Z6, Z16, Z2             \
	VFMADD231PD   Y2, Y0, Y8              \
	VEXTRACTF64X4 $1, Z0, Y0              \
	VEXTRACTF64X4 $1, Z2, Y2              \
	VFMADD231PD   Y2, Y0, Y8

// X8 = (s0 + s1) + (s2 + s3) of Y8.
#define LOGSUMMED \
	VHADDPD      Y8, Y8, Y8 \
	VEXTRACTF128 $1, Y8, X1 \
	VADDSD       X1, X8, X8

// func divideSumAVX2(y, x *float64, n int, floor float64, constants, table *float64) float64
TEXT ·divideSumAVX2(SB), NOSPLIT, $0-56
	MOVQ         y+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), BX
	VBROADCASTSD floor+24(FP), Y15
	MOVQ         constants+32(FP), DX
	MOVQ         table+40(FP), AX
	LOGCONSTANTS4

four:
	VMOVUPD (SI), Y0
	VMAXPD  (DI), Y15, Y1
	VDIVPD  Y1, Y0, Y1
	VMOVUPD Y1, (DI)
	LOG4
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, BX
	JNZ     four

	LOGSUMMED
	VMOVSD X8, ret+48(FP)
	VZEROUPPER
	RET

// func divideSumAVX512(y, x *float64, n int, floor float64, constants, table *float64) float64
// n is a multiple of 8.
TEXT ·divideSumAVX512(SB), NOSPLIT, $0-56
	MOVQ         y+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         n+16(FP), BX
	VBROADCASTSD floor+24(FP), Z15
	MOVQ         constants+32(FP), DX
	MOVQ         table+40(FP), AX
	LOGCONSTANTS8

eight:
	VMOVUPD (SI), Z0
	VMAXPD  (DI), Z15, Z1
	VDIVPD  Z1, Z0, Z1
	VMOVUPD Z1, (DI)
	LOG8
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, BX
	JNZ     eight

	LOGSUMMED
	VMOVSD X8, ret+48(FP)
	VZEROUPPER
	RET

// func logSumAVX2(y, x *float64, n int, constants, table *float64) float64
TEXT ·logSumAVX2(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), BX
	MOVQ constants+24(FP), DX
	MOVQ table+32(FP), AX
	LOGCONSTANTS4

four:
	VMOVUPD (SI), Y0
	VMOVUPD (DI), Y1
	LOG4
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $4, BX
	JNZ     four

	LOGSUMMED
	VMOVSD X8, ret+40(FP)
	VZEROUPPER
	RET

// func logSumAVX512(y, x *float64, n int, constants, table *float64) float64
// n is a multiple of 8.
TEXT ·logSumAVX512(SB), NOSPLIT, $0-48
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), BX
	MOVQ constants+24(FP), DX
	MOVQ table+32(FP), AX
	LOGCONSTANTS8

eight:
	VMOVUPD (SI), Z0
	VMOVUPD (DI), Z1
	LOG8
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $8, BX
	JNZ     eight

	LOGSUMMED
	VMOVSD X8, ret+40(FP)
	VZEROUPPER
	RET

// func prefetchLines(x *float64, n int)
// n is a multiple of 8 above 0.
TEXT ·prefetchLines(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), BX

line:
	PREFETCHT0 (SI)
	ADDQ       $64, SI
	SUBQ       $8, BX
	JNZ        line
	RET
