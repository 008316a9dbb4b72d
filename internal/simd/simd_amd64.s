#include "textflag.h"
#include "log_amd64.h"

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

// func stepAVX2(z, x, y *float64, n int, least, floor float64)
TEXT ·stepAVX2(SB), NOSPLIT, $0-48
	MOVQ         z+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         y+16(FP), DX
	MOVQ         n+24(FP), BX
	VBROADCASTSD least+32(FP), Y15
	VBROADCASTSD floor+40(FP), Y14
	VXORPD       Y13, Y13, Y13

four:
	VMOVUPD (SI), Y0
	VMAXPD  (DX), Y15, Y1
	VDIVPD  Y1, Y0, Y0
	VMOVUPD (DI), Y1
	VMULPD  Y0, Y1, Y0
	VCMPPD  $30, Y13, Y1, Y1 // above 0
	VCMPPD  $21, Y14, Y0, Y2 // not below floor
	VANDPD  Y1, Y2, Y2
	VANDPD  Y0, Y2, Y0
	VMOVUPD Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DX
	ADDQ    $32, DI
	SUBQ    $4, BX
	JNZ     four
	VZEROUPPER
	RET

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

// func prefetchLines(x unsafe.Pointer, lines int)
TEXT ·prefetchLines(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), SI
	MOVQ lines+8(FP), BX

line:
	PREFETCHT0 (SI)
	ADDQ       $64, SI
	DECQ       BX
	JNZ        line
	RET
