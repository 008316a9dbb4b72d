#include "textflag.h"

// Convolutions. A number's sum is one register's lane from its bias on, in the order of the
// taps and in each of the depth, so that registers of both sizes give the same bytes.

#define WINDOWARGUMENTS \
	MOVQ x+16(FP), AX     \
	MOVQ at+24(FP), SI    \
	MOVQ taps+32(FP), CX  \
	MOVQ depth+40(FP), BX \
	SHLQ $2, BX           \
	MOVQ w+48(FP), DI     \
	MOVQ bias+56(FP), DX

// The run of a window.
#define RUN(place, register) \
	MOVLQSX place(SI), register \
	LEAQ    (AX)(register*4), register

#define RUNS4 \
	RUN(0, R8)   \
	RUN(4, R9)   \
	RUN(8, R10)  \
	RUN(12, R11)

#define RUNS8 \
	RUNS4        \
	RUN(16, R12) \
	RUN(20, R13) \
	RUN(24, R14) \
	RUN(28, R15)

// To a window's numbers, those of w times one of the window.
#define TIMES1(run, all, x, p) \
	VBROADCASTSS (run)(DX*1), all \
	VFMADD231PS  x, all, p

#define TIMES2(run, all, x, y, p, q) \
	TIMES1(run, all, x, p) \
	VFMADD231PS y, all, q

#define TIMES3(run, all, x, y, z, p, q, r) \
	TIMES2(run, all, x, y, p, q) \
	VFMADD231PS z, all, r

#define NEXTDEEP(bytes) \
	ADDQ $bytes, DI \
	ADDQ $4, DX     \
	CMPQ DX, BX

#define ALL4(MOVE, x, a, b, c, d) \
	MOVE x, a \
	MOVE x, b \
	MOVE x, c \
	MOVE x, d

// What stores: bounds in lo and hi, and the rest of the arguments.
#define STOREARGUMENTS(lo, hi) \
	MOVQ         c+0(FP), DI       \
	MOVQ         stride+8(FP), R8  \
	SHLQ         $2, R8            \
	MOVQ         windows+80(FP), CX \
	MOVQ         bounds+64(FP), AX \
	VBROADCASTSS 0(AX), lo         \
	VBROADCASTSS 4(AX), hi         \
	MOVQ         mask+72(FP), AX

// A number that is none stays.
#define CLAMP(lo, hi, x) \
	VMAXPS x, lo, x \
	VMINPS x, hi, x

#define KEEP(lo, hi, x, place) \
	CLAMP(lo, hi, x) \
	VMOVUPS x, place(DI)

#define KEEPLAST(MOVE, lo, hi, x, mask, place) \
	CLAMP(lo, hi, x)          \
	MOVE x, mask, place(DI) \
	DECQ CX                 \
	JZ   done               \
	ADDQ R8, DI

#define KEEP1(x)       KEEPLAST(VMASKMOVPS, Y0, Y1, x, Y2, 0)
#define KEEP2(x, y)    KEEP(Y0, Y1, x, 0); KEEPLAST(VMASKMOVPS, Y0, Y1, y, Y2, 32)
#define KEEP3(x, y, z) KEEP(Y0, Y1, x, 0); KEEP(Y0, Y1, y, 32); KEEPLAST(VMASKMOVPS, Y0, Y1, z, Y2, 64)

// func windows1AVX2(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int)
TEXT ·windows1AVX2(SB), NOSPLIT, $0-88
	WINDOWARGUMENTS
	VMOVUPS (DX), Y0
	ALL4(VMOVAPS, Y0, Y4, Y5, Y6, Y7)

tap:
	RUNS4
	ADDQ $16, SI
	XORQ DX, DX

deep:
	VMOVUPS (DI), Y0
	TIMES1(R8, Y3, Y0, Y4)
	TIMES1(R9, Y3, Y0, Y5)
	TIMES1(R10, Y3, Y0, Y6)
	TIMES1(R11, Y3, Y0, Y7)
	NEXTDEEP(32)
	JLT  deep
	DECQ CX
	JNZ  tap

	STOREARGUMENTS(Y0, Y1)
	VMOVDQU (AX), Y2
	KEEP1(Y4)
	KEEP1(Y5)
	KEEP1(Y6)
	KEEP1(Y7)

done:
	VZEROUPPER
	RET

// func windows2AVX2(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int)
TEXT ·windows2AVX2(SB), NOSPLIT, $0-88
	WINDOWARGUMENTS
	VMOVUPS 0(DX), Y0
	VMOVUPS 32(DX), Y1
	ALL4(VMOVAPS, Y0, Y4, Y6, Y8, Y10)
	ALL4(VMOVAPS, Y1, Y5, Y7, Y9, Y11)

