#include "textflag.h"
#include "tile_amd64.h"

// The loops over tiles differ in their instructions, in the size of a number and of a
// register, in bytes, and in their rows. Three registers hold a row of b or of c.

#define ARGUMENTS(shift) \
	MOVQ c+0(FP), DI       \
	MOVQ stride+8(FP), R8  \
	MOVQ to+16(FP), SI     \
	MOVQ apart+24(FP), R10 \
	MOVQ a+32(FP), AX      \
	MOVQ b+40(FP), BX      \
	MOVQ depth+48(FP), CX  \
	SHLQ $shift, R8        \
	SHLQ $shift, R10

// A row of the tile and what it is added to, to that of c.
#define ADDROW(ADD, MOVE, register, p, q, r) \
	ADD  0(SI), p, p            \
	ADD  register(SI), q, q     \
	ADD  (2*register)(SI), r, r \
	MOVE p, 0(DI)               \
	MOVE q, register(DI)        \
	MOVE r, (2*register)(DI)    \
	NEXTROW

#define NEXTROW \
	ADDQ R10, SI \
	ADDQ R8, DI

// The next row of b, of three registers of size bytes, of which one, two or three are read.
#define LOADONEOF(size, p, q, r) \
	VMOVUPD 0(BX), p \
	ADDQ    $(3*size), BX

#define LOADTWOOF(size, p, q, r) \
	VMOVUPD 0(BX), p    \
	VMOVUPD size(BX), q \
	ADDQ    $(3*size), BX

#define MULTIPLYONEPD(size, number, all, x, y, z, p, q, r) \
	VBROADCASTSD number, all \
	VFMADD231PD  x, all, p

#define ADDONEPD(size, number, all, x, y, z, p, q, r) \
	VADDPD  0(SI), p, p \
	VMOVUPD p, 0(DI) \
	NEXTROW

#define MULTIPLYTWOPD(size, number, all, x, y, z, p, q, r) \
	VBROADCASTSD number, all \
	VFMADD231PD  x, all, p \
	VFMADD231PD  y, all, q

#define ADDTWOPD(size, number, all, x, y, z, p, q, r) \
	VADDPD  0(SI), p, p \
	VADDPD  size(SI), q, q \
	VMOVUPD p, 0(DI) \
	VMOVUPD q, size(DI) \
	NEXTROW

#define ADDTHREEPD(size, number, all, x, y, z, p, q, r) \
	ADDROW(VADDPD, VMOVUPD, size, p, q, r)

#define MULTIPLYONEPS(size, number, all, x, y, z, p, q, r) \
	VBROADCASTSS number, all \
	VFMADD231PS  x, all, p

#define ADDONEPS(size, number, all, x, y, z, p, q, r) \
	VADDPS  0(SI), p, p \
	VMOVUPS p, 0(DI) \
	NEXTROW

#define MULTIPLYTWOPS(size, number, all, x, y, z, p, q, r) \
	VBROADCASTSS number, all \
	VFMADD231PS  x, all, p \
	VFMADD231PS  y, all, q

#define ADDTWOPS(size, number, all, x, y, z, p, q, r) \
	VADDPS  0(SI), p, p \
	VADDPS  size(SI), q, q \
	VMOVUPS p, 0(DI) \
	VMOVUPS q, size(DI) \
	NEXTROW

#define ADDTHREEPS(size, number, all, x, y, z, p, q, r) \
	ADDROW(VADDPS, VMOVUPS, size, p, q, r)

#define ZEROSAVX2(size, number, all, x, y, z, p, q, r) \
	ZERO(VXORPD, p, q, r)

// do for each of one row of a tile to four.
#define ROWS1AVX2(do, shift) \
	do(32, (0<<shift)(AX), Y3, Y0, Y1, Y2, Y4, Y5, Y6)

#define ROWS2AVX2(do, shift) \
	ROWS1AVX2(do, shift) \
	do(32, (1<<shift)(AX), Y3, Y0, Y1, Y2, Y7, Y8, Y9)

#define ROWS3AVX2(do, shift) \
	ROWS2AVX2(do, shift) \
	do(32, (2<<shift)(AX), Y3, Y0, Y1, Y2, Y10, Y11, Y12)

#define ROWS4AVX2(do, shift) \
	ROWS3AVX2(do, shift) \
	do(32, (3<<shift)(AX), Y3, Y0, Y1, Y2, Y13, Y14, Y15)

// A tile of so many rows, whose beginning and whose loop these labels name.
#define TILE(begin, deep, rows, zeros, load, multiply, add, size, p, q, r, shift) \
begin: \
	rows(zeros, shift) \
