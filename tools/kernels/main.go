// Command kernels generates the assembly of internal/simd for AVX2 and AVX-512 from one description:
//
//	go generate ./internal/simd
//
// The two widths differ in the numbers per register, never in the order of additions: both give the same bytes as plain
// Go.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	for _, w := range []*width{narrow, wide} {
		tile(w, double)
		tile(w, single)
		logSum(w)
		sweep(w)
		windows(w)
		depthwise(w)
		addRows(w)
	}
	dots()
	symmetricRows()
	descend()
	gather()
	Generate()
}

type width struct {
	name         string
	bytes        int // of a register
	rows         int // of a tile of products, and of a convolution's windows at a time
	xor, and, or func(...Op)
}

var (
	narrow = &width{"AVX2", 32, 4, VXORPD, VANDPD, func(v ...Op) { VPOR(v[0], v[1], v[2]) }}
	wide   = &width{"AVX512", 64, 8, VPXORQ, VPANDQ, VPORQ}
)

func (w *width) vec() reg.VecVirtual {
	if w.bytes == 64 {
		return ZMM()
	}
	return YMM()
}

func (w *width) vecs(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = w.vec()
	}
	return v
}

func (w *width) zeros(n int) []reg.VecVirtual {
	all := w.vecs(n)
	for _, v := range all {
		w.xor(v, v, v)
	}
	return all
}

type precision struct {
	name, number         string
	shift                uint64 // bytes of a number, as a power of 2
	load, broadcast, add func(...Op)
	fma                  func(...Op)
}

var (
	double = &precision{"", "float64", 3, VMOVUPD, VBROADCASTSD, VADDPD, VFMADD231PD}
	single = &precision{"32", "float32", 2, VMOVUPS, VBROADCASTSS, VADDPS, VFMADD231PS}
)

// function begins a function, which keeps no pointers.
func function(name, signature string) {
	TEXT(name, 4, signature) // NOSPLIT
	Pragma("noescape")
}

