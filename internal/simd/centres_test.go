package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCentres(t *testing.T) { checkCentres(t) }

// checkCentres compares the loops over samples with plain ones, of any number of them.
func checkCentres(t *testing.T) {
	t.Helper()
	src := rand.New(rand.NewPCG(6, 1))
	draw := func(n int) []float64 { return numbers(n, func() float64 { return float64(src.IntN(9)) / 8 }) }
	for trial := range 2000 {
		n, k := src.IntN(40), 1+src.IntN(12)
		stride := n + src.IntN(3)
		x, scales, offsets := draw(k*stride), draw(k), draw(k)
		at, least, second := make([]int, n+1), draw(n+1), draw(n+1)
		at[n], least[n], second[n] = 7, 7, 7
		LeastRows(at[:n], least[:n], second[:n], x, stride, scales, offsets)
		for i := range n {
			column := make([]float64, k)
			for j := range column {
				column[j] = offsets[j] - scales[j]*x[j*stride+i]
			}
			place, a, b := LeastTwo(column)
			if at[i] != place || least[i] != a || second[i] != b {
				t.Fatalf("trial %d, sample %d of %d: the least two of %v are %v at %d and %v, want %v at %d and %v", trial, i, n, column, least[i], at[i], second[i], a, place, b)
			}
		}
		if at[n] != 7 || least[n] != 7 || second[n] != 7 {
			t.Fatalf("trial %d: what lies behind %d samples has changed", trial, n)
		}

		costs, before, first, by := draw(n), draw(n), draw(n), draw(n)
		if trial%2 == 0 && n > 0 {
			before[src.IntN(n)] = math.Inf(1)
		}
		offset, limit := src.Float64(), -1+2*src.Float64()
		want, stop := slices.Clone(costs), n
		for i, v := range costs {
			cost := first[i] + by[i]*(offset-v)
			if cost <= limit && before[i] > 0 {
				stop = i
				break
			}
			want[i] = min(cost, before[i])
		}
		if got := LeastCosts(costs, before, first, by, offset, limit); got != stop || !slices.Equal(costs, want) {
			t.Fatalf("trial %d: the costs of %d samples are %v to sample %d, want %v to %d", trial, n, costs, got, want, stop)
		}

		values := numbers(src.IntN(80), src.NormFloat64)
		var lanes [16]float64
		for i, v := range values {
			if i >= len(values)&^15 {
				i = 0
			}
			lanes[i%16] += v
		}
		a, b := [8]float64{}, [4]float64{}
		for i := range a {
			a[i] = lanes[i] + lanes[i+8]
		}
		for i := range b {
			b[i] = a[i] + a[i+4]
		}
		if got, want := Sum(values), (b[0]+b[2])+(b[1]+b[3]); got != want {
			t.Fatalf("trial %d: the sum of %d numbers is %v, want %v", trial, len(values), got, want)
		}
	}
}
