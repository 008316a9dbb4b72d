#include "textflag.h"
#include "log_amd64.h"
#include "tile_amd64.h"

// Which of the numbers of a row of three registers of so many count.
#define MASKS(bits) \
	KMOVW DX, K1    \
	SHRQ  $bits, DX \
	KMOVW DX, K2    \
	SHRQ  $bits, DX \
	KMOVW DX, K3

// A row of the product, p, q and r, to the ratios of that of x to it. What follows in the row of x
// is used soon.
#define DIVIDEROW(LOADMASKED, MAXIMUM, QUOTIENT, p, q, r) \
	LOADMASKED 0(SI), K1, Z0    \
	LOADMASKED 64(SI), K2, Z1   \
	LOADMASKED 128(SI), K3, Z2  \
	MAXIMUM    p, Z7, p         \
	MAXIMUM    q, Z7, q         \
	MAXIMUM    r, Z7, r         \
	QUOTIENT   p, Z0, p         \
	QUOTIENT   q, Z1, q         \
	QUOTIENT   r, Z2, r         \
	PREFETCHT1 192(SI)          \
	PREFETCHT1 256(SI)          \
	PREFETCHT1 320(SI)          \
	VMOVUPD    p, 0(DI)         \
	VMOVUPD    q, 64(DI)        \
	VMOVUPD    r, 128(DI)       \
	ADDQ       R9, SI           \
	ADDQ       R8, DI           \
	DECQ       R11              \
	JZ         done

// Rows of ratios, those of x, and which columns of three registers there are.
#define ROWARGUMENTS(shift, bits) \
	MOVQ ratios+0(FP), DI   \
	MOVQ stride+8(FP), R8   \
	MOVQ x+16(FP), SI       \
	MOVQ xStride+24(FP), R9 \
	MOVQ mask+32(FP), DX    \
	MASKS(bits)             \
	SHLQ $shift, R8         \
	SHLQ $shift, R9

// Four rows at a time, so that a processor looks ahead to the product of the next while it divides.
#define RATIOS(LOADMASKED, BROADCAST, multiply, MAXIMUM, QUOTIENT, shift, bits) \
	ROWARGUMENTS(shift, bits)    \
	MOVQ a+40(FP), AX            \
	MOVQ b+48(FP), R12           \
	MOVQ depth+56(FP), R10       \
	MOVQ rows+64(FP), R11        \
	BROADCAST floor+72(FP), Z7   \
four: \
	MOVQ R12, BX                 \
	MOVQ R10, CX                 \
	ROWS4AVX512(ZEROSAVX512, shift) \
deep: \
	LOADTHREEOF(64, Z0, Z1, Z2)  \
	ROWS4AVX512(multiply, shift) \
	ADDQ $(4<<shift), AX         \
	DECQ CX                      \
	JNZ  deep                    \
	DIVIDEROW(LOADMASKED, MAXIMUM, QUOTIENT, Z8, Z9, Z10)   \
	DIVIDEROW(LOADMASKED, MAXIMUM, QUOTIENT, Z11, Z12, Z13) \
	DIVIDEROW(LOADMASKED, MAXIMUM, QUOTIENT, Z14, Z15, Z16) \
	DIVIDEROW(LOADMASKED, MAXIMUM, QUOTIENT, Z17, Z18, Z19) \
	JMP  four                    \
done: \
	VZEROUPPER                   \
	RET

#define LOGARGUMENTS(shift, bits) \
	ROWARGUMENTS(shift, bits) \
	MOVQ logs+40(FP), BX      \
	MOVQ rows+48(FP), CX      \
	MOVQ constants+56(FP), DX

// To the sums of a row, which take so many bytes, x·log y of three registers.
#define LOGROWS(LOGOF, MOVE, sums, bytes) \
row: \
	MOVE (BX), sums \
	LOGOF(0, K1)    \
	LOGOF(64, K2)   \
	LOGOF(128, K3)  \
	MOVE sums, (BX) \
	ADDQ R9, SI     \
	ADDQ R8, DI     \
	ADDQ $bytes, BX \
	DECQ CX         \
	JNZ  row        \
	VZEROUPPER      \
	RET

// Those of eight numbers more.
#define LOGOF8(at, mask) \
	VMOVUPD.Z at(SI), mask, Z0 \
	VMOVUPD   at(DI), Z1       \
	LOG8