func param(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func scaled(name string, shift uint64) reg.GPVirtual {
	r := param(name)
	SHLQ(Imm(shift), r)
	return r
}

func address(name string) Mem {
	m, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return m.Addr
}

func end() {
	VZEROUPPER()
	RET()
}

// at is the address bytes bytes after a pointer.
func at(p reg.Register, bytes int) Mem { return Mem{Base: p, Disp: bytes} }

// behind is an address at an offset in a register.
func behind(p, offset reg.Register, bytes int) Mem {
	return Mem{Base: p, Index: offset, Scale: 1, Disp: bytes}
}

func copyOf(r reg.GPVirtual) reg.GPVirtual {
	c := GP64()
	MOVQ(r, c)
	return c
}

func start() reg.GPVirtual {
	r := GP64()
	XORQ(r, r)
	return r
}

// countDown repeats body until counter, reduced by n each time, is 0.
func countDown(label string, counter Op, n int, body func()) {
	Label(label)
	body()
	SUBQ(Imm(uint64(n)), counter)
	JNZ(LabelRef(label))
}

// upTo repeats body, which begins at the label, and adds n to the offset until it reaches the limit.
func upTo(label string, offset, limit Op, n int, body func()) {
	Label(label)
	body()
	ADDQ(Imm(uint64(n)), offset)
	CMPQ(offset, limit)
	JLT(LabelRef(label))
}

// inRows calls do with each register and its address; inRow registers form a row.
func (w *width) inRows(registers []reg.VecVirtual, inRow int, first, stride reg.Register, do func(v reg.VecVirtual, place Mem)) {
	for i, v := range registers {
		do(v, at(first, i%inRow*w.bytes))
		if i%inRow == inRow-1 {
			ADDQ(stride, first)
		}
	}
}

// tile writes the product a·b to c, rows×registers, or adds it if add is not 0, in the order of the depth.
func tile(w *width, p *precision) {
	function("tile"+p.name+w.name, fmt.Sprintf("func(add int, c *%[1]s, stride int, a *%[1]s, aRow, aDepth int, b *%[1]s, bDepth, depth, rows, registers int)", p.number))
	c, stride := param("c"), scaled("stride", p.shift)
	a, aRow, aDepth := param("a"), scaled("aRow", p.shift), scaled("aDepth", p.shift)
	b, bDepth, depth := param("b"), scaled("bDepth", p.shift), param("depth")
	rowsOfA := fourRows(a, aRow, w.rows)
	rows, which := param("rows"), param("registers")
	LEAQ(Mem{Base: which, Index: rows, Scale: 4}, which)
	for r := w.rows; r > 0; r-- {
		for g := 3; g > 0; g-- {
			CMPQ(which, Imm(uint64(4*r+g)))
			JEQ(LabelRef(fmt.Sprintf("tile%d%d", r, g)))
		}
	}
	end()
	for r := w.rows; r > 0; r-- {
		for g := 3; g > 0; g-- {
			name := fmt.Sprintf("%d%d", r, g)
			Label("tile" + name)
			sums := w.zeros(r * g)
			countDown("deep"+name, depth, 1, func() {
				right := w.vecs(g)
				for j, v := range right {
					p.load(at(b, j*w.bytes), v)
				}
				PREFETCHT0(at(b, 2*g*w.bytes-1)) // the next tile, of a b in place
				left := w.vec()
				for i := range r {
					p.broadcast(rowsOfA.at(i, 0), left)
					for j, v := range right {
						p.fma(v, left, sums[i*g+j])
					}
				}
				rowsOfA.move(aDepth, r)
				ADDQ(bDepth, b)
			})
			add := param("add")
			CMPQ(add, Imm(0))
			JEQ(LabelRef("write" + name))
			w.inRows(sums, g, copyOf(c), stride, func(v reg.VecVirtual, place Mem) { p.add(place, v, v) })
			Label("write" + name)
			w.inRows(sums, g, c, stride, func(v reg.VecVirtual, place Mem) { p.load(v, place) })
			end()
		}
	}
}

// strided are pointers to rows; each reaches four rows.
type strided struct {
	pointers      []reg.GPVirtual
	stride, three reg.GPVirtual
}

func fourRows(first, stride reg.GPVirtual, rows int) strided {
	s := strided{[]reg.GPVirtual{first}, stride, GP64()}
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, s.three)
	if rows > 4 {
		s.pointers = append(s.pointers, GP64())
		LEAQ(Mem{Base: first, Index: stride, Scale: 4}, s.pointers[1])
	}
	return s
}

// at is an address in row i.
func (s strided) at(i, bytes int) Mem {
	m := Mem{Base: s.pointers[i/4], Disp: bytes}
	switch i % 4 {
	case 1, 2:
		m.Index, m.Scale = s.stride, uint8(i%4)
	case 3:
		m.Index, m.Scale = s.three, 1
	}
	return m
}

// move advances the pointers of the first rows.
func (s strided) move(bytes Op, rows int) {
	for i, p := range s.pointers {
		if 4*i < rows {
			ADDQ(bytes, p)
		}
	}
}

// fourSums returns (s0 + s1) + (s2 + s3) of each of four registers of four numbers.
func fourSums(s []reg.VecVirtual) reg.VecVirtual {
	VHADDPD(s[1], s[0], s[0])
	VHADDPD(s[3], s[2], s[2])
	crossed := YMM()
	VPERM2F128(Imm(0x21), s[2], s[0], crossed)
	VBLENDPD(Imm(0xC), s[2], s[0], s[0])
	VADDPD(crossed, s[0], s[0])
	return s[0]
}

// pickedRows are pointers to the next n rows, whose indices are at places.
func pickedRows(n int, places, rows reg.GPVirtual, bytes Op) (picked []reg.GPVirtual) {
	for i := range n {
		row := GP64()
		MOVQ(at(places, 8*i), row)
		IMULQ(bytes, row)
		ADDQ(rows, row)
		picked = append(picked, row)
	}
	ADDQ(Imm(uint64(8*n)), places)
	return picked
}

