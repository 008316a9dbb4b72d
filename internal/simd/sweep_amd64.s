#include "textflag.h"

// func sweepAVX2(v, b, h, inverse, active, step *float64, k int)
// Y0–Y7 are h_r·v in 32 of the 64 columns, R9 is what row r begins at in bytes of v and b.
TEXT ·sweepAVX2(SB), NOSPLIT, $0-56
	MOVQ v+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ h+16(FP), DX
	MOVQ inverse+24(FP), R8
	MOVQ active+32(FP), AX
	MOVQ step+40(FP), BX
	MOVQ k+48(FP), CX
	XORQ R9, R9
	MOVQ CX, R10      // rows that are left
	XORQ R13, R13     // r in bytes

row:
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	MOVQ   DI, R11
	MOVQ   DX, R12
	MOVQ   CX, R14

other:
	VBROADCASTSD (R12), Y8
	VFMADD231PD  0(R11), Y8, Y0
	VFMADD231PD  32(R11), Y8, Y1
	VFMADD231PD  64(R11), Y8, Y2
	VFMADD231PD  96(R11), Y8, Y3
	VFMADD231PD  128(R11), Y8, Y4
	VFMADD231PD  160(R11), Y8, Y5
	VFMADD231PD  192(R11), Y8, Y6
	VFMADD231PD  224(R11), Y8, Y7
	ADDQ         $8, R12
	ADDQ         $512, R11
	DECQ         R14
	JNZ          other

	VBROADCASTSD (R8)(R13*1), Y9  // inverse_r
	VBROADCASTSD (DX)(R13*1), Y10 // h_rr
	VXORPD       Y11, Y11, Y11
	LEAQ         (DI)(R9*1), R11
	LEAQ         (SI)(R9*1), R12

// New values in Y13, what they have moved by in Y12.
#define MOVE(sum, at) \
	VMOVUPD      at(R11), Y14     \
	VSUBPD       at(R12), sum, sum \
	VMOVAPD      Y14, Y13         \
	VFNMADD231PD sum, Y9, Y13     \
	VMAXPD       Y11, Y13, Y13    \
	VSUBPD       Y14, Y13, Y12    \
	VANDPD       at(AX), Y12, Y12 \
	VADDPD       Y12, Y14, Y13    \
	VMOVUPD      Y13, at(R11)     \
	VMULPD       Y12, Y12, Y12    \
	VMOVUPD      at(BX), Y13      \
	VFMADD231PD  Y12, Y10, Y13    \
	VMOVUPD      Y13, at(BX)

	MOVE(Y0, 0)
	MOVE(Y1, 32)
	MOVE(Y2, 64)
	MOVE(Y3, 96)
	MOVE(Y4, 128)
	MOVE(Y5, 160)
	MOVE(Y6, 192)
	MOVE(Y7, 224)

	LEAQ (DX)(CX*8), DX
	ADDQ $512, R9
	ADDQ $8, R13
	DECQ R10
	JNZ  row
	VZEROUPPER
	RET

// func sweepAVX512(v, b, h, inverse, active, step *float64, k int)
// Z0–Z7 are h_r·v in the 64 columns, R9 is what row r begins at in bytes of v and b.
TEXT ·sweepAVX512(SB), NOSPLIT, $0-56
	MOVQ v+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ h+16(FP), DX
	MOVQ inverse+24(FP), R8
	MOVQ active+32(FP), AX
	MOVQ step+40(FP), BX
	MOVQ k+48(FP), CX
	XORQ R9, R9
	MOVQ CX, R10      // rows that are left
	XORQ R13, R13     // r in bytes

row512:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	MOVQ   DI, R11
	MOVQ   DX, R12
	MOVQ   CX, R14

other512:
	VBROADCASTSD (R12), Z8
	VFMADD231PD  0(R11), Z8, Z0
	VFMADD231PD  64(R11), Z8, Z1
	VFMADD231PD  128(R11), Z8, Z2
	VFMADD231PD  192(R11), Z8, Z3
	VFMADD231PD  256(R11), Z8, Z4
	VFMADD231PD  320(R11), Z8, Z5
	VFMADD231PD  384(R11), Z8, Z6
	VFMADD231PD  448(R11), Z8, Z7
	ADDQ         $8, R12
	ADDQ         $512, R11
	DECQ         R14
	JNZ          other512

	VBROADCASTSD (R8)(R13*1), Z9  // inverse_r
	VBROADCASTSD (DX)(R13*1), Z10 // h_rr
	VPXORQ       Z11, Z11, Z11
	LEAQ         (DI)(R9*1), R11
	LEAQ         (SI)(R9*1), R12

// New values in Z13, what they have moved by in Z12.
#define MOVE512(sum, at) \
	VMOVUPD      at(R11), Z14     \
	VSUBPD       at(R12), sum, sum \
	VMOVAPD      Z14, Z13         \
	VFNMADD231PD sum, Z9, Z13     \
	VMAXPD       Z11, Z13, Z13    \
	VSUBPD       Z14, Z13, Z12    \
	VPANDQ       at(AX), Z12, Z12 \
	VADDPD       Z12, Z14, Z13    \
	VMOVUPD      Z13, at(R11)     \
	VMULPD       Z12, Z12, Z12    \
	VMOVUPD      at(BX), Z13      \
	VFMADD231PD  Z12, Z10, Z13    \
	VMOVUPD      Z13, at(BX)

	MOVE512(Z0, 0)
	MOVE512(Z1, 64)
	MOVE512(Z2, 128)
	MOVE512(Z3, 192)
	MOVE512(Z4, 256)
	MOVE512(Z5, 320)
	MOVE512(Z6, 384)
	MOVE512(Z7, 448)

	LEAQ (DX)(CX*8), DX
	ADDQ $512, R9
	ADDQ $8, R13
	DECQ R10
	JNZ  row512
	VZEROUPPER
	RET
