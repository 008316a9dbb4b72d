package eigen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// spectrum returns a matrix with eigenvalues of a kind and random eigenvectors.
func spectrum(src *rand.Rand, n int, value func(i int) float64) *mat.SymDense {
	g := mat.NewDense(n, n, nil)
	g.Apply(func(_, _ int, _ float64) float64 { return src.NormFloat64() }, g)
	var qr mat.QR
	qr.Factorize(g)
	var q, scaled, a mat.Dense
	qr.QTo(&q)
	scaled.Apply(func(_, j int, x float64) float64 { return x * value(j) }, &q)
	a.Mul(&scaled, q.T())
	return symmetric(n, func(i, j int) float64 { return (a.At(i, j) + a.At(j, i)) / 2 })
}

func symmetric(n int, at func(i, j int) float64) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			a.SetSym(i, j, at(i, j))
		}
	}
	return a
}

// laplacian returns the Laplacian of a random graph with the given components and edges per sample.
func laplacian(src *rand.Rand, n, parts, edges int) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for range edges {
			j := i%parts + src.IntN(n/parts)*parts
			if j == i {
				continue
			}
			w := src.Float64()
			a.SetSym(i, j, a.At(i, j)-w)
			a.SetSym(i, i, a.At(i, i)+w)
			a.SetSym(j, j, a.At(j, j)+w)
		}
	}
	return a
}

// glued returns weakly coupled copies of Wilkinson's matrix of 21 rows. Their eigenvalues differ only by the
// couplings.
func glued(n int) *mat.SymDense {
	return symmetric(n, func(i, j int) float64 {
		joint := 1.0
		if j%21 == 0 {
			joint = 1e-13
		}
		return []float64{-math.Abs(float64(i%21 - 10)), joint, 0}[min(j-i, 2)]
	})
}

// matrices are kinds of n×n matrices whose eigenvalues are hard to separate or to find.
var matrices = []struct {
	name string
	of   func(src *rand.Rand, n int) *mat.SymDense
}{
	{"random", func(src *rand.Rand, n int) *mat.SymDense { return randomSymmetric(src, n, 1) }},
	{"random again", func(src *rand.Rand, n int) *mat.SymDense { return randomSymmetric(src, n, 1) }},
	{"even", func(src *rand.Rand, n int) *mat.SymDense {
		return spectrum(src, n, func(i int) float64 { return float64(i) / float64(n) })
	}},
	{"null space", func(src *rand.Rand, n int) *mat.SymDense {
		return spectrum(src, n, func(i int) float64 { return float64(max(i-n/3, 0)) })
	}},
	{"each five times", func(src *rand.Rand, n int) *mat.SymDense {
		return spectrum(src, n, func(i int) float64 { return float64(i / 5) })
	}},
	{"clusters", func(src *rand.Rand, n int) *mat.SymDense {
		return spectrum(src, n, func(i int) float64 { return float64(i/7) + 1e-14*float64(i) })
	}},
	{"many scales", func(src *rand.Rand, n int) *mat.SymDense {
		return spectrum(src, n, func(i int) float64 { return math.Exp(-float64(40*i) / float64(n)) })
	}},
	{"connected graph", func(src *rand.Rand, n int) *mat.SymDense { return laplacian(src, n, 1, 4) }},
	{"graph of 3 parts", func(src *rand.Rand, n int) *mat.SymDense { return laplacian(src, n, min(3, n), 3) }},
	{"graph of many parts", func(src *rand.Rand, n int) *mat.SymDense { return laplacian(src, n, max(1, n/4), 2) }},
	{"equal cliques", func(_ *rand.Rand, n int) *mat.SymDense {
		return symmetric(n, func(i, j int) float64 {
			switch {
			case i == j:
				return 7
			case i/8 == j/8:
				return -1
			}
			return 0
		})
	}},
	{"path", func(_ *rand.Rand, n int) *mat.SymDense {
		return symmetric(n, func(i, j int) float64 {
			return []float64{2, -1, 0}[min(j-i, 2)]
		})
	}},
	{"Wilkinson's", func(_ *rand.Rand, n int) *mat.SymDense { // its eigenvalues come in pairs
		return symmetric(n, func(i, j int) float64 {
			return []float64{-math.Abs(float64(i) - float64(n-1)/2), 1, 0}[min(j-i, 2)]
		})
	}},
	{"Wilkinson's, glued", func(_ *rand.Rand, n int) *mat.SymDense { return glued(n) }},
	{"zeros", func(_ *rand.Rand, n int) *mat.SymDense { return mat.NewSymDense(n, nil) }},
	{"unit", func(_ *rand.Rand, n int) *mat.SymDense {
		return symmetric(n, func(i, j int) float64 { return max(0, float64(1+i-j)) })
	}},
	{"ones", func(_ *rand.Rand, n int) *mat.SymDense {
		return symmetric(n, func(_, _ int) float64 { return 1 })
	}},
	{"one number", func(_ *rand.Rand, n int) *mat.SymDense {
		a := mat.NewSymDense(n, nil)
		a.SetSym(0, n-1, 1)
		return a
	}},
	{"diagonal of any size", func(src *rand.Rand, n int) *mat.SymDense {
		a := mat.NewSymDense(n, nil)
		for i := range n {
			a.SetSym(i, i, math.Pow(10, -float64(src.IntN(300))))
		}
		return a
	}},
}

