package factor

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// TestWeightBlock compares the weights that a block moves with those of samples whose
// gradients are computed anew, one after another.
func TestWeightBlock(t *testing.T) {
	for _, k := range []int{1, 3, 8, 17} {
		count := 9 + k
		x, v, linear := random(count, 6), random(k, 30), random(count, k)
		gram, products := algebra.SelfGram(v), algebra.SelfGram(x)
		w := random(count, k)
		kw := mat.NewDense(count, k, nil)
		algebra.Gemm(kw, products, algebra.NoTrans, w, algebra.NoTrans)
		b, moved := descent.NewWeightBlock(k), mat.DenseCopyOf(w)
		b.SetGram(gram)
		for a := range count {
			copy(b.Kw.RawRowView(a), kw.RawRowView(a))
			for r := range k {
				linear.Set(a, r, 40*linear.At(a, r))
			}
		}
		if !b.Move(linear, moved, products, count) {
			t.Fatalf("k = %d: no sample moves", k)
		}
		gradient := mat.NewDense(count, k, nil)
		for a := range count {
			algebra.Gemm(kw, products, algebra.NoTrans, w, algebra.NoTrans)
			algebra.Gemm(gradient, kw, algebra.NoTrans, gram, algebra.NoTrans)
			gradient.Sub(gradient, linear)
			row := mat.NewVecDense(k, gradient.RawRowView(a))
			for sweep, first, step := 0, 0.0, math.Inf(1); sweep < descent.MostSweeps && step > descent.StillShare*first; sweep++ {
				step = 0
				for r := range k {
					curvature := products.At(a, a) * gram.At(r, r)
					to := max(0, w.At(a, r)-row.AtVec(r)/curvature)
					by := to - w.At(a, r)
					w.Set(a, r, to)
					row.AddScaledVec(row, products.At(a, a)*by, gram.ColView(r))
					step += curvature * by * by
				}
				if sweep == 0 {
					first = step
				}
			}
		}
		near(t, fmt.Sprintf("k = %d", k), moved, w, 1e-9)
	}
}

// TestFastConceptFollows compares W·K that follows the weights with the product, of samples
// whose inner products are padded and of a kernel whose are not.
func TestFastConceptFollows(t *testing.T) {
	for _, n := range []int{40, 77} {
		x := random(n, 50)
		k, err := view.InnerProducts(t.Context(), view.Dense{X: x})
		if err != nil {
			t.Fatal(err)
		}
		for _, kernel := range []Kernel{{}, {Matrix: mat.DenseCopyOf(k)}} {
			f, err := Parts{Basis: BasisConcept, Kernel: kernel}.start(context.Background(), x, Known{}, Options{Rank: 5, Solver: Fast{}})
			if err != nil {
				t.Fatal(err)
			}
			for range 8 {
				if err := f.step(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			m := f.model.(*conceptModel)
			if !m.haveKW {
				t.Fatal("W·K has not followed")
			}
			want := algebra.Like(m.w)
			algebra.Gemm(want, m.w, algebra.NoTrans, m.k, algebra.NoTrans)
			near(t, fmt.Sprintf("%d samples", n), mat.DenseCopyOf(m.kw), want, 1e-9)
		}
	}
}