func dots() {
	function("dotsAVX2", "func(dst, a, rows *float64, at *int, n, width int)")
	dst, a, rows, places, n, bytes := param("dst"), param("a"), param("rows"), param("at"), param("n"), scaled("width", 3)
	countDown("four", n, 4, func() {
		picked := pickedRows(4, places, rows, bytes)
		sums := narrow.zeros(4)
		offset := start()
		upTo("lane", offset, bytes, 32, func() {
			v := YMM()
			VMOVUPD(behind(a, offset, 0), v)
			for i, row := range picked {
				VFMADD231PD(behind(row, offset, 0), v, sums[i])
			}
		})
		VMOVUPD(fourSums(sums), at(dst, 0))
		ADDQ(Imm(32), dst)
	})
	end()
}

// symmetricRows adds the rows times x to y, and their inner products with x after the first columns to the first y.
func symmetricRows() {
	function("symmetricRowsAVX2", "func(y, x, rows *float64, stride, width int)")
	y, x, width := param("y"), param("x"), param("width")
	four := fourRows(param("rows"), scaled("stride", 3), 4)
	first, sums, by := copyOf(y), narrow.zeros(4), narrow.vecs(4)
	for i, v := range by {
		VBROADCASTSD(at(x, 8*i), v)
	}
	columns := func(dots bool) {
		v, sum := YMM(), YMM()
		VMOVUPD(at(x, 0), v)
		VMOVUPD(at(y, 0), sum)
		for i := range by {
			row := YMM()
			VMOVUPD(four.at(i, 0), row)
			VFMADD231PD(row, by[i], sum)
			if dots {
				VFMADD231PD(row, v, sums[i])
			}
		}
		VMOVUPD(sum, at(y, 0))
		ADDQ(Imm(32), x)
		ADDQ(Imm(32), y)
		four.move(Imm(32), 4)
	}
	columns(false)
	SUBQ(Imm(4), width)
	JZ(LabelRef("last"))
	countDown("lane", width, 4, func() { columns(true) })
	Label("last")
	total := fourSums(sums)
	VADDPD(at(first, 0), total, total)
	VMOVUPD(total, at(first, 0))
	end()
}

func addRows(w *width) {
	function("addRows"+w.name, "func(dst, weights, rows *float64, at *int, n, width int)")
	dst, weights, rows, places, n, bytes := param("dst"), param("weights"), param("rows"), param("at"), param("n"), scaled("width", 3)
	countDown("four", n, 4, func() {
		picked := pickedRows(4, places, rows, bytes)
		by := w.vecs(4)
		for i, v := range by {
			VBROADCASTSD(at(weights, 8*i), v)
		}
		ADDQ(Imm(32), weights)
		offset := start()
		upTo("lane", offset, bytes, w.bytes, func() {
			sum := w.vec()
			VMULPD(behind(picked[0], offset, 0), by[0], sum)
			for i := 1; i < 4; i++ {
				VFMADD231PD(behind(picked[i], offset, 0), by[i], sum)
			}
			VADDPD(behind(dst, offset, 0), sum, sum)
			VMOVUPD(sum, behind(dst, offset, 0))
		})
	})
	end()
}

// logConstant is a number of logConstants in internal/simd.
func logConstant(i int) Mem {
	return NewDataAddr(Symbol{Name: "·logConstants"}, 8*i)
}

// logSum adds x·log y to eight sums, as logarithm computes it.
func logSum(w *width) {
	function("logSum"+w.name, "func(y, x *float64, n int, sums *[8]float64)")
	y, x, n, to := param("y"), param("x"), param("n"), param("sums")
	load := func(i int) reg.VecVirtual {
		r := w.vec()
		VBROADCASTSD(logConstant(i), r)
		return r
	}
	shift, mantissa, rootHalf, one, magic, bias := load(0), load(1), load(2), load(3), load(4), load(5)
	const ln2, series, terms = 6, 7, 20
	registers := 64 / w.bytes
	sums := w.zeros(registers)
	countDown("next", n, 8, func() {
		for g, sum := range sums {
			bits, exponent, f := w.vec(), w.vec(), w.vec()
			VMOVUPD(at(y, g*w.bytes), bits)
			VPADDQ(shift, bits, bits)
			VPSRLQ(Imm(52), bits, exponent)
			w.or(magic, exponent, exponent)
			VSUBPD(bias, exponent, exponent)
			w.and(mantissa, bits, f)
			VPADDQ(rootHalf, f, f)
			VSUBPD(one, f, f)
			sumOfSeries, c := w.vec(), w.vec()
			VBROADCASTSD(logConstant(series+terms-1), sumOfSeries)
			for i := terms - 2; i >= 0; i-- {
				VBROADCASTSD(logConstant(series+i), c)
				VFMADD213PD(c, f, sumOfSeries)
			}
			square := w.vec()
			VMULPD(f, f, square)
			VFMADD213PD(f, square, sumOfSeries)
			VBROADCASTSD(logConstant(ln2), c)
			VFMADD213PD(sumOfSeries, c, exponent)
			VFMADD231PD(at(x, g*w.bytes), exponent, sum)
		}
		ADDQ(Imm(64), x)
		ADDQ(Imm(64), y)
	})
	for g, sum := range sums {
		VMOVUPD(sum, at(to, g*w.bytes))
	}
	end()
}

