// Package simd holds the loops in which a factorisation spends its time: those
// over the values of sparse data, each of which picks a row of k numbers of a
// factor, and those over the ratios of the divergence.
//
// Where the processor has AVX2 and FMA they are in assembly, and their sums
// differ in the last bits from those elsewhere. Where it has AVX-512, tiles of products
// are larger, and rows that sparse data pick are read once for a ratio and what it is for, of the
// same bytes.
package simd

import "unsafe"

// Width returns how long rows of k numbers are to be, zeros at their ends: the least multiple of
// what a register holds, 4 numbers or 8. The zeros change no result.
func Width(k int) int { return (k + registerLength() - 1) / registerLength() * registerLength() }

// Dots writes to dst the inner products of a with the rows at[0], at[1], … of
// rows, which are as long as a, of a length that Width returns.
func Dots(dst, a, rows []float64, at []int) {
	dst = dst[:len(at)]
	for p := dots(dst, a, rows, at); p < len(at); p++ {
		dst[p] = dot(a, rows[at[p]*len(a):])
	}
}

func dot(x, y []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(x) >= 4 && len(y) >= 4 {
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	return (s0 + s1) + (s2 + s3)
}

// AddRows adds to dst the rows at[0], at[1], … of rows, which are as long as
// dst, of a length that Width returns, each times its weight.
func AddRows(dst, weights, rows []float64, at []int) {
	weights = weights[:len(at)]
	p := addRows(dst, weights, rows, at)
	for ; p+4 <= len(at); p += 4 {
		w0, w1, w2, w3 := weights[p], weights[p+1], weights[p+2], weights[p+3]
		r0 := rows[at[p]*len(dst):][:len(dst)]
		r1 := rows[at[p+1]*len(dst):][:len(dst)]
		r2 := rows[at[p+2]*len(dst):][:len(dst)]
		r3 := rows[at[p+3]*len(dst):][:len(dst)]
		for c := range dst {
			dst[c] += (w0*r0[c] + w1*r1[c]) + (w2*r2[c] + w3*r3[c])
		}
	}
	for ; p < len(at); p++ {
		w, row := weights[p], rows[at[p]*len(dst):][:len(dst)]
		for c := range dst {
			dst[c] += w * row[c]
		}
	}
}

// Ratios writes to y, for the rows at[0], at[1], … of rows, x/max(a·row, floor), and adds to dst
// these rows, each times its y: Dots, Divide and AddRows in one, which reads each row once where
// registers hold it.
func Ratios(dst, a, rows []float64, at []int, x, y []float64, floor float64) {
	x, y = x[:len(at)], y[:len(at)]
	p := ratios(dst, a, rows, at, x, y, floor)
	Dots(y[p:], a, rows, at[p:])
	Divide(y[p:], x[p:], floor)
	AddRows(dst, y[p:], rows, at[p:])
}

// Divide turns each y into x/max(y, floor).
func Divide(y, x []float64, floor float64) {
	x = x[:len(y)]
	for p := divide(y, x, floor); p < len(y); p++ {
		y[p] = x[p] / atLeast(y[p], floor)
	}
}

// Step multiplies z by x/max(y, least). What is not above 0 before, or is below floor then, is set to 0.
func Step(z, x, y []float64, least, floor float64) {
	x, y = x[:len(z)], y[:len(z)]
	for p := step(z, x, y, least, floor); p < len(z); p++ {
		to := z[p] * (x[p] / atLeast(y[p], least))
		if !(z[p] > 0) || to < floor {
			to = 0
		}
		z[p] = to
	}
}

// DivideSum is Divide for x ≥ 0, and returns Σ x·log y of the new y, where 0·log 0
// is 0.
func DivideSum(y, x []float64, floor float64) float64 {
	x = x[:len(y)]
	p, sum := divideSum(y, x, floor)
	for ; p < len(y); p++ {
		y[p] = x[p] / atLeast(y[p], floor)
		sum += LogTerm(y[p], x[p])
	}
	return sum
}

// LogSum returns Σ x·log y for x ≥ 0 and y > 0, where 0·log 0 is 0.
func LogSum(y, x []float64) float64 {
	x = x[:len(y)]
	p, sum := logSum(y, x)
	for ; p < len(y); p++ {
		sum += LogTerm(y[p], x[p])
	}
	return sum
}

// LogTerm returns x·log y as LogSum does of one number of each.
func LogTerm(y, x float64) float64 { return x * logarithm(y) }

// Prefetch has the processor bring the numbers into its cache, where it can be told to, for
// a loop that comes to them after others: rows of a part of a matrix do not follow each other
// in memory, and a processor that finds out at the first number of each what comes next
// waits at each.
func Prefetch[T float32 | float64](x []T) {
	if len(x) > 0 {
		prefetch(unsafe.Pointer(&x[0]), len(x)*int(unsafe.Sizeof(x[0])))
	}
}

// atLeast is max(x, least), but quicker.
func atLeast(x, least float64) float64 {
	if x < least {
		return least
	}
	return x
}