deep: \
	load(size, p, q, r) \
	rows(multiply, shift) \
	ADDQ $(4<<shift), AX \
	ADDQ $(4<<shift), DX \
	DECQ CX \
	JNZ  deep \
	rows(add, shift) \
	VZEROUPPER \
	RET

#define FOURTILES(load, multiply, add, shift) \
	ARGUMENTS(shift) \
	MOVQ rows+56(FP), R9 \
	CMPQ R9, $2 \
	JEQ  two \
	JLT  one \
	CMPQ R9, $3 \
	JEQ  three \
	TILE(four, deepfour, ROWS4AVX2, ZEROSAVX2, load, multiply, add, 32, Y0, Y1, Y2, shift) \
	TILE(three, deepthree, ROWS3AVX2, ZEROSAVX2, load, multiply, add, 32, Y0, Y1, Y2, shift) \
	TILE(two, deeptwo, ROWS2AVX2, ZEROSAVX2, load, multiply, add, 32, Y0, Y1, Y2, shift) \
	TILE(one, deepone, ROWS1AVX2, ZEROSAVX2, load, multiply, add, 32, Y0, Y1, Y2, shift)

#define EIGHTTILES(load, multiply, add, shift) \
	ARGUMENTS(shift) \
	MOVQ CX, DX \
	SHLQ $(shift+2), DX \
	ADDQ AX, DX \
	MOVQ rows+56(FP), R9 \
	CMPQ R9, $4 \
	JEQ  four \
	JLT  few \
	CMPQ R9, $6 \
	JEQ  six \
	JLT  five \
	CMPQ R9, $7 \
	JEQ  seven \
	TILE(eight, deepeight, ROWS8AVX512, ZEROSAVX512, load, multiply, add, 64, Z0, Z1, Z2, shift) \
	TILE(seven, deepseven, ROWS7AVX512, ZEROSAVX512, load, multiply, add, 64, Z0, Z1, Z2, shift) \
	TILE(six, deepsix, ROWS6AVX512, ZEROSAVX512, load, multiply, add, 64, Z0, Z1, Z2, shift) \
	TILE(five, deepfive, ROWS5AVX512, ZEROSAVX512, load, multiply, add, 64, Z0, Z1, Z2, shift) \
	TILE(four, deepfour, ROWS4AVX512, ZEROSAVX512, load, multiply, add, 64, Z0, Z1, Z2, shift) \
few: \
	CMPQ R9, $2 \
	JEQ  two \
	JLT  one \
	TILE(three, deepthree, ROWS3AVX512, ZEROSAVX512, load, multiply, add, 64, Z0, Z1, Z2, shift) \
	TILE(two, deeptwo, ROWS2AVX512, ZEROSAVX512, load, multiply, add, 64, Z0, Z1, Z2, shift) \
	TILE(one, deepone, ROWS1AVX512, ZEROSAVX512, load, multiply, add, 64, Z0, Z1, Z2, shift)

// A row of a tile of sums, which lie one after another, from memory and back.
#define LOADSUMS(MOVE, register, row, p, q, r) \
	MOVE (register*(3*row))(DI), p     \
	MOVE (register*(3*row + 1))(DI), q \
	MOVE (register*(3*row + 2))(DI), r

#define STORESUMS(MOVE, register, row, p, q, r) \
	MOVE p, (register*(3*row))(DI)     \
	MOVE q, (register*(3*row + 1))(DI) \
	MOVE r, (register*(3*row + 2))(DI)

#define SUMS(shift) \
	MOVQ sums+0(FP), DI    \
	MOVQ a+8(FP), AX       \
	MOVQ x+16(FP), BX      \
	MOVQ stride+24(FP), R8 \
	MOVQ depth+32(FP), CX  \
	SHLQ $shift, R8

// A row of x, which the next lies R8 bytes behind.
#define LOADALONG(MOVE, register, p, q, r) \
	MOVE 0(BX), p            \
	MOVE register(BX), q     \
	MOVE (2*register)(BX), r \
	ADDQ R8, BX

// What follows in the row of x, which is used next.
#define ASKAHEAD \
	PREFETCHT0 192(BX) \
	PREFETCHT0 256(BX) \
	PREFETCHT0 320(BX)

// Rows of a tile of eight rows of x, of one register to three, as LOAD, ROW and ADDROW are of three.
// The last register may be half a one, of which the name follows that of the whole.
#define LOADONE(MOVE, p, q, halfq, r, halfr) \
	MOVE 0(BX), p \
	ADDQ $64, BX

#define LOADONEHALF(MOVE, p, q, halfq, r, halfr) \
	MOVE 0(BX), p      \
	MOVE 64(BX), halfq \
	ADDQ $96, BX

#define LOADTWO(MOVE, p, q, halfq, r, halfr) \
	MOVE 0(BX), p  \
	MOVE 64(BX), q \
	ADDQ $128, BX

