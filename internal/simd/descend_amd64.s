#include "textflag.h"

// From a in X0 and h in X1 the step of the entry at z, which is z + (a − 1)/(h/a) − z, to all of a register.
#define STEP(z, step, stays) \
	VSUBSD  32(R11), X0, X2  \
	VMAXSD  0(R11), X0, X0   \
	VDIVSD  X0, X1, X1       \
	VDIVSD  X1, X2, X2       \
	VMOVSD  (z), X3          \
	VADDSD  X3, X2, X4       \
	VXORPS  step, step, step \
	VMOVSD  8(R11), X5       \
	VUCOMISD X4, X5          \
	JCS     stays            \
	VMULSD  24(R11), X3, X5  \
	VMAXSD  X5, X4, X4       \
	VMAXSD  16(R11), X4, X4  \
	VMOVSD  X4, (z)          \
	VSUBSD  X3, X4, X4       \
	VCVTSD2SS X4, X4, X4     \
	VBROADCASTSS X4, step    \
stays:

// func descendAVX2(z *float64, y, x, u *float32, n, stride, k int, bounds *float64, least float32)
TEXT ·descendAVX2(SB), NOSPLIT, $0-68
	MOVQ         z+0(FP), R8
	MOVQ         y+8(FP), DI
	MOVQ         x+16(FP), SI
	MOVQ         u+24(FP), DX
	MOVQ         n+32(FP), BX
	MOVQ         stride+40(FP), R12
	MOVQ         bounds+56(FP), R11
	VBROADCASTSS least+64(FP), Y14
	SHLQ         $2, BX
	SHLQ         $2, R12
	MOVQ         DX, AX
	VXORPS       Y15, Y15, Y15

entry:
	VXORPD Y10, Y10, Y10
	VXORPD Y11, Y11, Y11
	XORQ   CX, CX

part:
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	LEAQ   4096(CX), R13
	CMPQ   R13, BX
	CMOVQGT BX, R13

eight:
	VMOVUPS     (DI)(CX*1), Y0
	VFMADD231PS (AX)(CX*1), Y15, Y0
	VMOVUPS     Y0, (DI)(CX*1)
	VMAXPS      Y14, Y0, Y0
	VMOVUPS     (DX)(CX*1), Y1
	VDIVPS      Y0, Y1, Y1
	VMULPS      (SI)(CX*1), Y1, Y2
	VADDPS      Y2, Y8, Y8
	VFMADD231PS Y1, Y2, Y9
	ADDQ        $32, CX
	CMPQ        CX, R13
	JLT         eight

	// What the segment comes to, in double precision.
	VCVTPS2PD    X8, Y0
	VEXTRACTF128 $1, Y8, X8
	VCVTPS2PD    X8, Y1
	VADDPD       Y0, Y10, Y10
	VADDPD       Y1, Y10, Y10
	VCVTPS2PD    X9, Y0
	VEXTRACTF128 $1, Y9, X9
	VCVTPS2PD    X9, Y1
	VADDPD       Y0, Y11, Y11
	VADDPD       Y1, Y11, Y11
	CMPQ         CX, BX
	JLT          part

	// X0 = a, X1 = h
	VHADDPD      Y11, Y10, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD       X1, X0, X0
	VUNPCKHPD    X0, X0, X1

	STEP(R8, Y15, stays)
	MOVQ DX, AX
	ADDQ R12, DX
	ADDQ $8, R8
	DECQ k+48(FP)
	JNZ  entry
	VZEROUPPER
	RET

// A column's eight values more: of y, to which the step times the row before is added, and of x.
#define DESCENDEIGHT(y, x, step, value, ratio, part, a, h) \
	VMOVUPS     (y)(CX*1), value        \
	VFMADD231PS Y6, step, value         \
	VMOVUPS     value, (y)(CX*1)        \
	VMAXPS      Y14, value, value       \
	VDIVPS      value, Y7, ratio        \
	VMULPS      (x)(CX*1), ratio, part  \
	VADDPS      part, a, a              \
	VFMADD231PS ratio, part, h

// To X0 and X1 what a and h come to, in double precision.
#define DESCENDSUMS(a, lowa, h, lowh) \
	VCVTPS2PD    lowa, Y0    \
	VEXTRACTF128 $1, a, lowa \
	VCVTPS2PD    lowa, Y1    \
	VADDPD       Y1, Y0, Y0  \
	VCVTPS2PD    lowh, Y2    \
	VEXTRACTF128 $1, h, lowh \
	VCVTPS2PD    lowh, Y3    \
	VADDPD       Y3, Y2, Y2  \
	VHADDPD      Y2, Y0, Y0  \
	VEXTRACTF128 $1, Y0, X1  \
	VADDPD       X1, X0, X0  \
	VUNPCKHPD    X0, X0, X1

