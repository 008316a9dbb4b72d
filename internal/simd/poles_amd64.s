#include "textflag.h"

// The next four d − x.
#define DISTANCES(d, distances) \
	VMOVUPD (d), distances           \
	ADDQ    $32, d                   \
	VSUBPD  Y14, distances, distances \
	VSUBPD  Y15, distances, distances

// The sum of the four numbers of y, (y0 + y1) + (y2 + y3).
#define SUM(y, x, spare) \
	VHADDPD      y, y, y      \
	VEXTRACTF128 $1, y, spare \
	VADDSD       spare, x, x

DATA ·countFour<>+0(SB)/8, $0.0
DATA ·countFour<>+8(SB)/8, $1.0
DATA ·countFour<>+16(SB)/8, $2.0
DATA ·countFour<>+24(SB)/8, $3.0
GLOBL ·countFour<>(SB), RODATA|NOPTR, $32

DATA ·fourFloat<>+0(SB)/8, $4.0
GLOBL ·fourFloat<>(SB), RODATA|NOPTR, $8

// func poleSumsAVX2(z, d *float64, n int, origin, tau float64, sums *[3]float64)
TEXT ·poleSumsAVX2(SB), NOSPLIT, $0-48
	MOVQ         z+0(FP), SI
	MOVQ         d+8(FP), R8
	MOVQ         n+16(FP), CX
	VBROADCASTSD origin+24(FP), Y14
	VBROADCASTSD tau+32(FP), Y15
	MOVQ         sums+40(FP), DI
	VMOVUPD      ·countFour<>(SB), Y10
	VBROADCASTSD ·fourFloat<>(SB), Y11
	VXORPD       Y0, Y0, Y0
	VXORPD       Y1, Y1, Y1
	VXORPD       Y2, Y2, Y2
	SHRQ         $2, CX

sums:
	DISTANCES(R8, Y3)
	VMOVUPD     (SI), Y4
	ADDQ        $32, SI
	VDIVPD      Y3, Y4, Y3
	VMULPD      Y3, Y4, Y4
	VADDPD      Y4, Y0, Y0
	VFMADD231PD Y3, Y3, Y1
	VFMADD231PD Y10, Y4, Y2
	VADDPD      Y11, Y10, Y10
	DECQ        CX
	JNZ         sums

	SUM(Y0, X0, X3)
	SUM(Y1, X1, X3)
	SUM(Y2, X2, X3)
	VMOVSD X0, 0(DI)
	VMOVSD X1, 8(DI)
	VMOVSD X2, 16(DI)
	VZEROUPPER
	RET

// func poleTermsAVX2(t, z, d *float64, n int, origin, tau float64)
TEXT ·poleTermsAVX2(SB), NOSPLIT, $0-48
	MOVQ         t+0(FP), DI
	MOVQ         z+8(FP), SI
	MOVQ         d+16(FP), R8
	MOVQ         n+24(FP), CX
	VBROADCASTSD origin+32(FP), Y14
	VBROADCASTSD tau+40(FP), Y15
	SHRQ         $2, CX

terms:
	DISTANCES(R8, Y3)
	VMOVUPD (SI), Y4
	ADDQ    $32, SI
	VDIVPD  Y3, Y4, Y3
	VMOVUPD Y3, (DI)
	ADDQ    $32, DI
	DECQ    CX
	JNZ     terms
	VZEROUPPER
	RET

// func poleRatiosAVX2(p, d *float64, n int, origin, tau, pole float64)
TEXT ·poleRatiosAVX2(SB), NOSPLIT, $0-48
	MOVQ         p+0(FP), DI
	MOVQ         d+8(FP), R8
	MOVQ         n+16(FP), CX
	VBROADCASTSD origin+24(FP), Y14
	VBROADCASTSD tau+32(FP), Y15
	VBROADCASTSD pole+40(FP), Y13
	SHRQ         $2, CX

ratios:
	VMOVUPD (R8), Y4
	VSUBPD  Y13, Y4, Y4
	DISTANCES(R8, Y3)
	VDIVPD  Y4, Y3, Y3
	VMULPD  (DI), Y3, Y3
	VMOVUPD Y3, (DI)
	ADDQ    $32, DI
	DECQ    CX
	JNZ     ratios
	VZEROUPPER
	RET