tap:
	RUNS4
	ADDQ $16, SI
	XORQ DX, DX

deep:
	VMOVUPS 0(DI), Y0
	VMOVUPS 32(DI), Y1
	TIMES2(R8, Y3, Y0, Y1, Y4, Y5)
	TIMES2(R9, Y3, Y0, Y1, Y6, Y7)
	TIMES2(R10, Y3, Y0, Y1, Y8, Y9)
	TIMES2(R11, Y3, Y0, Y1, Y10, Y11)
	NEXTDEEP(64)
	JLT  deep
	DECQ CX
	JNZ  tap

	STOREARGUMENTS(Y0, Y1)
	VMOVDQU (AX), Y2
	KEEP2(Y4, Y5)
	KEEP2(Y6, Y7)
	KEEP2(Y8, Y9)
	KEEP2(Y10, Y11)

done:
	VZEROUPPER
	RET

// func windows3AVX2(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int)
TEXT ·windows3AVX2(SB), NOSPLIT, $0-88
	WINDOWARGUMENTS
	VMOVUPS 0(DX), Y0
	VMOVUPS 32(DX), Y1
	VMOVUPS 64(DX), Y2
	ALL4(VMOVAPS, Y0, Y4, Y7, Y10, Y13)
	ALL4(VMOVAPS, Y1, Y5, Y8, Y11, Y14)
	ALL4(VMOVAPS, Y2, Y6, Y9, Y12, Y15)

tap:
	RUNS4
	ADDQ $16, SI
	XORQ DX, DX

deep:
	VMOVUPS 0(DI), Y0
	VMOVUPS 32(DI), Y1
	VMOVUPS 64(DI), Y2
	TIMES3(R8, Y3, Y0, Y1, Y2, Y4, Y5, Y6)
	TIMES3(R9, Y3, Y0, Y1, Y2, Y7, Y8, Y9)
	TIMES3(R10, Y3, Y0, Y1, Y2, Y10, Y11, Y12)
	TIMES3(R11, Y3, Y0, Y1, Y2, Y13, Y14, Y15)
	NEXTDEEP(96)
	JLT  deep
	DECQ CX
	JNZ  tap

	STOREARGUMENTS(Y0, Y1)
	VMOVDQU (AX), Y2
	KEEP3(Y4, Y5, Y6)
	KEEP3(Y7, Y8, Y9)
	KEEP3(Y10, Y11, Y12)
	KEEP3(Y13, Y14, Y15)

done:
	VZEROUPPER
	RET

#define WIDEMASK \
	VMOVDQU32 (AX), Z0 \
	VPTESTMD  Z0, Z0, K1

#define KEEPWIDE1(x)       KEEPLAST(VMOVUPS, Z3, Z4, x, K1, 0)
#define KEEPWIDE2(x, y)    KEEP(Z3, Z4, x, 0); KEEPLAST(VMOVUPS, Z3, Z4, y, K1, 64)
#define KEEPWIDE3(x, y, z) KEEP(Z3, Z4, x, 0); KEEP(Z3, Z4, y, 64); KEEPLAST(VMOVUPS, Z3, Z4, z, K1, 128)

// func windows1AVX512(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int)
TEXT ·windows1AVX512(SB), NOSPLIT, $0-88
	WINDOWARGUMENTS
	VMOVUPS (DX), Z0
	ALL4(VMOVAPS, Z0, Z8, Z9, Z10, Z11)
	ALL4(VMOVAPS, Z0, Z12, Z13, Z14, Z15)

tap:
	RUNS8
	ADDQ $32, SI
	XORQ DX, DX

deep:
	VMOVUPS (DI), Z0
	TIMES1(R8, Z3, Z0, Z8)
	TIMES1(R9, Z4, Z0, Z9)
	TIMES1(R10, Z5, Z0, Z10)
	TIMES1(R11, Z6, Z0, Z11)
	TIMES1(R12, Z3, Z0, Z12)
	TIMES1(R13, Z4, Z0, Z13)
	TIMES1(R14, Z5, Z0, Z14)
	TIMES1(R15, Z6, Z0, Z15)
	NEXTDEEP(64)
	JLT  deep
	DECQ CX
	JNZ  tap

	STOREARGUMENTS(Z3, Z4)
	WIDEMASK
	KEEPWIDE1(Z8)
	KEEPWIDE1(Z9)
	KEEPWIDE1(Z10)
	KEEPWIDE1(Z11)
	KEEPWIDE1(Z12)
	KEEPWIDE1(Z13)
	KEEPWIDE1(Z14)
	KEEPWIDE1(Z15)

