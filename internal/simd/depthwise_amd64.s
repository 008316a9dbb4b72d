#include "textflag.h"

// A number that is none stays.
#define CLAMP(lo, hi, x) \
	VMAXPS x, lo, x \
	VMINPS x, hi, x

#define DEPTHWISEARGUMENTS \
	MOVQ c+0(FP), DI         \
	MOVQ x+8(FP), AX         \
	MOVQ at+16(FP), BX       \
	MOVQ windows+24(FP), DX  \
	MOVQ bias+48(FP), R10    \
	MOVQ channels+64(FP), R13 \
	SHLQ $2, R13

// Of the channels from R12 on: the run of the first tap, SI, and its weights, R8.
#define FIRSTTAP \
	MOVQ BX, SI          \
	MOVQ taps+32(FP), CX \
	MOVQ w+40(FP), R8    \
	ADDQ R12, R8

// The channels of a tap, R9.
#define TAP \
	MOVLQSX (SI), R9       \
	LEAQ    (AX)(R9*4), R9 \
	ADDQ    R12, R9

#define NEXTTAP \
	ADDQ $4, SI  \
	ADDQ R13, R8 \
	DECQ CX

#define NEXTWINDOW \
	ADDQ R13, DI          \
	MOVQ taps+32(FP), CX  \
	LEAQ (BX)(CX*4), BX   \
	DECQ DX

// The biases of four registers of channels, p to s; their numbers of a tap, a to d, times its
// weights; and what comes of them, kept within bounds.
#define FOURBIASES(size, p, q, r, s) \
	VMOVUPS 0(R10)(R12*1), p        \
	VMOVUPS size(R10)(R12*1), q     \
	VMOVUPS (2*size)(R10)(R12*1), r \
	VMOVUPS (3*size)(R10)(R12*1), s

#define FOURTIMES(size, a, b, c, d, p, q, r, s) \
	VMOVUPS     0(R9), a           \
	VMOVUPS     size(R9), b        \
	VMOVUPS     (2*size)(R9), c    \
	VMOVUPS     (3*size)(R9), d    \
	VFMADD231PS 0(R8), a, p        \
	VFMADD231PS size(R8), b, q     \
	VFMADD231PS (2*size)(R8), c, r \
	VFMADD231PS (3*size)(R8), d, s

#define FOURKEEP(size, lo, hi, p, q, r, s) \
	CLAMP(lo, hi, p)               \
	CLAMP(lo, hi, q)               \
	CLAMP(lo, hi, r)               \
	CLAMP(lo, hi, s)               \
	VMOVUPS p, 0(DI)(R12*1)        \
	VMOVUPS q, size(DI)(R12*1)     \
	VMOVUPS r, (2*size)(DI)(R12*1) \
	VMOVUPS s, (3*size)(DI)(R12*1)

// func depthwiseAVX2(c, x *float32, at *int32, windows, taps int, w, bias *float32, bounds *[2]float32, channels int, mask *int32)
TEXT ·depthwiseAVX2(SB), NOSPLIT, $0-80
	DEPTHWISEARGUMENTS
	MOVQ         bounds+56(FP), SI
	VBROADCASTSS 0(SI), Y8
	VBROADCASTSS 4(SI), Y9

window:
	XORQ R12, R12

four:
	LEAQ    128(R12), R11
	CMPQ    R11, R13
	JGT     some
	FOURBIASES(32, Y0, Y1, Y2, Y3)
	FIRSTTAP

fourTap:
	TAP
	FOURTIMES(32, Y4, Y5, Y6, Y7, Y0, Y1, Y2, Y3)
	NEXTTAP
	JNZ         fourTap
	FOURKEEP(32, Y8, Y9, Y0, Y1, Y2, Y3)
	MOVQ        R11, R12
	JMP         four

some:
	CMPQ R12, R13
	JGE  next

	// All of a register's numbers, or the last.
	VPCMPEQD Y10, Y10, Y10
	LEAQ     32(R12), R11
	CMPQ     R11, R13
	JLE      one
	MOVQ     mask+72(FP), SI
	VMOVDQU  (SI), Y10

one:
	VMASKMOVPS (R10)(R12*1), Y10, Y0
	FIRSTTAP

oneTap:
	TAP
	VMASKMOVPS  (R9), Y10, Y4
	VMASKMOVPS  (R8), Y10, Y5
	VFMADD231PS Y5, Y4, Y0
	NEXTTAP
	JNZ         oneTap
	CLAMP(Y8, Y9, Y0)
	VMASKMOVPS  Y0, Y10, (DI)(R12*1)
	MOVQ        R11, R12
	JMP         some

next:
	NEXTWINDOW
	JNZ window
	VZEROUPPER
	RET

// func depthwiseAVX512(c, x *float32, at *int32, windows, taps int, w, bias *float32, bounds *[2]float32, channels int, mask *int32)
TEXT ·depthwiseAVX512(SB), NOSPLIT, $0-80
	DEPTHWISEARGUMENTS
	MOVQ         bounds+56(FP), SI
	VBROADCASTSS 0(SI), Z8
	VBROADCASTSS 4(SI), Z9

window:
	XORQ R12, R12

four:
	LEAQ    256(R12), R11
	CMPQ    R11, R13
	JGT     some
	FOURBIASES(64, Z0, Z1, Z2, Z3)
	FIRSTTAP

fourTap:
	TAP
	FOURTIMES(64, Z4, Z5, Z6, Z7, Z0, Z1, Z2, Z3)
	NEXTTAP
	JNZ         fourTap
	FOURKEEP(64, Z8, Z9, Z0, Z1, Z2, Z3)
	MOVQ        R11, R12
	JMP         four

some:
	CMPQ R12, R13
	JGE  next

	// All of a register's numbers, or the last.
	KXNORW    K1, K1, K1
	LEAQ      64(R12), R11
	CMPQ      R11, R13
	JLE       one
	MOVQ      mask+72(FP), SI
	VMOVDQU32 (SI), Z10
	VPTESTMD  Z10, Z10, K1

one:
	VMOVUPS.Z (R10)(R12*1), K1, Z0
	FIRSTTAP

oneTap:
	TAP
	VMOVUPS.Z   (R9), K1, Z4
	VMOVUPS.Z   (R8), K1, Z5
	VFMADD231PS Z5, Z4, Z0
	NEXTTAP
	JNZ         oneTap
	CLAMP(Z8, Z9, Z0)
	VMOVUPS     Z0, K1, (DI)(R12*1)
	MOVQ        R11, R12
	JMP         some

next:
	NEXTWINDOW
	JNZ window
	VZEROUPPER
	RET
