//go:build !native

package blas

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// TestRatios: the bytes are those of whole tiles that are multiplied, divided and multiplied again,
// of any shape, with zeros, and of parts of larger matrices.
func TestRatios(t *testing.T) {
	t.Run("double", func(t *testing.T) { testRatios(t, 24, simd.DivideSum) })
	t.Run("single", func(t *testing.T) { testRatios(t, 48, simd.DivideSum32) })
}

func testRatios[T Number](t *testing.T, tile int, divideSum func(y, x []T, floor T) float64) {
	if !simd.HasRatioRows() {
		t.Skip("this processor is served by other means")
	}
	const floor = 1e-3
	served := 0
	for seed := range uint64(400) {
		src := rand.New(rand.NewPCG(seed, 3))
		n, m, k := 1+src.IntN(300), 1+src.IntN(600), 1+src.IntN(60)
		if seed%50 == 0 {
			k = 100 + src.IntN(40)
		}
		matrix := func(rows, cols int) Of[T] {
			a := Of[T]{Rows: rows, Cols: cols, Stride: cols + src.IntN(9)}
			a.Data = make([]T, rows*a.Stride)
			for i := range a.Data {
				if src.IntN(4) > 0 {
					a.Data[i] = T(src.Float64())
				}
			}
			return a
		}
		x, u, v := matrix(n, m), matrix(k, m), matrix(k, n)
		samples, features := parallel.Even(n, 8, 128), parallel.Even(m, tile, 240)
		basis, coefficients := matrix(k, m), matrix(k, n)
		wantBasis, wantCoefficients := basis, coefficients
		wantBasis.Data, wantCoefficients.Data = slices.Clone(basis.Data), slices.Clone(coefficients.Data)
		logs, wantLogs := make([]float64, features.Parts()), make([]float64, features.Parts())

		r := NewRatios(u, samples, features, floor, false)
		if r == nil {
			continue
		}
		served++
		for i := range samples.Parts() {
			from, to := samples.At(i)
			r.AddToBasis(i == 0, part(v, 0, k, from, to), part(x, from, to, 0, m), basis, 0, 1, logs)
			if end := features.Parts(); end > 1 {
				r.AddToBasis(i == 0, part(v, 0, k, from, to), part(x, from, to, 0, m), basis, 1, end, logs[1:])
			}
		}
		without := matrix(k, m)
		for i := range samples.Parts() {
			from, to := samples.At(i)
			r.AddToBasis(i == 0, part(v, 0, k, from, to), part(x, from, to, 0, m), without, 0, features.Parts(), nil)
		}
		r.Put()
		r = NewRatios(u, samples, features, floor, true)
		for i := range samples.Parts() {
			from, to := samples.At(i)
			r.Coefficients(part(v, 0, k, from, to), part(x, from, to, 0, m), part(coefficients, 0, k, from, to))
		}
		r.Put()

		for f := range features.Parts() {
			lo, hi := features.At(f)
			for i := range samples.Parts() {
				from, to := samples.At(i)
				y := Of[T]{Rows: to - from, Cols: hi - lo, Stride: hi - lo, Data: make([]T, (to-from)*(hi-lo))}
				vPart, uPart := part(v, 0, k, from, to), part(u, 0, k, lo, hi)
				Multiply(Trans, NoTrans, 1, vPart, uPart, 0, y)
				var sum float64
				for s := range y.Rows {
					sum += divideSum(y.Data[s*y.Stride:][:y.Cols], x.Data[(from+s)*x.Stride+lo:][:y.Cols], floor)
				}
				wantLogs[f] += sum
				Multiply(NoTrans, NoTrans, 1, vPart, y, betaOf[T](i), part(wantBasis, 0, k, lo, hi))
				Multiply(NoTrans, Trans, 1, uPart, y, betaOf[T](f), part(wantCoefficients, 0, k, from, to))
			}
		}
		for what, same := range map[string]bool{
			"basis": slices.Equal(basis.Data, wantBasis.Data), "coefficients": slices.Equal(coefficients.Data, wantCoefficients.Data), "logarithms": slices.Equal(logs, wantLogs),
		} {
			if !same {
				t.Fatalf("seed %d, %d×%d at rank %d: the %s differ", seed, n, m, k, what)
			}
		}
		for i := range k {
			if !slices.Equal(without.Data[i*without.Stride:][:m], basis.Data[i*basis.Stride:][:m]) {
				t.Fatalf("seed %d, %d×%d at rank %d: the basis differs without logarithms", seed, n, m, k)
			}
		}
	}
	if served < 300 {
		t.Fatalf("only %d problems were served", served)
	}
}

// betaOf says to write the first part and to add the others.
func betaOf[T Number](i int) T { return T(min(i, 1)) }

func part[T Number](a Of[T], top, bottom, left, right int) Of[T] {
	a.Data = a.Data[top*a.Stride+left:]
	a.Rows, a.Cols = bottom-top, right-left
	return a
}
