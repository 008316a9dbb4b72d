#include "textflag.h"
#include "log_amd64.h"
#include "tile_amd64.h"

#define RATIOARGUMENTS \
	MOVQ ratios+0(FP), DI  \
	MOVQ stride+8(FP), R8  \
	MOVQ x+16(FP), SI      \
	MOVQ xStride+24(FP), R9 \
	MOVQ a+32(FP), AX      \
	MOVQ b+40(FP), BX      \
	MOVQ depth+48(FP), CX  \
	SHLQ $3, R8            \
	SHLQ $3, R9

// The tile, in registers.
#define PRODUCT \
	MOVQ CX, DX \
	SHLQ $5, DX \
	ADDQ AX, DX \
	ROWS8AVX512(ZEROSAVX512, 3) \
deep: \
	LOADTHREEOF(64, Z0, Z1, Z2) \
	ROWS8AVX512(MULTIPLYTHREEPD, 3) \
	ADDQ $32, AX \
	ADDQ $32, DX \
	DECQ CX \
	JNZ  deep

// A row of it, p, q and r, to the ratios of that of x to it. What follows in the row of x is used
// soon.
#define DIVIDEROW(size, number, all, x, y, z, p, q, r) \
	VMOVUPD    0(SI), Z0      \
	VMOVUPD    size(SI), Z1   \
	VMOVUPD    2*size(SI), Z2 \
	VMAXPD     p, Z3, p       \
	VMAXPD     q, Z3, q       \
	VMAXPD     r, Z3, r       \
	VDIVPD     p, Z0, p       \
	VDIVPD     q, Z1, q       \
	VDIVPD     r, Z2, r       \
	PREFETCHT1 3*size(SI)     \
	PREFETCHT1 4*size(SI)     \
	PREFETCHT1 5*size(SI)     \
	VMOVUPD    p, 0(DI)       \
	VMOVUPD    q, size(DI)    \
	VMOVUPD    r, 2*size(DI)  \
	ADDQ       R9, SI         \
	ADDQ       R8, DI

#define DIVIDE \
	VBROADCASTSD floor+56(FP), Z3 \
	ROWS8AVX512(DIVIDEROW, 3)

// func ratioTileAVX512(ratios *float64, stride int, x *float64, xStride int, a, b *float64, depth int, floor float64)
TEXT ·ratioTileAVX512(SB), NOSPLIT, $0-64
	RATIOARGUMENTS
	PRODUCT
	DIVIDE
	VZEROUPPER
	RET

// To the sums of a row x·log y of eight numbers more.
#define LOGOF(at) \
	VMOVUPD at(SI), Z0 \
	VMOVUPD at(DI), Z1 \
	LOG8

// func ratioLogTileAVX512(ratios *float64, stride int, x *float64, xStride int, a, b *float64, depth int, floor float64, logs, constants, table *float64)
TEXT ·ratioLogTileAVX512(SB), NOSPLIT, $0-88
	RATIOARGUMENTS
	PRODUCT
	DIVIDE

	MOVQ ratios+0(FP), DI
	MOVQ x+16(FP), SI
	MOVQ logs+64(FP), BX
	MOVQ constants+72(FP), DX
	MOVQ table+80(FP), AX
	LOGCONSTANTS8
	MOVQ $8, CX

row:
	VMOVUPD (BX), Y8
	LOGOF(0)
	LOGOF(64)
	LOGOF(128)
	VMOVUPD Y8, (BX)
	ADDQ    R9, SI
	ADDQ    R8, DI
	ADDQ    $32, BX
	DECQ    CX
	JNZ     row
	VZEROUPPER
	RET