done:
	VZEROUPPER
	RET

// func windows2AVX512(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int)
TEXT ·windows2AVX512(SB), NOSPLIT, $0-88
	WINDOWARGUMENTS
	VMOVUPS 0(DX), Z0
	VMOVUPS 64(DX), Z1
	ALL4(VMOVAPS, Z0, Z8, Z10, Z12, Z14)
	ALL4(VMOVAPS, Z1, Z9, Z11, Z13, Z15)
	ALL4(VMOVAPS, Z0, Z16, Z18, Z20, Z22)
	ALL4(VMOVAPS, Z1, Z17, Z19, Z21, Z23)

tap:
	RUNS8
	ADDQ $32, SI
	XORQ DX, DX

deep:
	VMOVUPS 0(DI), Z0
	VMOVUPS 64(DI), Z1
	TIMES2(R8, Z3, Z0, Z1, Z8, Z9)
	TIMES2(R9, Z4, Z0, Z1, Z10, Z11)
	TIMES2(R10, Z5, Z0, Z1, Z12, Z13)
	TIMES2(R11, Z6, Z0, Z1, Z14, Z15)
	TIMES2(R12, Z3, Z0, Z1, Z16, Z17)
	TIMES2(R13, Z4, Z0, Z1, Z18, Z19)
	TIMES2(R14, Z5, Z0, Z1, Z20, Z21)
	TIMES2(R15, Z6, Z0, Z1, Z22, Z23)
	NEXTDEEP(128)
	JLT  deep
	DECQ CX
	JNZ  tap

	STOREARGUMENTS(Z3, Z4)
	WIDEMASK
	KEEPWIDE2(Z8, Z9)
	KEEPWIDE2(Z10, Z11)
	KEEPWIDE2(Z12, Z13)
	KEEPWIDE2(Z14, Z15)
	KEEPWIDE2(Z16, Z17)
	KEEPWIDE2(Z18, Z19)
	KEEPWIDE2(Z20, Z21)
	KEEPWIDE2(Z22, Z23)

done:
	VZEROUPPER
	RET

// func windows3AVX512(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int)
TEXT ·windows3AVX512(SB), NOSPLIT, $0-88
	WINDOWARGUMENTS
	VMOVUPS 0(DX), Z0
	VMOVUPS 64(DX), Z1
	VMOVUPS 128(DX), Z2
	ALL4(VMOVAPS, Z0, Z8, Z11, Z14, Z17)
	ALL4(VMOVAPS, Z1, Z9, Z12, Z15, Z18)
	ALL4(VMOVAPS, Z2, Z10, Z13, Z16, Z19)
	ALL4(VMOVAPS, Z0, Z20, Z23, Z26, Z29)
	ALL4(VMOVAPS, Z1, Z21, Z24, Z27, Z30)
	ALL4(VMOVAPS, Z2, Z22, Z25, Z28, Z31)

tap:
	RUNS8
	ADDQ $32, SI
	XORQ DX, DX

deep:
	VMOVUPS 0(DI), Z0
	VMOVUPS 64(DI), Z1
	VMOVUPS 128(DI), Z2
	TIMES3(R8, Z3, Z0, Z1, Z2, Z8, Z9, Z10)
	TIMES3(R9, Z4, Z0, Z1, Z2, Z11, Z12, Z13)
	TIMES3(R10, Z5, Z0, Z1, Z2, Z14, Z15, Z16)
	TIMES3(R11, Z6, Z0, Z1, Z2, Z17, Z18, Z19)
	TIMES3(R12, Z3, Z0, Z1, Z2, Z20, Z21, Z22)
	TIMES3(R13, Z4, Z0, Z1, Z2, Z23, Z24, Z25)
	TIMES3(R14, Z5, Z0, Z1, Z2, Z26, Z27, Z28)
	TIMES3(R15, Z6, Z0, Z1, Z2, Z29, Z30, Z31)
	NEXTDEEP(192)
	JLT  deep
	DECQ CX
	JNZ  tap

	STOREARGUMENTS(Z3, Z4)
	WIDEMASK
	KEEPWIDE3(Z8, Z9, Z10)
	KEEPWIDE3(Z11, Z12, Z13)
	KEEPWIDE3(Z14, Z15, Z16)
	KEEPWIDE3(Z17, Z18, Z19)
	KEEPWIDE3(Z20, Z21, Z22)
	KEEPWIDE3(Z23, Z24, Z25)
	KEEPWIDE3(Z26, Z27, Z28)
	KEEPWIDE3(Z29, Z30, Z31)

done:
	VZEROUPPER
	RET
