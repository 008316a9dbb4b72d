package factor

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
)

// TestLasso: the conditions for a minimum hold: 2·b_jᵀ(x − B·s) is λ·sign(s_j) where
// s_j ≠ 0, and between −λ and λ elsewhere. The dictionaries have fewer atoms than
// features or more, copies of atoms, near copies and atoms of zeros.
func TestLasso(t *testing.T) {
	var used, unused int
	for seed := range uint64(200) {
		src := rand.New(rand.NewPCG(seed, 17))
		m, k := 1+src.IntN(20), 1+src.IntN(30)
		scale := math.Pow(10, 6*src.Float64()-3)
		b := mat.NewDense(m, k, nil)
		b.Apply(func(int, int, float64) float64 { return src.NormFloat64() }, b)
		for j := 1; j < k; j++ {
			col := b.ColView(j).(*mat.VecDense)
			switch src.IntN(6) {
			case 0:
				col.CopyVec(b.ColView(j - 1))
			case 1:
				col.AddScaledVec(b.ColView(j-1), 1e-3, col)
			case 2:
				if src.IntN(3) == 0 {
					col.Zero()
				}
			}
		}
		x := mat.NewDense(3, m, nil)
		x.Apply(func(int, int, float64) float64 { return scale * src.NormFloat64() }, x)
		lambda := scale * math.Pow(10, 4*src.Float64()-3)
		s, err := (&SparseCode{b, lambda}).Transform(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		var rest, slope mat.Dense
		rest.Mul(s, b.T())
		rest.Sub(x, &rest)
		slope.Mul(&rest, b)
		slope.Scale(2, &slope)
		for i := range 3 {
			size := 1e-10 * (lambda + mat.Norm(x.RowView(i), 2)*mat.Norm(b, 2))
			for j := range k {
				want := math.Copysign(lambda, s.At(i, j))
				switch got := slope.At(i, j); {
				case s.At(i, j) != 0 && math.Abs(got-want) > size:
					t.Errorf("seed %d: slope %v along an atom with the value %v, λ is %v", seed, got, s.At(i, j), lambda)
				case math.Abs(got) > lambda+size:
					t.Errorf("seed %d: slope %v along an atom that is not used, λ is %v", seed, got, lambda)
				}
				if s.At(i, j) != 0 {
					used++
				} else {
					unused++
				}
			}
		}
	}
	if used < 500 || unused < 500 {
		t.Errorf("%d values are 0 and %d are not; want many of both", unused, used)
	}
}

// TestLassoWithoutPenalty: λ = 0 is least squares.
func TestLassoWithoutPenalty(t *testing.T) {
	src := rand.New(rand.NewPCG(2, 19))
	b, x := mat.NewDense(9, 4, nil), mat.NewDense(2, 9, nil)
	for _, a := range []*mat.Dense{b, x} {
		a.Apply(func(int, int, float64) float64 { return src.NormFloat64() }, a)
	}
	var want mat.Dense
	if err := want.Solve(b, x.T()); err != nil {
		t.Fatal(err)
	}
	got, err := (&SparseCode{Dictionary: b}).Transform(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "values", got.T(), &want, 1e-12)
}

func TestSparseCodeBadInput(t *testing.T) {
	b := mat.NewDense(2, 1, []float64{1, 0})
	for want, c := range map[string]struct {
		s SparseCode
		x *mat.Dense
	}{
		"3 features, the atoms 2": {SparseCode{b, 1}, mat.NewDense(1, 3, []float64{1, 1, 1})},
		"lambda is -1":            {SparseCode{b, -1}, mat.NewDense(1, 2, []float64{1, 1})},
		"lambda is NaN":           {SparseCode{b, math.NaN()}, mat.NewDense(1, 2, []float64{1, 1})},
		"value +Inf":              {SparseCode{b, 1}, mat.NewDense(1, 2, []float64{1, math.Inf(1)})},
	} {
		if _, err := c.s.Transform(context.Background(), c.x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func ExampleSparseCode() {
	s := &SparseCode{
		Dictionary: mat.NewDense(3, 2, []float64{
			1, 0,
			0, 1,
			0, 0,
		}),
		Lambda: 1,
	}
	codes, err := s.Transform(context.Background(), mat.NewDense(1, 3, []float64{2, 0.4, 7}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(codes.RawRowView(0))
	// Output: [1.5 0]
}

// TestLassoCopies: atoms and codes that become 0 together, as they do where all
// samples are multiples of one.
func TestLassoCopies(t *testing.T) {
	for seed := range uint64(300) {
		src := rand.New(rand.NewPCG(seed, 47))
		n, m := 2+src.IntN(20), 1+src.IntN(10)
		x := mat.NewDense(n, m, nil)
		for j := range m {
			x.Set(0, j, 10*src.NormFloat64())
		}
		for i := 1; i < n; i++ {
			x.SetRow(i, x.RawRowView(0))
			algebra.ScaleRow(x, i, 1+src.Float64())
		}
		res, err := SparseCoding{Lambda: WeightNone}.Fit(context.Background(), x, Known{}, Options{Rank: n, Seed: seed, Iterations: 10})
		if err != nil {
			t.Fatal(err)
		}
		size := algebra.Inner(x, x)
		if last := res.Objective[10]; !(last < 1e-12*size) {
			t.Errorf("seed %d: one atom is enough, and %v of %v is left", seed, last, size)
		}
	}
}
