package project

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// falling returns an n×m matrix with slowly decreasing variances and a mean that is not 0.
func falling(n, m int) *mat.Dense {
	random := rng.New(1, "falling")
	mix, x := mat.NewDense(m, m, nil), mat.NewDense(n, m, nil)
	for _, of := range []*mat.Dense{mix, x} {
		for i := range of.RawMatrix().Data {
			of.RawMatrix().Data[i] = random.NormFloat64()
		}
	}
	for i := range n {
		for j := range m {
			x.Set(i, j, x.At(i, j)/float64(1+j))
		}
	}
	var out mat.Dense
	out.Mul(x, mix)
	for i := range n {
		floats.AddConst(5, out.RawRowView(i))
	}
	return &out
}

func rows(t *testing.T, x *mat.Dense, unit bool, d int) *Points {
	t.Helper()
	p, err := Rows(t.Context(), x, unit, d)
	if err != nil || p.D > d || len(p.Data) != p.N*p.D {
		t.Fatalf("%d×%d of %d numbers: %v", p.N, p.D, len(p.Data), err)
	}
	for _, v := range p.Data {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			t.Fatalf("a coordinate %v", v)
		}
	}
	return p
}

// TestPrincipal compares the coordinates with a decomposition of the centred rows, except for the scale.
func TestPrincipal(t *testing.T) {
	const n, m, d = 300, 40, 6
	x := falling(n, m)
	got := rows(t, x, false, d)
	centred := mat.DenseCopyOf(x)
	for j := range m {
		column := mat.Col(nil, j, x)
		floats.AddConst(-floats.Sum(column)/n, column)
		centred.SetCol(j, column)
	}
	var svd mat.SVD
	svd.Factorize(centred, mat.SVDThin)
	var u mat.Dense
	svd.UTo(&u)
	scale := math.Max(mat.Max(x), -mat.Min(x))
	for j := range d {
		sign := math.Copysign(1, u.At(0, j)*float64(got.At(0)[j]))
		for i := range n {
			want := sign * u.At(i, j) * svd.Values(nil)[j] / scale
			if math.Abs(float64(got.At(i)[j])-want) > 0.03*svd.Values(nil)[j]/scale/math.Sqrt(n) {
				t.Fatalf("coordinate %d of row %d is %v, want %v", j, i, got.At(i)[j], want)
			}
		}
	}
}

// TestCodes checks that nine of the ten nearest rows by codes are among the twenty nearest by all features, with and
// without unit rows.
func TestCodes(t *testing.T) {
	const n, m, k = 600, 200, 10
	x := falling(n, m)
	for _, unit := range []bool{false, true} {
		p := rows(t, x, unit, 48)
		codes, d := p.Codes(32)
		if d != 32 || len(codes) != n*d {
			t.Fatalf("%d codes of %d", len(codes), d)
		}
		y := mat.DenseCopyOf(x)
		for i := range n {
			if unit {
				floats.Scale(1/floats.Norm(y.RawRowView(i), 2), y.RawRowView(i))
			}
		}
		nearest := func(i, k int, distance func(j int) float64) []int {
			var all []int
			for j := range n {
				if j != i {
					all = append(all, j)
				}
			}
			slices.SortFunc(all, func(a, b int) int { return cmp.Compare(distance(a), distance(b)) })
			return all[:k]
		}
		hits := 0
		for i := 0; i < n; i += 10 {
			want := nearest(i, 2*k, func(j int) float64 { return floats.Distance(y.RawRowView(i), y.RawRowView(j), 2) })
			for _, j := range nearest(i, k, func(j int) float64 {
				sum := 0.0
				for c := range d {
					v := float64(codes[i*d+c]) - float64(codes[j*d+c])
					sum += v * v
				}
				return sum
			}) {
				if slices.Contains(want, j) {
					hits++
				}
			}
		}
		if share := float64(hits) / (n / 10 * k); share < 0.9 {
			t.Errorf("unit %v: %.2f of the nearest by codes are near", unit, share)
		}
	}
}

// TestOddRows has rows of any scale, equal rows, zeros, and no rows.
func TestOddRows(t *testing.T) {
	random := rng.New(3, "odd")
	for name, test := range map[string]struct {
		n, m, d int
		f       func(i, j int) float64
	}{
		"one": {1, 4, 0, func(i, j int) float64 { return 1 }}, "equal": {9, 4, 0, func(i, j int) float64 { return float64(j) }},
		"zeros": {9, 4, 0, func(i, j int) float64 { return 0 }}, "two": {2, 3, 1, func(i, j int) float64 { return float64(i * j) }},
		"large":          {30, 4, 4, func(i, j int) float64 { return 1e300 * random.NormFloat64() }},
		"small":          {30, 4, -1, func(i, j int) float64 { return 1e-300 * random.NormFloat64() }},
		"mixed":          {30, 4, -1, func(i, j int) float64 { return math.Pow(10, float64(20*(i-15))) * random.NormFloat64() }},
		"some zero rows": {30, 4, 4, func(i, j int) float64 { return float64(i%2) * random.NormFloat64() }},
	} {
		x := mat.NewDense(test.n, test.m, nil)
		x.Apply(func(i, j int, _ float64) float64 { return test.f(i, j) }, x)
		for _, unit := range []bool{false, true} {
			p := rows(t, x, unit, 5)
			if test.d >= 0 && !(unit && name == "two") && p.D != test.d {
				t.Errorf("%s, unit %v: %d coordinates, want %d", name, unit, p.D, test.d)
			}
			p.Codes(3)
		}
	}
	if p := rows(t, &mat.Dense{}, true, 5); p.N != 0 {
		t.Errorf("no rows became %d", p.N)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Rows(ctx, falling(20, 5), true, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want the context's", err)
	}
}

// TestSameRows: the bytes do not depend on the number of cores.
func TestSameRows(t *testing.T) {
	x := falling(700, 90)
	want := rows(t, x, true, 20)
	defer parallel.SetCores(1)()
	if !slices.Equal(rows(t, x, true, 20).Data, want.Data) {
		t.Error("on one core the coordinates differ")
	}
}