// Those of sixteen, as divideSum32AVX2 has them of eight: Z2 is the exponent, Z1 the rest less 1, Z3
// the series.
#define LOGOF16(at, mask) \
	VMOVUPS.Z     at(SI), mask, Z0 \
	VPADDD        at(DI), Z14, Z1 \
	VPSRLD        $23, Z1, Z2  \
	VPSUBD        Z11, Z2, Z2  \
	VCVTDQ2PS     Z2, Z2       \
	VPANDD        Z12, Z1, Z1  \
	VPADDD        Z13, Z1, Z1  \
	VSUBPS        Z9, Z1, Z1   \
	VMOVAPS       Z16, Z3      \
	VFMADD213PS   Z17, Z1, Z3  \
	VFMADD213PS   Z18, Z1, Z3  \
	VFMADD213PS   Z19, Z1, Z3  \
	VFMADD213PS   Z20, Z1, Z3  \
	VFMADD213PS   Z21, Z1, Z3  \
	VFMADD213PS   Z22, Z1, Z3  \
	VFMADD213PS   Z23, Z1, Z3  \
	VFMADD213PS   Z24, Z1, Z3  \
	VFMADD213PS   Z25, Z1, Z3  \
	VMULPS        Z1, Z1, Z4   \
	VFMADD213PS   Z1, Z4, Z3   \
	VFMADD231PS   Z2, Z10, Z3  \
	VMULPS        Z3, Z0, Z3   \
	VEXTRACTF64X4 $1, Z3, Y4   \
	VCVTPS2PD     Y3, Z3       \
	VCVTPS2PD     Y4, Z4       \
	VADDPD        Z3, Z8, Z8   \
	VADDPD        Z4, Z8, Z8

// func ratioRowsAVX512(ratios *float64, stride int, x *float64, xStride int, mask uint, a, b *float64, depth, rows int, floor float64)
TEXT ·ratioRowsAVX512(SB), NOSPLIT, $0-80
	RATIOS(VMOVUPD.Z, VBROADCASTSD, MULTIPLYTHREEPD, VMAXPD, VDIVPD, 3, 8)

// func ratioRows32AVX512(ratios *float32, stride int, x *float32, xStride int, mask uint, a, b *float32, depth, rows int, floor float32)
TEXT ·ratioRows32AVX512(SB), NOSPLIT, $0-76
	RATIOS(VMOVUPS.Z, VBROADCASTSS, MULTIPLYTHREEPS, VMAXPS, VDIVPS, 2, 16)

// func logRowsAVX512(ratios *float64, stride int, x *float64, xStride int, mask uint, logs *float64, rows int, constants, table *float64)
TEXT ·logRowsAVX512(SB), NOSPLIT, $0-72
	LOGARGUMENTS(3, 8)
	MOVQ table+64(FP), AX
	LOGCONSTANTS8
	LOGROWS(LOGOF8, VMOVUPD, Y8, 32)

// func logRows32AVX512(ratios *float32, stride int, x *float32, xStride int, mask uint, logs *float64, rows int, constants *[8]float32)
TEXT ·logRows32AVX512(SB), NOSPLIT, $0-64
	LOGARGUMENTS(2, 16)
	VBROADCASTSS 0(DX), Z14   // from √½ to 1
	VBROADCASTSS 32(DX), Z13  // √½
	VBROADCASTSS 64(DX), Z12  // a mantissa
	VBROADCASTSS 96(DX), Z11  // the exponent of 1
	VBROADCASTSS 128(DX), Z10 // log 2
	VPADDD       Z13, Z14, Z9 // 1
	VBROADCASTSS 160(DX), Z16
	VBROADCASTSS 192(DX), Z17
	VBROADCASTSS 224(DX), Z18
	VBROADCASTSS 256(DX), Z19
	VBROADCASTSS 288(DX), Z20
	VBROADCASTSS 320(DX), Z21
	VBROADCASTSS 352(DX), Z22
	VBROADCASTSS 384(DX), Z23
	VBROADCASTSS 416(DX), Z24
	VBROADCASTSS 448(DX), Z25
	LOGROWS(LOGOF16, VMOVUPD, Z8, 64)