#define LOADTWOHALF(MOVE, p, q, halfq, r, halfr) \
	MOVE 0(BX), p       \
	MOVE 64(BX), q      \
	MOVE 128(BX), halfr \
	ADDQ $160, BX

#define LOADTHREE(MOVE, p, q, halfq, r, halfr) \
	LOAD(MOVE, 64, p, q, r)

#define ROWONE(BROADCAST, MULTIPLYADD, number, all, halfall, x, y, halfy, z, halfz, p, q, halfq, r, halfr) \
	BROADCAST   number, all \
	MULTIPLYADD x, all, p

#define ROWONEHALF(BROADCAST, MULTIPLYADD, number, all, halfall, x, y, halfy, z, halfz, p, q, halfq, r, halfr) \
	BROADCAST   number, all           \
	MULTIPLYADD x, all, p             \
	MULTIPLYADD halfy, halfall, halfq

#define ROWTWO(BROADCAST, MULTIPLYADD, number, all, halfall, x, y, halfy, z, halfz, p, q, halfq, r, halfr) \
	BROADCAST   number, all \
	MULTIPLYADD x, all, p   \
	MULTIPLYADD y, all, q

#define ROWTWOHALF(BROADCAST, MULTIPLYADD, number, all, halfall, x, y, halfy, z, halfz, p, q, halfq, r, halfr) \
	BROADCAST   number, all           \
	MULTIPLYADD x, all, p             \
	MULTIPLYADD y, all, q             \
	MULTIPLYADD halfz, halfall, halfr

#define ROWTHREE(BROADCAST, MULTIPLYADD, number, all, halfall, x, y, halfy, z, halfz, p, q, halfq, r, halfr) \
	ROW(BROADCAST, MULTIPLYADD, number, all, x, y, z, p, q, r)

#define ADDONE(ADD, MOVE, p, q, halfq, r, halfr) \
	ADD  0(DI), p, p \
	MOVE p, 0(DI)    \
	ADDQ $64, DI

#define ADDONEHALF(ADD, MOVE, p, q, halfq, r, halfr) \
	ADD  0(DI), p, p          \
	ADD  64(DI), halfq, halfq \
	MOVE p, 0(DI)             \
	MOVE halfq, 64(DI)        \
	ADDQ $96, DI

#define ADDTWO(ADD, MOVE, p, q, halfq, r, halfr) \
	ADD  0(DI), p, p  \
	ADD  64(DI), q, q \
	MOVE p, 0(DI)     \
	MOVE q, 64(DI)    \
	ADDQ $128, DI

#define ADDTWOHALF(ADD, MOVE, p, q, halfq, r, halfr) \
	ADD  0(DI), p, p           \
	ADD  64(DI), q, q          \
	ADD  128(DI), halfr, halfr \
	MOVE p, 0(DI)              \
	MOVE q, 64(DI)             \
	MOVE halfr, 128(DI)        \
	ADDQ $160, DI

#define ADDTHREE(ADD, MOVE, p, q, halfq, r, halfr) \
	ADD  0(DI), p, p   \
	ADD  64(DI), q, q  \
	ADD  128(DI), r, r \
	MOVE p, 0(DI)      \
	MOVE q, 64(DI)     \
	MOVE r, 128(DI)    \
	ADDQ $192, DI

// As a tile of eight rows, of rows of x as they lie, and of as many registers a row as
// load, row and add are of.
#define ROWTILE(load, row, add, BROADCAST, MULTIPLYADD, ADD, MOVE, shift) \
	MOVQ tile+0(FP), DI      \
	MOVQ x+8(FP), SI         \
	MOVQ stride+16(FP), R9   \
	MOVQ b+24(FP), BX        \
	MOVQ depth+32(FP), CX    \
	SHLQ $shift, R9          \
	LEAQ (R9)(R9*2), R11     \
	LEAQ (SI)(R11*1), R10    \
	LEAQ (R10)(R11*1), R11   \
	ZERO(VPXORQ, Z8, Z9, Z10) \
	ZERO(VPXORQ, Z11, Z12, Z13) \
	ZERO(VPXORQ, Z14, Z15, Z16) \
	ZERO(VPXORQ, Z17, Z18, Z19) \
	ZERO(VPXORQ, Z20, Z21, Z22) \
	ZERO(VPXORQ, Z23, Z24, Z25) \
	ZERO(VPXORQ, Z26, Z27, Z28) \
	ZERO(VPXORQ, Z29, Z30, Z31) \
