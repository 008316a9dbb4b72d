package simd

// Lanes32 is what the lengths of rows of Gather and Descend are to be multiples of.
const Lanes32 = 8

// Descend moves the entries of z one after another nearly to where Σ z − Σ x·log y is least
// in each, but not below floor nor a tenth of what they were. y = Σ z_r·u_r follows; the
// rows u_r are stride apart and as long as y and x, a multiple of Lanes32. With a = Σ x·u_r/y
// and h = Σ x·u_r²/y² a step is (a − 1)·a/h, what Newton's method makes of 1/a(z) = 1. An
// entry whose step is no number, or leads beyond 1e6, stays. Quotients are those of y ≥
// 1e-30; the values of a segment are added up in single precision, and what the segments
// come to in double. y is left without the last entry's step.
func Descend(z []float64, y, x, u []float32, stride int, floor float64) {
	x = x[:len(y)]
	if len(z) == 0 || len(y) == 0 {
		return
	}
	_ = u[(len(z)-1)*stride+len(y)-1]
	if !descend(z, y, x, u, stride, floor) {
		descendPlain(z, y, x, u, stride, floor)
	}
}

const (
	least32    = 1e-30
	mostEntry  = 1e6
	leastSlope = 1e-300
	mostFall   = 0.1  // share of an entry that a step leaves, so that y keeps its digits
	segment    = 1024 // values
)

func descendPlain(z []float64, y, x, u []float32, stride int, floor float64) {
	var step float32
	before := u[:len(y)]
	for r, old := range z {
		row := u[r*stride:][:len(y)]
		var as, hs [4]float64
		for from := 0; from < len(y); from += segment {
			to := min(from+segment, len(y))
			coordinate(&as, &hs, y[from:to], x[from:to], before[from:to], row[from:to], step)
		}
		a, h := (as[0]+as[1])+(as[2]+as[3]), (hs[0]+hs[1])+(hs[2]+hs[3])
		step, before = 0, row
		next := old + (a-1)/(h/max(a, leastSlope))
		if next <= mostEntry {
			z[r] = max(next, mostFall*old, floor)
			step = float32(z[r] - old)
		}
	}
}

// coordinate adds step·before to y, and Σ x·b and Σ x·b² of b = u/y to as and hs, from eight lanes.
func coordinate(as, hs *[4]float64, y, x, before, u []float32, step float32) {
	var a, h [Lanes32]float32
	for len(y) >= Lanes32 && len(x) >= Lanes32 && len(before) >= Lanes32 && len(u) >= Lanes32 {
		for l := range Lanes32 {
			y[l] = fma32(step, before[l], y[l])
			by := y[l]
			if !(by > least32) {
				by = least32
			}
			b := u[l] / by
			xb := x[l] * b
			a[l] += xb
			h[l] = fma32(b, xb, h[l])
		}
		y, x, before, u = y[Lanes32:], x[Lanes32:], before[Lanes32:], u[Lanes32:]
	}
	for l := range Lanes32 {
		as[l%4] += float64(a[l])
		hs[l%4] += float64(h[l])
	}
}

// Gather lays out the rows at[0], at[1], … of rows, which are as long as z, as columns of
// u, whose rows are stride apart, and writes their inner products with z to y. There are a
// multiple of Lanes32 of them, and z is of a multiple of Lanes.
func Gather(u []float32, stride int, y, z, rows []float32, at []int) {
	y = y[:len(at)]
	if len(at) == 0 || len(z) == 0 {
		clear(y)
		return
	}
	_ = u[(len(z)-1)*stride+len(at)-1]
	for _, i := range at {
		_ = rows[i*len(z):][:len(z)]
	}
	if gather(u, stride, y, z, rows, at) {
		return
	}
	for p, i := range at {
		var sum float32
		for r, v := range rows[i*len(z):][:len(z)] {
			u[r*stride+p] = v
			sum = fma32(z[r], v, sum)
		}
		y[p] = sum
	}
}
