// What loops over tiles are made of, see tile_amd64.s.

#define ZERO(XOR, p, q, r) \
	XOR p, p, p \
	XOR q, q, q \
	XOR r, r, r

// The next row of b.
#define LOAD(MOVE, register, p, q, r) \
	MOVE 0(BX), p              \
	MOVE register(BX), q       \
	MOVE (2*register)(BX), r   \
	ADDQ $(3*register), BX

// To a row of the tile, p, q and r, that of b, x, y and z, times a number of a.
#define ROW(BROADCAST, MULTIPLYADD, number, all, x, y, z, p, q, r) \
	BROADCAST   number, all \
	MULTIPLYADD x, all, p   \
	MULTIPLYADD y, all, q   \
	MULTIPLYADD z, all, r

// A row of b of three registers of size bytes.
#define LOADTHREEOF(size, p, q, r) \
	LOAD(VMOVUPD, size, p, q, r)

#define MULTIPLYTHREEPD(size, number, all, x, y, z, p, q, r) \
	ROW(VBROADCASTSD, VFMADD231PD, number, all, x, y, z, p, q, r)

#define MULTIPLYTHREEPS(size, number, all, x, y, z, p, q, r) \
	ROW(VBROADCASTSS, VFMADD231PS, number, all, x, y, z, p, q, r)

#define ZEROSAVX512(size, number, all, x, y, z, p, q, r) \
	ZERO(VPXORQ, p, q, r)

// do for each of one row of a tile to eight: the numbers of a of the second four rows are at DX.
#define ROWS1AVX512(do, shift) \
	do(64, (0<<shift)(AX), Z3, Z0, Z1, Z2, Z8, Z9, Z10)

#define ROWS2AVX512(do, shift) \
	ROWS1AVX512(do, shift) \
	do(64, (1<<shift)(AX), Z4, Z0, Z1, Z2, Z11, Z12, Z13)

#define ROWS3AVX512(do, shift) \
	ROWS2AVX512(do, shift) \
	do(64, (2<<shift)(AX), Z5, Z0, Z1, Z2, Z14, Z15, Z16)

#define ROWS4AVX512(do, shift) \
	ROWS3AVX512(do, shift) \
	do(64, (3<<shift)(AX), Z6, Z0, Z1, Z2, Z17, Z18, Z19)

#define ROWS5AVX512(do, shift) \
	ROWS4AVX512(do, shift) \
	do(64, (0<<shift)(DX), Z3, Z0, Z1, Z2, Z20, Z21, Z22)

#define ROWS6AVX512(do, shift) \
	ROWS5AVX512(do, shift) \
	do(64, (1<<shift)(DX), Z4, Z0, Z1, Z2, Z23, Z24, Z25)

#define ROWS7AVX512(do, shift) \
	ROWS6AVX512(do, shift) \
	do(64, (2<<shift)(DX), Z5, Z0, Z1, Z2, Z26, Z27, Z28)

#define ROWS8AVX512(do, shift) \
	ROWS7AVX512(do, shift) \
	do(64, (3<<shift)(DX), Z6, Z0, Z1, Z2, Z29, Z30, Z31)