deep: \
	load(MOVE, Z0, Z1, Y1, Z2, Y2) \
	row(BROADCAST, MULTIPLYADD, (SI), Z3, Y3, Z0, Z1, Y1, Z2, Y2, Z8, Z9, Y9, Z10, Y10) \
	row(BROADCAST, MULTIPLYADD, (SI)(R9*1), Z4, Y4, Z0, Z1, Y1, Z2, Y2, Z11, Z12, Y12, Z13, Y13) \
	row(BROADCAST, MULTIPLYADD, (SI)(R9*2), Z5, Y5, Z0, Z1, Y1, Z2, Y2, Z14, Z15, Y15, Z16, Y16) \
	row(BROADCAST, MULTIPLYADD, (R10), Z6, Y6, Z0, Z1, Y1, Z2, Y2, Z17, Z18, Y18, Z19, Y19) \
	row(BROADCAST, MULTIPLYADD, (R10)(R9*1), Z3, Y3, Z0, Z1, Y1, Z2, Y2, Z20, Z21, Y21, Z22, Y22) \
	row(BROADCAST, MULTIPLYADD, (R10)(R9*2), Z4, Y4, Z0, Z1, Y1, Z2, Y2, Z23, Z24, Y24, Z25, Y25) \
	row(BROADCAST, MULTIPLYADD, (R11), Z5, Y5, Z0, Z1, Y1, Z2, Y2, Z26, Z27, Y27, Z28, Y28) \
	row(BROADCAST, MULTIPLYADD, (R11)(R9*1), Z6, Y6, Z0, Z1, Y1, Z2, Y2, Z29, Z30, Y30, Z31, Y31) \
	ADDQ $(1<<shift), SI \
	ADDQ $(1<<shift), R10 \
	ADDQ $(1<<shift), R11 \
	DECQ CX \
	JNZ deep \
	add(ADD, MOVE, Z8, Z9, Y9, Z10, Y10) \
	add(ADD, MOVE, Z11, Z12, Y12, Z13, Y13) \
	add(ADD, MOVE, Z14, Z15, Y15, Z16, Y16) \
	add(ADD, MOVE, Z17, Z18, Y18, Z19, Y19) \
	add(ADD, MOVE, Z20, Z21, Y21, Z22, Y22) \
	add(ADD, MOVE, Z23, Z24, Y24, Z25, Y25) \
	add(ADD, MOVE, Z26, Z27, Y27, Z28, Y28) \
	add(ADD, MOVE, Z29, Z30, Y30, Z31, Y31) \
	VZEROUPPER \
	RET

// Four rows of sums with AVX2, four and eight with AVX-512; the other four rows of a of eight
// are at DX.
#define FOURSUMSAVX2(BROADCAST, MULTIPLYADD, MOVE, shift) \
	SUMS(shift) \
	LOADSUMS(MOVE, 32, 0, Y4, Y5, Y6) \
	LOADSUMS(MOVE, 32, 1, Y7, Y8, Y9) \
	LOADSUMS(MOVE, 32, 2, Y10, Y11, Y12) \
	LOADSUMS(MOVE, 32, 3, Y13, Y14, Y15) \
deep: \
	ASKAHEAD \
	LOADALONG(MOVE, 32, Y0, Y1, Y2) \
	ROW(BROADCAST, MULTIPLYADD, (0<<shift)(AX), Y3, Y0, Y1, Y2, Y4, Y5, Y6) \
	ROW(BROADCAST, MULTIPLYADD, (1<<shift)(AX), Y3, Y0, Y1, Y2, Y7, Y8, Y9) \
	ROW(BROADCAST, MULTIPLYADD, (2<<shift)(AX), Y3, Y0, Y1, Y2, Y10, Y11, Y12) \
	ROW(BROADCAST, MULTIPLYADD, (3<<shift)(AX), Y3, Y0, Y1, Y2, Y13, Y14, Y15) \
	ADDQ $(4<<shift), AX \
	DECQ CX \
	JNZ  deep \
	STORESUMS(MOVE, 32, 0, Y4, Y5, Y6) \
	STORESUMS(MOVE, 32, 1, Y7, Y8, Y9) \
	STORESUMS(MOVE, 32, 2, Y10, Y11, Y12) \
	STORESUMS(MOVE, 32, 3, Y13, Y14, Y15) \
	VZEROUPPER \
	RET

#define FOURSUMSAVX512(BROADCAST, MULTIPLYADD, MOVE, shift) \
	SUMS(shift) \
	LOADSUMS(MOVE, 64, 0, Z8, Z9, Z10) \
	LOADSUMS(MOVE, 64, 1, Z11, Z12, Z13) \
	LOADSUMS(MOVE, 64, 2, Z14, Z15, Z16) \
	LOADSUMS(MOVE, 64, 3, Z17, Z18, Z19) \
