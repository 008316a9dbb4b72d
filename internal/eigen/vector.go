package eigen

import "math"

// The loops over vectors round every product before it is added, so that no compiler fuses both.

// dot returns the inner product, summed in four lanes.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += float64(x[i] * y[i])
		b += float64(x[i+1] * y[i+1])
		c += float64(x[i+2] * y[i+2])
		d += float64(x[i+3] * y[i+3])
	}
	for ; i < len(x); i++ {
		a += float64(x[i] * y[i])
	}
	return (a + b) + (c + d)
}

// norm returns the Euclidean length of x.
func norm(x []float64) float64 {
	if length := math.Sqrt(dot(x, x)); length > 1e-140 && length < 1e140 {
		return length
	}
	largest := largestSize(x)
	if largest == 0 || math.IsInf(largest, 0) {
		return largest
	}
	sum, by := 0.0, powerOf2(largest)
	for _, v := range x {
		sum += float64(v / by * (v / by))
	}
	return by * math.Sqrt(sum)
}

// largestSize returns the largest absolute value.
func largestSize(x []float64) float64 {
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	return largest
}

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}

// add adds y to x.
func add(x, y []float64) {
	for i, v := range y[:len(x)] {
		x[i] += v
	}
}

// addScaled adds by·y to x.
func addScaled(x []float64, by float64, y []float64) {
	for i, v := range y[:len(x)] {
		x[i] += float64(by * v)
	}
}

// rotate replaces x and y by c·x + s·y and c·y − s·x.
func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for i, v := range x {
		w := y[i]
		x[i], y[i] = float64(c*v)+float64(s*w), float64(c*w)-float64(s*v)
	}
}
