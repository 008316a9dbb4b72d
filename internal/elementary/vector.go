package elementary

import (
	"math"
	"slices"
)

// Dot returns the inner product of x and y, summed in four lanes. Sums of gonum use another order on each kind of
// processor.
func Dot[T float32 | float64](x, y []T) T {
	y = y[:len(x)]
	var a, b, c, d T
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += T(x[i] * y[i])
		b += T(x[i+1] * y[i+1])
		c += T(x[i+2] * y[i+2])
		d += T(x[i+3] * y[i+3])
	}
	for ; i < len(x); i++ {
		a += T(x[i] * y[i])
	}
	return (a + b) + (c + d)
}

// Sum returns the sum of x.
func Sum(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

// Norm1 returns the sum of the absolute values.
func Norm1(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Abs(v)
	}
	return sum
}

// Norm returns the Euclidean length of x without intermediate overflow. It equals gonum's floats.Norm on amd64.
func Norm(x []float64) float64 {
	scale, squares := 0.0, 1.0
	for _, v := range x {
		switch size := math.Abs(v); {
		case size != size:
			return size
		case size == 0:
		case scale < size:
			s := scale / size
			squares = 1 + float64(squares*s*s)
			scale = size
		default:
			s := size / scale
			squares += float64(s * s)
		}
	}
	if math.IsInf(scale, 1) {
		return scale
	}
	return float64(scale * math.Sqrt(squares))
}

// Largest returns the largest absolute value, or NaN if x contains NaN.
func Largest(x []float64) float64 {
	var largest uint64 // bits without a sign are in the order of the values, NaN last
	for _, v := range x {
		largest = max(largest, math.Float64bits(v)&^(1<<63))
	}
	return math.Float64frombits(largest)
}

// Order returns the indices 0 to n−1 in the order of compare; equal ones keep their order.
func Order(n int, compare func(i, j int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, compare)
	return order
}

// LogSumExp returns log Σ exp(x).
func LogSumExp(x []float64) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, v)
	}
	if math.IsInf(top, 0) {
		return top
	}
	sum := 0.0
	for _, v := range x {
		sum += Exp(v - top)
	}
	return Log(sum) + top
}

// MeanStdDev returns the mean and the standard deviation of a sample, which is NaN for fewer than two values.
func MeanStdDev(x []float64) (mean, deviation float64) {
	n := float64(len(x))
	mean = Sum(x) / n
	squares, rest := 0.0, 0.0
	for _, v := range x {
		squares += float64((v - mean) * (v - mean))
		rest += v - mean
	}
	return mean, math.Sqrt((squares - float64(rest*rest)/n) / (n - 1))
}
