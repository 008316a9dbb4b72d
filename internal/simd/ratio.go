package simd

// Divide turns each y into x/max(y, floor).
func Divide(y, x []float64, floor float64) {
	x = x[:len(y)]
	for p := divide(y, x, floor); p < len(y); p++ {
		y[p] = x[p] / atLeast(y[p], floor)
	}
}

// Step multiplies z by x/max(y, least). A product that was not above 0 before, or is below floor, is set to 0.
func Step(z, x, y []float64, least, floor float64) {
	x, y = x[:len(z)], y[:len(z)]
	for p, old := range z {
		z[p] = old * (x[p] / atLeast(y[p], least))
		if !(old > 0) || z[p] < floor {
			z[p] = 0
		}
	}
}

// DivideSum is Divide for x ≥ 0, and returns [LogSum] of the new y.
func DivideSum(y, x []float64, floor float64) float64 {
	Divide(y, x, floor)
	return LogSum(y, x)
}

// atLeast is max(x, least), but quicker.
func atLeast(x, least float64) float64 {
	if x < least {
		return least
	}
	return x
}

// Ratios is Dots, Divide and AddRows: y becomes x/max(a·row, floor) of the rows at[0], …, and dst grows by y·row.
func Ratios(dst, a, rows []float64, at []int, x, y []float64, floor float64) {
	Dots(y[:len(at)], a, rows, at)
	Divide(y[:len(at)], x, floor)
	AddRows(dst, y, rows, at)
}
