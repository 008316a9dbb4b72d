package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestInnerProducts: each is of sixteen sums with one rounding each, in pairs, whatever the registers hold, of
// rows of any length and of as many as there are.
func TestInnerProducts(t *testing.T) {
	if !HasTile() {
		t.Skip("this processor has no AVX2")
	}
	defer func(w bool) { wide = w }(wide)
	src := rand.New(rand.NewPCG(1, 4))
	for _, w := range []bool{wide, false} {
		wide = w
		for depth := 1; depth <= 70; depth++ {
			rowsA, rowsB := 1+src.IntN(InnerRows), 1+src.IntN(InnerRows)
			lda, ldb := depth+src.IntN(3), depth+src.IntN(3)
			draw := func() float32 { return float32(src.NormFloat64()) }
			a, b := numbers((rowsA-1)*lda+depth, draw), numbers((rowsB-1)*ldb+depth, draw)
			var sums [InnerRows * InnerRows]float32
			InnerProducts(&sums, a, rowsA, lda, b, rowsB, ldb, depth, nil)
			for i := range rowsA {
				for j := range rowsB {
					if got, want := sums[i*InnerRows+j], innerProduct(a[i*lda:][:depth], b[j*ldb:]); got != want {
						t.Fatalf("wide %v, depth %d: %d, %d is %v, want %v", wide, depth, i, j, got, want)
					}
				}
			}
		}
	}
}

// innerProduct is what InnerProducts makes of two rows.
func innerProduct(a, b []float32) float32 {
	var s [16]float32
	for d, x := range a {
		s[d%16] = float32(math.FMA(float64(x), float64(b[d]), float64(s[d%16])))
	}
	var quarters [4]float32
	for q := range quarters {
		of := s[4*q:][:4]
		quarters[q] = (of[0] + of[2]) + (of[1] + of[3])
	}
	return (quarters[0] + quarters[1]) + (quarters[2] + quarters[3])
}