// TestExtreme checks for matrices of any kind and scale that the eigenvalues equal the ones of Symmetric, and that the
// vectors are orthonormal eigenvectors.
func TestExtreme(t *testing.T) {
	const bound = 2e-13
	ctx := context.Background()
	for kind, matrix := range matrices {
		for i, n := range []int{1, 2, 3, panel, panel + 1, 3*panel + 5} {
			src := rand.New(rand.NewPCG(uint64(kind), uint64(i)))
			a := matrix.of(src, n)
			scale := math.Pow(10, 600*src.Float64()-300)
			if n == 1 || src.IntN(3) == 0 {
				scale = 1
			}
			a.ScaleSym(scale, a)
			all, _, err := eigenSymmetric(ctx, a, true)
			if err != nil {
				t.Fatal(err)
			}
			norm := max(math.Abs(all[0]), math.Abs(all[n-1]))
			what := fmt.Sprintf("%s, n=%d, scale %.0g", matrix.name, n, scale)
			for _, c := range []int{1, min(n, 2), (n + 3) / 4, n} {
				for _, sign := range []float64{1, -1} {
					want := slices.Clone(all)
					if sign < 0 {
						slices.Reverse(want)
					}
					values, v, err := extreme(ctx, a, c, -sign)
					if err != nil {
						t.Errorf("%s, c=%d, sign %v: %v", what, c, sign, err)
						continue
					}
					checkPairs(t, fmt.Sprintf("%s, c=%d, sign %v", what, c, sign), a, norm, values, want[:c], v, bound)
				}
			}
		}
	}
}

// checkPairs checks c eigenvalues of a, and orthonormal eigenvectors, to a bound times a's
// norm.
func checkPairs(t *testing.T, what string, a *mat.SymDense, norm float64, values, want []float64, v *mat.Dense, bound float64) {
	t.Helper()
	for i, x := range values {
		if !(math.Abs(x-want[i]) <= bound*norm) {
			t.Errorf("%s: value %d is %v, want %v", what, i, x, want[i])
			return
		}
	}
	n, c := v.Dims()
	unit := a // of norm 1
	if norm > 0 {
		unit = mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				unit.SetSym(i, j, a.At(i, j)/norm)
			}
		}
	}
	var av, gram mat.Dense
	av.Mul(unit, v)
	gram.Mul(v.T(), v)
	for r := range c {
		var sum float64
		for i := range n {
			d := av.At(i, r)
			if norm > 0 {
				d -= values[r] / norm * v.At(i, r)
			}
			sum += d * d
		}
		if !(math.Sqrt(sum) <= bound) {
			t.Errorf("%s: A·v of value %d differs from λ·v by %g of the norm", what, r, math.Sqrt(sum))
			return
		}
		for s := range c {
			want := 0.0
			if r == s {
				want = 1
			}
			if !(math.Abs(gram.At(r, s)-want) <= bound) {
				t.Errorf("%s: vectors %d and %d have the product %v", what, r, s, gram.At(r, s))
				return
			}
		}
	}
}

