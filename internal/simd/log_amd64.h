// Logarithms of several numbers, see log.go.

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
#define SEVENTH  88(DX)
#define EIGHTH   96(DX)
#define NINTH    104(DX)
#define TENTH    112(DX)

// The table at AX: first the inverses, then the logarithms.
#define LOGARITHMS 128

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
	VBROADCASTSD MANTISSA, Z10 \
	VBROADCASTSD ONE, Z9       \
	VBROADCASTSD LN2, Z16      \
	VBROADCASTSD HALF, Z17     \
	VBROADCASTSD THIRD, Z18    \
	VBROADCASTSD FOURTH, Z19   \
	VBROADCASTSD FIFTH, Z20    \
	VBROADCASTSD SIXTH, Z21    \
	VBROADCASTSD SEVENTH, Z22  \
	VBROADCASTSD EIGHTH, Z23   \
	VBROADCASTSD NINTH, Z24    \
	VBROADCASTSD TENTH, Z25    \
	VMOVUPD      (AX), Z26     \
	VMOVUPD      64(AX), Z27   \
	VMOVUPD      LOGARITHMS(AX), Z28      \
	VMOVUPD      (LOGARITHMS+64)(AX), Z29 \
	VXORPD       Y8, Y8, Y8

// Y8 += Y0·log Y1: Y2 is the exponent, Y3 the place in the table, Y4 the inverse there and Y5
// its logarithm, then Y1 r and Y3 the series.
#define LOG4 \
	VPSRLQ       $52, Y1, Y2         \
	VPOR         Y13, Y2, Y2         \
	VSUBPD       Y12, Y2, Y2         \
	VPSRLQ       $48, Y1, Y3         \
	VPAND        Y11, Y3, Y3         \
	VPAND        Y10, Y1, Y1         \
	VPOR         Y9, Y1, Y1          \
	VPCMPEQQ     Y6, Y6, Y6          \
	VXORPD       Y4, Y4, Y4          \
	VGATHERQPD   Y6, (AX)(Y3*8), Y4  \
	VPCMPEQQ     Y7, Y7, Y7          \
	VXORPD       Y5, Y5, Y5          \
	VGATHERQPD   Y7, LOGARITHMS(AX)(Y3*8), Y5 \
	VFMSUB213PD  Y9, Y4, Y1          \
	VBROADCASTSD TENTH, Y3           \
	VBROADCASTSD NINTH,      Y4 \
	VFNMADD213PD Y4, Y1, Y3 \
	VBROADCASTSD EIGHTH,     Y4 \
	VFNMADD213PD Y4, Y1, Y3 \
	VBROADCASTSD SEVENTH,    Y4 \
	VFNMADD213PD Y4, Y1, Y3 \
	VBROADCASTSD SIXTH,      Y4 \
	VFNMADD213PD Y4, Y1, Y3 \
	VBROADCASTSD FIFTH,      Y4 \
	VFNMADD213PD Y4, Y1, Y3 \
	VBROADCASTSD FOURTH,     Y4 \
	VFNMADD213PD Y4, Y1, Y3 \
	VBROADCASTSD THIRD,      Y4 \
	VFNMADD213PD Y4, Y1, Y3 \
	VBROADCASTSD HALF,       Y4 \
	VFNMADD213PD Y4, Y1, Y3 \
	VFNMADD213PD Y9, Y1, Y3          \
	VFMADD213PD  Y5, Y1, Y3          \
	VBROADCASTSD LN2, Y4             \
	VFMADD213PD  Y3, Y4, Y2          \
	VFMADD231PD  Y2, Y0, Y8

// The same of eight, of which the first four are added before the others; Z6 is the series.
#define LOG8 \
	VPSRLQ        $52, Z1, Z2   \
	VPORQ         Z13, Z2, Z2   \
	VSUBPD        Z12, Z2, Z2   \
	VPSRLQ        $48, Z1, Z4   \
	VMOVDQA64     Z4, Z5        \
	VPANDQ        Z10, Z1, Z1   \
	VPORQ         Z9, Z1, Z1    \
	VPERMI2PD     Z27, Z26, Z4  \
	VPERMI2PD     Z29, Z28, Z5  \
	VFMSUB213PD   Z9, Z4, Z1    \
	VMOVAPD       Z25, Z6       \
	VFNMADD213PD  Z24, Z1, Z6  \
	VFNMADD213PD  Z23, Z1, Z6  \
	VFNMADD213PD  Z22, Z1, Z6  \
	VFNMADD213PD  Z21, Z1, Z6  \
	VFNMADD213PD  Z20, Z1, Z6  \
	VFNMADD213PD  Z19, Z1, Z6  \
	VFNMADD213PD  Z18, Z1, Z6  \
	VFNMADD213PD  Z17, Z1, Z6  \
	VFNMADD213PD  Z9, Z1, Z6    \
	VFMADD213PD   Z5, Z1, Z6    \
	VFMADD213PD   Z6, Z16, Z2   \
	VFMADD231PD   Y2, Y0, Y8    \
	VEXTRACTF64X4 $1, Z0, Y0    \
	VEXTRACTF64X4 $1, Z2, Y2    \
	VFMADD231PD   Y2, Y0, Y8

// X8 = (s0 + s1) + (s2 + s3) of Y8.
#define LOGSUMMED \
	VHADDPD      Y8, Y8, Y8 \
	VEXTRACTF128 $1, Y8, X1 \
	VADDSD       X1, X8, X8