deep: \
	ASKAHEAD \
	LOADALONG(MOVE, 64, Z0, Z1, Z2) \
	ROW(BROADCAST, MULTIPLYADD, (0<<shift)(AX), Z3, Z0, Z1, Z2, Z8, Z9, Z10) \
	ROW(BROADCAST, MULTIPLYADD, (1<<shift)(AX), Z4, Z0, Z1, Z2, Z11, Z12, Z13) \
	ROW(BROADCAST, MULTIPLYADD, (2<<shift)(AX), Z5, Z0, Z1, Z2, Z14, Z15, Z16) \
	ROW(BROADCAST, MULTIPLYADD, (3<<shift)(AX), Z6, Z0, Z1, Z2, Z17, Z18, Z19) \
	ADDQ $(4<<shift), AX \
	DECQ CX \
	JNZ  deep \
	STORESUMS(MOVE, 64, 0, Z8, Z9, Z10) \
	STORESUMS(MOVE, 64, 1, Z11, Z12, Z13) \
	STORESUMS(MOVE, 64, 2, Z14, Z15, Z16) \
	STORESUMS(MOVE, 64, 3, Z17, Z18, Z19) \
	VZEROUPPER \
	RET

#define EIGHTSUMSAVX512(BROADCAST, MULTIPLYADD, MOVE, shift) \
	SUMS(shift) \
	MOVQ CX, DX \
	SHLQ $(shift+2), DX \
	ADDQ AX, DX \
	LOADSUMS(MOVE, 64, 0, Z8, Z9, Z10) \
	LOADSUMS(MOVE, 64, 1, Z11, Z12, Z13) \
	LOADSUMS(MOVE, 64, 2, Z14, Z15, Z16) \
	LOADSUMS(MOVE, 64, 3, Z17, Z18, Z19) \
	LOADSUMS(MOVE, 64, 4, Z20, Z21, Z22) \
	LOADSUMS(MOVE, 64, 5, Z23, Z24, Z25) \
	LOADSUMS(MOVE, 64, 6, Z26, Z27, Z28) \
	LOADSUMS(MOVE, 64, 7, Z29, Z30, Z31) \
deep: \
	ASKAHEAD \
	LOADALONG(MOVE, 64, Z0, Z1, Z2) \
	ROW(BROADCAST, MULTIPLYADD, (0<<shift)(AX), Z3, Z0, Z1, Z2, Z8, Z9, Z10) \
	ROW(BROADCAST, MULTIPLYADD, (1<<shift)(AX), Z4, Z0, Z1, Z2, Z11, Z12, Z13) \
	ROW(BROADCAST, MULTIPLYADD, (2<<shift)(AX), Z5, Z0, Z1, Z2, Z14, Z15, Z16) \
	ROW(BROADCAST, MULTIPLYADD, (3<<shift)(AX), Z6, Z0, Z1, Z2, Z17, Z18, Z19) \
	ROW(BROADCAST, MULTIPLYADD, (0<<shift)(DX), Z3, Z0, Z1, Z2, Z20, Z21, Z22) \
	ROW(BROADCAST, MULTIPLYADD, (1<<shift)(DX), Z4, Z0, Z1, Z2, Z23, Z24, Z25) \
	ROW(BROADCAST, MULTIPLYADD, (2<<shift)(DX), Z5, Z0, Z1, Z2, Z26, Z27, Z28) \
	ROW(BROADCAST, MULTIPLYADD, (3<<shift)(DX), Z6, Z0, Z1, Z2, Z29, Z30, Z31) \
	ADDQ $(4<<shift), AX \
	ADDQ $(4<<shift), DX \
	DECQ CX \
	JNZ  deep \
	STORESUMS(MOVE, 64, 0, Z8, Z9, Z10) \
	STORESUMS(MOVE, 64, 1, Z11, Z12, Z13) \
	STORESUMS(MOVE, 64, 2, Z14, Z15, Z16) \
	STORESUMS(MOVE, 64, 3, Z17, Z18, Z19) \
	STORESUMS(MOVE, 64, 4, Z20, Z21, Z22) \
	STORESUMS(MOVE, 64, 5, Z23, Z24, Z25) \
	STORESUMS(MOVE, 64, 6, Z26, Z27, Z28) \
	STORESUMS(MOVE, 64, 7, Z29, Z30, Z31) \
	VZEROUPPER \
	RET

// Rows of so many columns, whole registers of 32 bytes, that lie one after another at SI, are added to rows
// that are R8 bytes apart.
#define ADDSUMS(ADD, shift) \
	MOVQ c+0(FP), DI       \
	MOVQ stride+8(FP), R8  \
	MOVQ sums+16(FP), SI   \
	MOVQ rows+24(FP), CX   \
	MOVQ columns+32(FP), R9 \
	SHLQ $shift, R8        \
	SHLQ $shift, R9        \