// sweep updates eight registers of columns.
func sweep(w *width) {
	function("sweep"+w.name, "func(v, b, h, inverse, active, step *float64, k int)")
	v, b, h, inverse, active, steps, k := param("v"), param("b"), param("h"), param("inverse"), param("active"), param("step"), param("k")
	const line = 512 // bytes between rows
	offset, row, left := start(), start(), copyOf(k)
	countDown("row", left, 1, func() {
		sums := w.zeros(8)
		other, entry, n := copyOf(v), copyOf(h), copyOf(k)
		countDown("other", n, 1, func() {
			times := w.vec()
			VBROADCASTSD(at(entry, 0), times)
			for i, sum := range sums {
				VFMADD231PD(at(other, i*w.bytes), times, sum)
			}
			ADDQ(Imm(8), entry)
			ADDQ(U32(line), other)
		})
		by, diagonal, zero := w.vec(), w.vec(), w.zeros(1)[0]
		VBROADCASTSD(behind(inverse, row, 0), by)
		VBROADCASTSD(behind(h, row, 0), diagonal)
		mine, linear := GP64(), GP64()
		LEAQ(behind(v, offset, 0), mine)
		LEAQ(behind(b, offset, 0), linear)
		for i, sum := range sums {
			place := i * w.bytes
			old, moved := w.vec(), w.vec()
			VMOVUPD(at(mine, place), old)
			VSUBPD(at(linear, place), sum, sum)
			VMOVAPD(old, moved)
			VFNMADD231PD(sum, by, moved)
			VMAXPD(zero, moved, moved)
			VSUBPD(old, moved, moved)
			w.and(at(active, place), moved, moved)
			VADDPD(moved, old, old)
			VMOVUPD(old, at(mine, place))
			VMULPD(moved, moved, moved)
			VMOVUPD(at(steps, place), old)
			VFMADD231PD(moved, diagonal, old)
			VMOVUPD(old, at(steps, place))
		}
		LEAQ(Mem{Base: h, Index: k, Scale: 8}, h)
		ADDQ(U32(line), offset)
		ADDQ(Imm(8), row)
	})
	end()
}

// bounded clamps sums.
func bounded(lo, hi reg.VecVirtual, sums []reg.VecVirtual) {
	for _, v := range sums {
		VMAXPS(v, lo, v)
		VMINPS(v, hi, v)
	}
}

func loadBounds(w *width) (lo, hi reg.VecVirtual) {
	bounds := param("bounds")
	lo, hi = w.vec(), w.vec()
	VBROADCASTSS(at(bounds, 0), lo)
	VBROADCASTSS(at(bounds, 4), hi)
	return lo, hi
}

