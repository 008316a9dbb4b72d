#include "textflag.h"
#include "log_amd64.h"
#include "tile_amd64.h"

#define RATIOARGUMENTS(shift) \
	MOVQ ratios+0(FP), DI  \
	MOVQ stride+8(FP), R8  \
	MOVQ x+16(FP), SI      \
	MOVQ xStride+24(FP), R9 \
	MOVQ a+32(FP), AX      \
	MOVQ b+40(FP), BX      \
	MOVQ depth+48(FP), CX  \
	SHLQ $shift, R8        \
	SHLQ $shift, R9

// The tile, in registers.
#define PRODUCT(multiply, shift) \
	MOVQ CX, DX \
	SHLQ $(shift+2), DX \
	ADDQ AX, DX \
	ROWS8AVX512(ZEROSAVX512, shift) \
deep: \
	LOADTHREEOF(64, Z0, Z1, Z2) \
	ROWS8AVX512(multiply, shift) \
	ADDQ $(4<<shift), AX \
	ADDQ $(4<<shift), DX \
	DECQ CX \
	JNZ  deep

// A row of it, p, q and r, to the ratios of that of x to it. What follows in the row of x is used
// soon.
#define DIVIDEROW(MAXIMUM, QUOTIENT, p, q, r) \
	VMOVUPD    0(SI), Z0    \
	VMOVUPD    64(SI), Z1   \
	VMOVUPD    128(SI), Z2  \
	MAXIMUM    p, Z3, p     \
	MAXIMUM    q, Z3, q     \
	MAXIMUM    r, Z3, r     \
	QUOTIENT   p, Z0, p     \
	QUOTIENT   q, Z1, q     \
	QUOTIENT   r, Z2, r     \
	PREFETCHT1 192(SI)      \
	PREFETCHT1 256(SI)      \
	PREFETCHT1 320(SI)      \
	VMOVUPD    p, 0(DI)     \
	VMOVUPD    q, 64(DI)    \
	VMOVUPD    r, 128(DI)   \
	ADDQ       R9, SI       \
	ADDQ       R8, DI

#define DIVIDEROWPD(size, number, all, x, y, z, p, q, r) \
	DIVIDEROW(VMAXPD, VDIVPD, p, q, r)

#define DIVIDEROWPS(size, number, all, x, y, z, p, q, r) \
	DIVIDEROW(VMAXPS, VDIVPS, p, q, r)

#define RATIOS \
	RATIOARGUMENTS(3)             \
	PRODUCT(MULTIPLYTHREEPD, 3)   \
	VBROADCASTSD floor+56(FP), Z3 \
	ROWS8AVX512(DIVIDEROWPD, 3)

#define RATIOS32 \
	RATIOARGUMENTS(2)             \
	PRODUCT(MULTIPLYTHREEPS, 2)   \
	VBROADCASTSS floor+56(FP), Z3 \
	ROWS8AVX512(DIVIDEROWPS, 2)

// The tile and its logarithms from their beginnings.
#define LOGARGUMENTS \
	MOVQ ratios+0(FP), DI     \
	MOVQ x+16(FP), SI         \
	MOVQ logs+64(FP), BX      \
	MOVQ constants+72(FP), DX

// To the sums of a row, which take so many bytes, x·log y of three registers.
#define LOGROWS(LOGOF, MOVE, sums, bytes) \
	MOVQ $8, CX     \
row: \
	MOVE (BX), sums \
	LOGOF(0)        \
	LOGOF(64)       \
	LOGOF(128)      \
	MOVE sums, (BX) \
	ADDQ R9, SI     \
	ADDQ R8, DI     \
	ADDQ $bytes, BX \
	DECQ CX         \
	JNZ  row

// Those of eight numbers more.
#define LOGOF8(at) \
	VMOVUPD at(SI), Z0 \
	VMOVUPD at(DI), Z1 \
	LOG8

// Those of sixteen, as divideSum32AVX2 has them of eight: Z2 is the exponent, Z1 the rest less 1, Z3
// the series.
#define LOGOF16(at) \
	VMOVUPS       at(SI), Z0   \
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

// func ratioTileAVX512(ratios *float64, stride int, x *float64, xStride int, a, b *float64, depth int, floor float64)
TEXT ·ratioTileAVX512(SB), NOSPLIT, $0-64
	RATIOS
	VZEROUPPER
	RET

// func ratioTile32AVX512(ratios *float32, stride int, x *float32, xStride int, a, b *float32, depth int, floor float32)
TEXT ·ratioTile32AVX512(SB), NOSPLIT, $0-60
	RATIOS32
	VZEROUPPER
	RET

// func ratioLogTileAVX512(ratios *float64, stride int, x *float64, xStride int, a, b *float64, depth int, floor float64, logs, constants, table *float64)
TEXT ·ratioLogTileAVX512(SB), NOSPLIT, $0-88
	RATIOS
	LOGARGUMENTS
	MOVQ table+80(FP), AX
	LOGCONSTANTS8
	LOGROWS(LOGOF8, VMOVUPD, Y8, 32)
	VZEROUPPER
	RET

// func ratioLogTile32AVX512(ratios *float32, stride int, x *float32, xStride int, a, b *float32, depth int, floor float32, logs *float64, constants *[8]float32)
TEXT ·ratioLogTile32AVX512(SB), NOSPLIT, $0-80
	RATIOS32
	LOGARGUMENTS
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
	VZEROUPPER
	RET