row: \
	XORQ R10, R10          \
column: \
	VMOVUPD (SI)(R10*1), Y0     \
	ADD     (DI)(R10*1), Y0, Y0 \
	VMOVUPD Y0, (DI)(R10*1)     \
	ADDQ    $32, R10            \
	CMPQ    R10, R9             \
	JLT     column              \
	ADDQ    R9, SI              \
	ADDQ    R8, DI              \
	DECQ    CX                  \
	JNZ     row                 \
	VZEROUPPER                  \
	RET

// The tiles of one register a row, of two and of three, with AVX2 and with AVX-512.

// func tileOneAVX2(c *float64, stride int, to *float64, apart int, a, b *float64, depth, rows int)
TEXT ·tileOneAVX2(SB), NOSPLIT, $0-64
	FOURTILES(LOADONEOF, MULTIPLYONEPD, ADDONEPD, 3)

// func tileTwoAVX2(c *float64, stride int, to *float64, apart int, a, b *float64, depth, rows int)
TEXT ·tileTwoAVX2(SB), NOSPLIT, $0-64
	FOURTILES(LOADTWOOF, MULTIPLYTWOPD, ADDTWOPD, 3)

// func tileThreeAVX2(c *float64, stride int, to *float64, apart int, a, b *float64, depth, rows int)
TEXT ·tileThreeAVX2(SB), NOSPLIT, $0-64
	FOURTILES(LOADTHREEOF, MULTIPLYTHREEPD, ADDTHREEPD, 3)

// func tileOneAVX512(c *float64, stride int, to *float64, apart int, a, b *float64, depth, rows int)
TEXT ·tileOneAVX512(SB), NOSPLIT, $0-64
	EIGHTTILES(LOADONEOF, MULTIPLYONEPD, ADDONEPD, 3)

// func tileTwoAVX512(c *float64, stride int, to *float64, apart int, a, b *float64, depth, rows int)
TEXT ·tileTwoAVX512(SB), NOSPLIT, $0-64
	EIGHTTILES(LOADTWOOF, MULTIPLYTWOPD, ADDTWOPD, 3)

// func tileThreeAVX512(c *float64, stride int, to *float64, apart int, a, b *float64, depth, rows int)
TEXT ·tileThreeAVX512(SB), NOSPLIT, $0-64
	EIGHTTILES(LOADTHREEOF, MULTIPLYTHREEPD, ADDTHREEPD, 3)

// func tile32OneAVX2(c *float32, stride int, to *float32, apart int, a, b *float32, depth, rows int)
TEXT ·tile32OneAVX2(SB), NOSPLIT, $0-64
	FOURTILES(LOADONEOF, MULTIPLYONEPS, ADDONEPS, 2)

// func tile32TwoAVX2(c *float32, stride int, to *float32, apart int, a, b *float32, depth, rows int)
TEXT ·tile32TwoAVX2(SB), NOSPLIT, $0-64
	FOURTILES(LOADTWOOF, MULTIPLYTWOPS, ADDTWOPS, 2)

// func tile32ThreeAVX2(c *float32, stride int, to *float32, apart int, a, b *float32, depth, rows int)
TEXT ·tile32ThreeAVX2(SB), NOSPLIT, $0-64
	FOURTILES(LOADTHREEOF, MULTIPLYTHREEPS, ADDTHREEPS, 2)

// func tile32OneAVX512(c *float32, stride int, to *float32, apart int, a, b *float32, depth, rows int)
TEXT ·tile32OneAVX512(SB), NOSPLIT, $0-64
	EIGHTTILES(LOADONEOF, MULTIPLYONEPS, ADDONEPS, 2)

// func tile32TwoAVX512(c *float32, stride int, to *float32, apart int, a, b *float32, depth, rows int)
TEXT ·tile32TwoAVX512(SB), NOSPLIT, $0-64
	EIGHTTILES(LOADTWOOF, MULTIPLYTWOPS, ADDTWOPS, 2)

// func tile32ThreeAVX512(c *float32, stride int, to *float32, apart int, a, b *float32, depth, rows int)
TEXT ·tile32ThreeAVX512(SB), NOSPLIT, $0-64
	EIGHTTILES(LOADTHREEOF, MULTIPLYTHREEPS, ADDTHREEPS, 2)

// The second to fourth of AX lines, R9 apart from SI on, or for those that are missing the last.
#define LINES \
	LEAQ    (SI)(R9*1), R10  \
	CMPQ    AX, $2           \
	CMOVQLT SI, R10          \
	LEAQ    (R10)(R9*1), R11 \
	CMPQ    AX, $3           \
	CMOVQLT R10, R11         \
	LEAQ    (R11)(R9*1), R12 \
	CMPQ    AX, $4           \
	CMOVQLT R11, R12