// windows computes registers of numbers of some windows.
func windows(w *width) {
	function("windows"+w.name, "func(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, registers int)")
	which := param("registers")
	for g := 3; g > 0; g-- {
		CMPQ(which, Imm(uint64(g)))
		JEQ(LabelRef(fmt.Sprintf("windows%d", g)))
	}
	end()
	for g := 3; g > 0; g-- {
		Label(fmt.Sprintf("windows%d", g))
		bias := param("bias")
		sums := w.vecs(w.rows * g)
		for i, v := range sums {
			if i < g {
				VMOVUPS(at(bias, i*w.bytes), v)
			} else {
				VMOVAPS(sums[i%g], v)
			}
		}
		x, places, weights, taps := param("x"), param("at"), param("w"), param("taps")
		depth := scaled("depth", 2)
		countDown(fmt.Sprintf("tap%d", g), taps, 1, func() {
			runs := make([]reg.GPVirtual, w.rows)
			for i := range runs {
				runs[i] = GP64()
				MOVLQSX(at(places, 4*i), runs[i])
				LEAQ(Mem{Base: x, Index: runs[i], Scale: 4}, runs[i])
			}
			ADDQ(Imm(uint64(4*w.rows)), places)
			deep := start()
			upTo(fmt.Sprintf("deep%d", g), deep, depth, 4, func() {
				right := w.vecs(g)
				for j, v := range right {
					VMOVUPS(at(weights, j*w.bytes), v)
				}
				for i, run := range runs {
					left := w.vec()
					VBROADCASTSS(behind(run, deep, 0), left)
					for j, v := range right {
						VFMADD231PS(v, left, sums[i*g+j])
					}
				}
				ADDQ(Imm(uint64(g*w.bytes)), weights)
			})
		})
		lo, hi := loadBounds(w)
		bounded(lo, hi, sums)
		c, stride := param("c"), scaled("stride", 2)
		w.inRows(sums, g, c, stride, func(v reg.VecVirtual, place Mem) { VMOVUPS(v, place) })
		end()
	}
}

// depthwise computes many channels of each window, a positive multiple of 16.
func depthwise(w *width) {
	function("depthwise"+w.name, "func(c, x *float32, at *int32, windows, taps int, w, bias *float32, bounds *[2]float32, channels, many int)")
	c, x, places, left, bias := param("c"), param("x"), param("at"), param("windows"), param("bias")
	channels := scaled("channels", 2)
	lo, hi := loadBounds(w)
	countDown("window", left, 1, func() {
		from := start()
		some := func(label, enough string, n int) {
			to := GP64()
			Label(label)
			LEAQ(at(from, n*w.bytes), to)
			many := scaled("many", 2)
			CMPQ(to, many)
			JGT(LabelRef(enough))
			sums := w.vecs(n)
			for i, v := range sums {
				VMOVUPS(behind(bias, from, i*w.bytes), v)
			}
			tap, taps, weights := copyOf(places), param("taps"), param("w")
			ADDQ(from, weights)
			countDown(label+"Tap", taps, 1, func() {
				run := GP64()
				MOVLQSX(at(tap, 0), run)
				LEAQ(Mem{Base: x, Index: run, Scale: 4}, run)
				ADDQ(from, run)
				for i, sum := range sums {
					v := w.vec()
					VMOVUPS(at(run, i*w.bytes), v)
					VFMADD231PS(at(weights, i*w.bytes), v, sum)
				}
				ADDQ(Imm(4), tap)
				ADDQ(channels, weights)
			})
			bounded(lo, hi, sums)
			for i, v := range sums {
				VMOVUPS(v, behind(c, from, i*w.bytes))
			}
			MOVQ(to, from)
			JMP(LabelRef(label))
		}
		some("four", "one", 4)
		some("one", "next", 1)
		Label("next")
		ADDQ(channels, c)
		taps := scaled("taps", 2)
		ADDQ(taps, places)
	})
	end()
}