// TestExtremeRefused has matrices without eigenvalues, invalid numbers of eigenvalues, sizes that are too large, and
// stopped contexts.
func TestExtremeRefused(t *testing.T) {
	ctx := context.Background()
	stopped, stop := context.WithCancel(ctx)
	stop()
	for _, n := range []int{2, 64, 200} {
		a := mat.NewSymDense(n, nil)
		for _, c := range []int{-1, 0, n + 1} {
			if _, _, err := Smallest(ctx, a, c); err == nil {
				t.Errorf("n=%d: %d eigenvalues", n, c)
			}
		}
		if _, _, err := Largest(stopped, a, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("n=%d, stopped: %v", n, err)
		}
		if _, _, err := eigenSymmetric(stopped, a, false); !errors.Is(err, context.Canceled) {
			t.Errorf("n=%d, stopped: %v", n, err)
		}
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			a.SetSym(0, 1, x)
			if _, _, err := Smallest(ctx, a, 1); err == nil {
				t.Errorf("n=%d: %v has eigenvalues", n, x)
			}
			if _, _, err := eigenSymmetric(ctx, a, false); err == nil {
				t.Errorf("n=%d: %v has a least eigenvalue", n, x)
			}
		}
		for i := range n {
			for j := i; j < n; j++ {
				a.SetSym(i, j, -math.MaxFloat64)
			}
		}
		if _, _, err := Smallest(ctx, a, 1); err == nil {
			t.Errorf("n=%d: an eigenvalue beyond the numbers", n)
		}
		if _, _, err := eigenSymmetric(ctx, a, false); err == nil {
			t.Errorf("n=%d: a least eigenvalue beyond the numbers", n)
		}
	}
}

// ending is a context that ends after a number of checks.
type ending struct {
	context.Context
	asked int
}

func (e *ending) Err() error {
	if e.asked--; e.asked < 0 {
		return context.Canceled
	}
	return nil
}

// TestExtremeStops checks that the computation stops at every step when its context ends.
func TestExtremeStops(t *testing.T) {
	const n = 200
	a := symmetric(n, func(i, j int) float64 { return float64(i) * float64(j) })
	steps := func(find func(ctx context.Context) error) int {
		const most = 1 << 20
		e := &ending{context.Background(), most}
		if err := find(e); err != nil {
			t.Fatal(err)
		}
		return most - e.asked
	}
	find := func(ctx context.Context) error { _, _, err := Smallest(ctx, a, 2); return err }
	all := steps(find)
	if all < n {
		t.Errorf("the context is looked at %d times", all)
	}
	for _, asked := range []int{0, 1, all / 2, all - 1} {
		if err := find(&ending{context.Background(), asked}); !errors.Is(err, context.Canceled) {
			t.Errorf("at step %d of %d: %v", asked, all, err)
		}
	}
}

// TestCores checks that the bytes are equal on any number of cores.
func TestCores(t *testing.T) {
	ctx := context.Background()
	n := 601
	a := laplacian(rand.New(rand.NewPCG(1, 8)), n, 1, 3)
	var want []float64
	for _, cores := range []int{1, 2, 3, 7} {
		restore := parallel.SetCores(cores)
		values, v, err := Smallest(ctx, a, 5)
		if err != nil {
			t.Fatal(err)
		}
		all, _, err := eigenSymmetric(ctx, a, false)
		restore()
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Concat(values, v.RawMatrix().Data, all[:1])
		if want == nil {
			want = got
			norm := mat.Norm(a, 1)
			checkPairs(t, "Laplacian", a, norm, values, values, v, 1e-13)
			if math.Abs(values[0]) > 1e-13*norm || math.Abs(all[0]) > 1e-13*norm {
				t.Errorf("the smallest eigenvalue of a Laplacian is %v, and by itself %v", values[0], all[0])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("other bytes on %d cores", cores)
		}
	}
}