// func interleaveAVX2(dst *float64, tile int, x *float64, stride, lines, depth int)
// Two numbers of each line at a time.
TEXT ·interleaveAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ tile+8(FP), R8
	MOVQ x+16(FP), SI
	MOVQ stride+24(FP), R9
	MOVQ lines+32(FP), AX
	MOVQ depth+40(FP), CX
	SHLQ $3, R8
	SHLQ $3, R9
	LINES
	LEAQ (DI)(R8*1), R13
	SHLQ $1, R8

two:
	VMOVUPD     (SI), X0
	VMOVUPD     (R10), X1
	VINSERTF128 $1, (R11), Y0, Y0
	VINSERTF128 $1, (R12), Y1, Y1
	VUNPCKLPD   Y1, Y0, Y2
	VUNPCKHPD   Y1, Y0, Y3
	VMOVUPD     Y2, (DI)
	VMOVUPD     Y3, (R13)
	ADDQ        $16, SI
	ADDQ        $16, R10
	ADDQ        $16, R11
	ADDQ        $16, R12
	ADDQ        R8, DI
	ADDQ        R8, R13
	SUBQ        $2, CX
	JNZ         two
	VZEROUPPER
	RET

// func interleave32AVX2(dst *float32, tile int, x *float32, stride, lines, depth int)
// Eight numbers of each line at a time.
TEXT ·interleave32AVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ tile+8(FP), R8
	MOVQ x+16(FP), SI
	MOVQ stride+24(FP), R9
	MOVQ lines+32(FP), AX
	MOVQ depth+40(FP), CX
	SHLQ $2, R8
	SHLQ $2, R9
	LINES
	LEAQ (R8)(R8*2), R13

eight:
	VMOVUPS      (SI), Y0
	VMOVUPS      (R10), Y1
	VMOVUPS      (R11), Y2
	VMOVUPS      (R12), Y3
	VUNPCKLPS    Y1, Y0, Y4
	VUNPCKHPS    Y1, Y0, Y5
	VUNPCKLPS    Y3, Y2, Y6
	VUNPCKHPS    Y3, Y2, Y7
	VUNPCKLPD    Y6, Y4, Y0
	VUNPCKHPD    Y6, Y4, Y1
	VUNPCKLPD    Y7, Y5, Y2
	VUNPCKHPD    Y7, Y5, Y3
	VMOVUPS      X0, (DI)
	VMOVUPS      X1, (DI)(R8*1)
	VMOVUPS      X2, (DI)(R8*2)
	VMOVUPS      X3, (DI)(R13*1)
	LEAQ         (DI)(R8*4), DI
	VEXTRACTF128 $1, Y0, (DI)
	VEXTRACTF128 $1, Y1, (DI)(R8*1)
	VEXTRACTF128 $1, Y2, (DI)(R8*2)
	VEXTRACTF128 $1, Y3, (DI)(R13*1)
	LEAQ         (DI)(R8*4), DI
	ADDQ         $32, SI
	ADDQ         $32, R10
	ADDQ         $32, R11
	ADDQ         $32, R12
	SUBQ         $8, CX
	JNZ          eight
	VZEROUPPER
	RET

// func copyRowsAVX2(dst, x unsafe.Pointer, stride, width, rows int)
// Width, a multiple of 32, and stride are bytes.
TEXT ·copyRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ stride+16(FP), R8
	MOVQ width+24(FP), R9
	MOVQ rows+32(FP), CX

copyRow:
	XORQ R10, R10

copyFour:
	VMOVUPD (SI)(R10*1), Y0
	VMOVUPD Y0, (DI)(R10*1)
	ADDQ    $32, R10
	CMPQ    R10, R9
	JLT     copyFour
	ADDQ    R8, SI
	ADDQ    R9, DI
	DECQ    CX
	JNZ     copyRow
	VZEROUPPER
	RET

// func rowTileOneAVX512(tile, x *float64, stride int, b *float64, depth int)
TEXT ·rowTileOneAVX512(SB), NOSPLIT, $0-40
	ROWTILE(LOADONE, ROWONE, ADDONE, VBROADCASTSD, VFMADD231PD, VADDPD, VMOVUPD, 3)

// func rowTileOneHalfAVX512(tile, x *float64, stride int, b *float64, depth int)
TEXT ·rowTileOneHalfAVX512(SB), NOSPLIT, $0-40
	ROWTILE(LOADONEHALF, ROWONEHALF, ADDONEHALF, VBROADCASTSD, VFMADD231PD, VADDPD, VMOVUPD, 3)