// descend updates the entries of a column, one after another.
func descend() {
	function("descendAVX2", "func(z *float64, y, x, u *float32, n, stride, k int, bounds *float64, least float32)")
	w := narrow
	z, y, x, u, n, stride, bounds := param("z"), param("y"), param("x"), param("u"), scaled("n", 2), scaled("stride", 2), param("bounds")
	leastAt, left := address("least"), address("k")
	step := w.zeros(1)[0]
	before := copyOf(u)
	countDown("entry", left, 1, func() {
		totals := w.zeros(2) // Σ x·b and Σ x·b² in double precision
		offset, until := start(), GP64()
		Label("segment")
		sums := w.zeros(2)
		LEAQ(at(offset, 4096), until)
		CMPQ(until, n)
		CMOVQGT(n, until)
		upTo("eight", offset, until, 32, func() {
			last, row, value, least := w.vec(), w.vec(), w.vec(), w.vec()
			VMOVUPS(behind(before, offset, 0), last)
			VMOVUPS(behind(u, offset, 0), row)
			VMOVUPS(behind(y, offset, 0), value)
			VFMADD231PS(last, step, value)
			VMOVUPS(value, behind(y, offset, 0))
			VBROADCASTSS(leastAt, least)
			VMAXPS(least, value, value)
			VDIVPS(value, row, value)
			VMULPS(behind(x, offset, 0), value, least)
			VADDPS(least, sums[0], sums[0])
			VFMADD231PS(value, least, sums[1])
		})
		for i, sum := range sums {
			part, half := w.vec(), XMM()
			VCVTPS2PD(sum.AsX(), part)
			VADDPD(part, totals[i], totals[i])
			VEXTRACTF128(Imm(1), sum, half)
			VCVTPS2PD(half, part)
			VADDPD(part, totals[i], totals[i])
		}
		CMPQ(offset, n)
		JLT(LabelRef("segment"))
		both, half, a, h := totals[0], XMM(), XMM(), XMM()
		VHADDPD(totals[1], both, both)
		VEXTRACTF128(Imm(1), both, half)
		VADDPD(half, both.AsX(), a)
		VUNPCKHPD(a, a, h)
		newton(z, bounds, a, h, step)
		ADDQ(Imm(8), z)
		MOVQ(u, before)
		ADDQ(stride, u)
	})
	end()
}

// newton changes the entry at z by (a − 1)/(h/a) and broadcasts the step, in single precision, to a register.
func newton(z, bounds reg.GPVirtual, a, h, step reg.VecVirtual) {
	const slope, most, floor, fall, one = 0, 8, 16, 24, 32
	next, old, limit := XMM(), XMM(), XMM()
	VSUBSD(at(bounds, one), a, next)
	VMAXSD(at(bounds, slope), a, a)
	VDIVSD(a, h, h)
	VDIVSD(h, next, next)
	VMOVSD(at(z, 0), old)
	VADDSD(old, next, next)
	VXORPS(step, step, step)
	VMOVSD(at(bounds, most), limit)
	VUCOMISD(next, limit)
	JCS(LabelRef("stays"))
	VMULSD(at(bounds, fall), old, limit)
	VMAXSD(limit, next, next)
	VMAXSD(at(bounds, floor), next, next)
	VMOVSD(next, at(z, 0))
	VSUBSD(old, next, next)
	VCVTSD2SS(next, next, next)
	VBROADCASTSS(next, step)
	Label("stays")
}

// gather takes stride and width in bytes.
func gather() {
	function("gatherAVX2", "func(u, y, z, rows *float32, at *int, stride, n, width int)")
	u, z, rows, places := param("u"), param("z"), param("rows"), param("at")
	width, stride, yAt := address("width"), address("stride"), address("y")
	countDown("eight", address("n"), 8, func() {
		picked := pickedRows(8, places, rows, width)
		column, offset := copyOf(u), start()
		sum := narrow.zeros(1)[0]
		upTo("columns", offset, width, 16, func() {
			r := narrow.vecs(4) // four numbers of each of eight rows
			for i, v := range r {
				VMOVUPS(behind(picked[i], offset, 0), v.AsX())
				VINSERTF128(Imm(1), behind(picked[i+4], offset, 0), v, v)
			}
			low, high, lower, higher := YMM(), YMM(), YMM(), YMM()
			VUNPCKLPS(r[1], r[0], low)
			VUNPCKHPS(r[1], r[0], high)
			VUNPCKLPS(r[3], r[2], lower)
			VUNPCKHPS(r[3], r[2], higher)
			VUNPCKLPD(lower, low, r[0])
			VUNPCKHPD(lower, low, r[1])
			VUNPCKLPD(higher, high, r[2])
			VUNPCKHPD(higher, high, r[3])
			for i, v := range r {
				VMOVUPS(v, at(column, 0))
				times := YMM()
				VBROADCASTSS(behind(z, offset, 4*i), times)
				VFMADD231PS(v, times, sum)
				ADDQ(stride, column)
			}
		})
		MOVQ(yAt, column)
		VMOVUPS(sum, at(column, 0))
		ADDQ(Imm(32), column)
		MOVQ(column, yAt)
		ADDQ(Imm(32), u)
	})
	end()
}