// func descendPairAVX2(z *float64, y, x, u *float32, n, stride, k int, bounds *float64, least float32)
TEXT ·descendPairAVX2(SB), NOSPLIT, $0-68
	MOVQ         z+0(FP), R8
	MOVQ         y+8(FP), DI
	MOVQ         x+16(FP), SI
	MOVQ         u+24(FP), DX
	MOVQ         n+32(FP), BX
	MOVQ         stride+40(FP), R12
	MOVQ         k+48(FP), R13
	MOVQ         bounds+56(FP), R11
	VBROADCASTSS least+64(FP), Y14
	SHLQ         $2, BX
	SHLQ         $2, R12
	LEAQ         (DI)(BX*1), R9
	LEAQ         (SI)(BX*1), R10
	LEAQ         (R8)(R13*8), R15
	MOVQ         DX, AX
	VXORPS       Y15, Y15, Y15
	VXORPS       Y13, Y13, Y13

entry:
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	XORQ   CX, CX

eight:
	VMOVUPS (AX)(CX*1), Y6
	VMOVUPS (DX)(CX*1), Y7
	DESCENDEIGHT(DI, SI, Y15, Y0, Y1, Y2, Y8, Y9)
	DESCENDEIGHT(R9, R10, Y13, Y3, Y4, Y5, Y10, Y11)
	ADDQ    $32, CX
	CMPQ    CX, BX
	JLT     eight

	DESCENDSUMS(Y8, X8, Y9, X9)
	STEP(R8, Y15, firststays)
	DESCENDSUMS(Y10, X10, Y11, X11)
	STEP(R15, Y13, secondstays)
	MOVQ DX, AX
	ADDQ R12, DX
	ADDQ $8, R8
	ADDQ $8, R15
	DECQ R13
	JNZ  entry
	VZEROUPPER
	RET

// func gatherAVX2(u, y, z, rows *float32, at *int, stride, n, width int)
TEXT ·gatherAVX2(SB), NOSPLIT, $0-64
	MOVQ u+0(FP), BX
	MOVQ z+16(FP), AX
	MOVQ rows+24(FP), DX
	MOVQ at+32(FP), SI

eightrows:
#define POINTER(place, register) \
	MOVQ  place(SI), register     \
	IMULQ width+56(FP), register  \
	ADDQ  DX, register

	POINTER(0, R8)
	POINTER(8, R9)
	POINTER(16, R10)
	POINTER(24, R11)
	POINTER(32, R12)
	POINTER(40, R13)
	POINTER(48, R14)
	POINTER(56, R15)
	ADDQ   $64, SI
	MOVQ   BX, DI
	VXORPS Y8, Y8, Y8
	XORQ   CX, CX

columns:
	// Four numbers of each of eight rows.
	VMOVUPS     (R8)(CX*1), X0
	VINSERTF128 $1, (R12)(CX*1), Y0, Y0
	VMOVUPS     (R9)(CX*1), X1
	VINSERTF128 $1, (R13)(CX*1), Y1, Y1
	VMOVUPS     (R10)(CX*1), X2
	VINSERTF128 $1, (R14)(CX*1), Y2, Y2
	VMOVUPS     (R11)(CX*1), X3
	VINSERTF128 $1, (R15)(CX*1), Y3, Y3
	VUNPCKLPS   Y1, Y0, Y4
	VUNPCKHPS   Y1, Y0, Y5
	VUNPCKLPS   Y3, Y2, Y6
	VUNPCKHPS   Y3, Y2, Y7
	VUNPCKLPD   Y6, Y4, Y0
	VUNPCKHPD   Y6, Y4, Y1
	VUNPCKLPD   Y7, Y5, Y2
	VUNPCKHPD   Y7, Y5, Y3

#define COLUMN(place, column) \
	VMOVUPS      column, (DI)           \
	VBROADCASTSS place(AX)(CX*1), Y9    \
	VFMADD231PS  column, Y9, Y8         \
	ADDQ         stride+40(FP), DI

	COLUMN(0, Y0)
	COLUMN(4, Y1)
	COLUMN(8, Y2)
	COLUMN(12, Y3)
	ADDQ $16, CX
	CMPQ CX, width+56(FP)
	JLT  columns

	MOVQ    y+8(FP), DI
	VMOVUPS Y8, (DI)
	ADDQ    $32, DI
	MOVQ    DI, y+8(FP)
	ADDQ    $32, BX
	SUBQ    $8, n+48(FP)
	JNZ     eightrows
	VZEROUPPER
	RET