// func rowTileTwoAVX512(tile, x *float64, stride int, b *float64, depth int)
TEXT ·rowTileTwoAVX512(SB), NOSPLIT, $0-40
	ROWTILE(LOADTWO, ROWTWO, ADDTWO, VBROADCASTSD, VFMADD231PD, VADDPD, VMOVUPD, 3)

// func rowTileTwoHalfAVX512(tile, x *float64, stride int, b *float64, depth int)
TEXT ·rowTileTwoHalfAVX512(SB), NOSPLIT, $0-40
	ROWTILE(LOADTWOHALF, ROWTWOHALF, ADDTWOHALF, VBROADCASTSD, VFMADD231PD, VADDPD, VMOVUPD, 3)

// func rowTileThreeAVX512(tile, x *float64, stride int, b *float64, depth int)
TEXT ·rowTileThreeAVX512(SB), NOSPLIT, $0-40
	ROWTILE(LOADTHREE, ROWTHREE, ADDTHREE, VBROADCASTSD, VFMADD231PD, VADDPD, VMOVUPD, 3)

// func rowTile32OneAVX512(tile, x *float32, stride int, b *float32, depth int)
TEXT ·rowTile32OneAVX512(SB), NOSPLIT, $0-40
	ROWTILE(LOADONE, ROWONE, ADDONE, VBROADCASTSS, VFMADD231PS, VADDPS, VMOVUPS, 2)

// func rowTile32OneHalfAVX512(tile, x *float32, stride int, b *float32, depth int)
TEXT ·rowTile32OneHalfAVX512(SB), NOSPLIT, $0-40
	ROWTILE(LOADONEHALF, ROWONEHALF, ADDONEHALF, VBROADCASTSS, VFMADD231PS, VADDPS, VMOVUPS, 2)

// func rowTile32TwoAVX512(tile, x *float32, stride int, b *float32, depth int)
TEXT ·rowTile32TwoAVX512(SB), NOSPLIT, $0-40
	ROWTILE(LOADTWO, ROWTWO, ADDTWO, VBROADCASTSS, VFMADD231PS, VADDPS, VMOVUPS, 2)

// func rowTile32TwoHalfAVX512(tile, x *float32, stride int, b *float32, depth int)
TEXT ·rowTile32TwoHalfAVX512(SB), NOSPLIT, $0-40
	ROWTILE(LOADTWOHALF, ROWTWOHALF, ADDTWOHALF, VBROADCASTSS, VFMADD231PS, VADDPS, VMOVUPS, 2)

// func rowTile32ThreeAVX512(tile, x *float32, stride int, b *float32, depth int)
TEXT ·rowTile32ThreeAVX512(SB), NOSPLIT, $0-40
	ROWTILE(LOADTHREE, ROWTHREE, ADDTHREE, VBROADCASTSS, VFMADD231PS, VADDPS, VMOVUPS, 2)

// func sumsAVX2(sums, a, x *float64, stride, depth int)
TEXT ·sumsAVX2(SB), NOSPLIT, $0-40
	FOURSUMSAVX2(VBROADCASTSD, VFMADD231PD, VMOVUPD, 3)

// func sumsAVX512(sums, a, x *float64, stride, depth int)
TEXT ·sumsAVX512(SB), NOSPLIT, $0-40
	FOURSUMSAVX512(VBROADCASTSD, VFMADD231PD, VMOVUPD, 3)

// func twoSumsAVX512(sums, a, x *float64, stride, depth int)
TEXT ·twoSumsAVX512(SB), NOSPLIT, $0-40
	EIGHTSUMSAVX512(VBROADCASTSD, VFMADD231PD, VMOVUPD, 3)

// func sums32AVX2(sums, a, x *float32, stride, depth int)
TEXT ·sums32AVX2(SB), NOSPLIT, $0-40
	FOURSUMSAVX2(VBROADCASTSS, VFMADD231PS, VMOVUPS, 2)

// func sums32AVX512(sums, a, x *float32, stride, depth int)
TEXT ·sums32AVX512(SB), NOSPLIT, $0-40
	FOURSUMSAVX512(VBROADCASTSS, VFMADD231PS, VMOVUPS, 2)

// func twoSums32AVX512(sums, a, x *float32, stride, depth int)
TEXT ·twoSums32AVX512(SB), NOSPLIT, $0-40
	EIGHTSUMSAVX512(VBROADCASTSS, VFMADD231PS, VMOVUPS, 2)

// func addSumsAVX2(c *float64, stride int, sums *float64, rows, columns int)
TEXT ·addSumsAVX2(SB), NOSPLIT, $0-40
	ADDSUMS(VADDPD, 3)

// func addSums32AVX2(c *float32, stride int, sums *float32, rows, columns int)
TEXT ·addSums32AVX2(SB), NOSPLIT, $0-40
	ADDSUMS(VADDPS, 2)
