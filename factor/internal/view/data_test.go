package view

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestStanding checks that byColumn holds each column as a row padded with zeros, writes it back unchanged, and can be
// reused.
func TestStanding(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	var s byColumn
	for range 100 {
		k, n := 1+src.IntN(9), 1+src.IntN(9)
		a := mat.NewDense(k, n, nil)
		a.Apply(func(int, int, float64) float64 { return src.Float64() }, a)
		s.read(a)
		back := algebra.Like(a)
		s.write(back)
		near(t, "back", back, a, 0)
		for i := range n {
			row := s.row(i)
			for r, x := range row {
				if r < k && x != a.At(r, i) || r >= k && x != 0 {
					t.Fatalf("%d×%d: row %d is %v", k, n, i, row)
				}
			}
		}
		for i := range s.data {
			s.data[i] = math.NaN()
		}
	}
}

// TestDataProducts compares the products of dense and sparse data with plain loops, for shapes from 1×1, samples and
// features of zeros, and any rank.
func TestDataProducts(t *testing.T) {
	for seed := range uint64(300) {
		src := rand.New(rand.NewPCG(seed, 1))
		n, m, k := 1+src.IntN(40), 1+src.IntN(300), 1+src.IntN(45)
		density := math.Pow(src.Float64(), 2)
		random := func(r, c int, density float64) *mat.Dense {
			out := mat.NewDense(r, c, nil)
			out.Apply(func(int, int, float64) float64 {
				if src.Float64() < density {
					return src.ExpFloat64()
				}
				return 0
			}, out)
			return out
		}
		x, u, v := random(n, m, density), random(k, m, 0.9), random(k, n, 0.9)
		if src.IntN(4) == 0 { // a sample, a feature and a vector of zeros
			clear(x.RawRowView(src.IntN(n)))
			x.SetCol(src.IntN(m), make([]float64, n))
			clear(u.RawRowView(src.IntN(k)))
		}
		name := fmt.Sprintf("seed=%d n=%d m=%d k=%d ", seed, n, m, k)

		var y, ratio mat.Dense
		y.Mul(v.T(), u)
		ratio.Apply(func(i, j int, y float64) float64 { return x.At(i, j) / max(y, algebra.Floor) }, &y)
		var divergence, residual float64
		for i := range n {
			for j := range m {
				a, b := x.At(i, j), max(y.At(i, j), algebra.Floor)
				residual += (a - b) * (a - b)
				divergence += b - a
				if a > 0 {
					divergence += a * math.Log(a/b)
				}
			}
		}
		group, groups, scale := make([]int, n), 1+src.IntN(n), make([]float64, n)
		member := mat.NewDense(groups, n, nil)
		for i := range n {
			group[i], scale[i] = src.IntN(groups), src.Float64()
			member.Set(group[i], i, scale[i])
		}
		from := src.IntN(n)
		rows := 1 + src.IntN(n-from)

		size := 1 + mat.Max(&ratio)
		product := func(a, b mat.Matrix) *mat.Dense {
			var out mat.Dense
			out.Mul(a, b)
			return &out
		}
		for name, d := range map[string]Data{name + "dense": Dense{x}, name + "sparse": NewSparse(toSparse(x))} {
			for range 2 { // the second time over what the first has left
				ux, vx, vr, ur := algebra.Like(v), algebra.Like(u), algebra.Like(u), algebra.Like(v)
				d.TimesBasis(ux, u)
				near(t, name+" u·Xᵀ", ux, product(u, x.T()), 1e-10)
				d.TimesCoefficients(vx, v)
				near(t, name+" v·X", vx, product(v, x), 1e-10)
				sum := d.RatioBasis(vr, u, v, true)
				nearNumber(t, name+" the sum of logarithms alone", d.RatioBasis(nil, u, v, true), sum, 1e-12*(1+mat.Sum(x)))
				near(t, name+" v·R", vr, product(v, &ratio), 1e-10*size)
				d.RatioCoefficients(ur, u, v)
				near(t, name+" u·Rᵀ", ur, product(u, ratio.T()), 1e-10*size)
				nearNumber(t, name+" the sum of logarithms", sum-mat.Sum(x)+mat.Sum(&y), divergence, 1e-10*(1+mat.Sum(x)+mat.Sum(&y)))
				nearNumber(t, name+" residual", d.Residual(u, v), residual, 1e-10*(1+residual))
				nearNumber(t, name+" divergence", d.Divergence(u, v), divergence, 1e-10*(1+mat.Sum(x)+mat.Sum(&y)))
				part := mat.NewDense(rows, n, nil)
				d.TimesBasis(part, d.Rows(from, from+rows))
				near(t, name+" inner products", part, product(x.Slice(from, from+rows, 0, m), x.T()), 1e-10)
				condensed := mat.NewDense(groups, m, nil)
				d.Condense(groups, group, scale).Each(func(i, j int, x float64) { condensed.Set(i, j, condensed.At(i, j)+x) })
				near(t, name+" condensed", condensed, product(member, x), 1e-10)
			}
		}
	}
}

// TestRatioCores checks that the number of blocks of features for each core changes no bit.
func TestRatioCores(t *testing.T) {
	d := Dense{random(300, 1000)}
	u, v := random(20, 1000), random(20, 300)
	var want *mat.Dense
	var wantSum float64
	for _, cores := range []int{1, 2, 3, 4, 7} {
		restore := parallel.SetCores(cores)
		got := algebra.Like(u)
		sum := d.RatioBasis(got, u, v, true)
		restore()
		if want == nil {
			want, wantSum = got, sum
		}
		if sum != wantSum || !mat.Equal(got, want) {
			t.Errorf("%d cores: other numbers", cores)
		}
	}
}

// TestInnerProducts compares the inner products of dense data with a matrix product.
func TestInnerProducts(t *testing.T) {
	for _, n := range []int{1, 100, 128, 2*128 + 37} {
		x := random(n, 21)
		got, err := InnerProducts(t.Context(), Dense{x})
		if err != nil {
			t.Fatal(err)
		}
		want := algebra.Like(got)
		algebra.Gemm(want, x, algebra.NoTrans, x, algebra.Trans)
		near(t, "inner products", got, want, 1e-14)
		// The rounding of an entry by OpenBLAS depends on the processor.
		near(t, "transposed inner products", mat.DenseCopyOf(got.T()), got, 1e-14)
	}
}

func random(n, m int) *mat.Dense {
	src := rand.New(rand.NewPCG(1, 1))
	x := mat.NewDense(n, m, nil)
	x.Apply(func(int, int, float64) float64 { return src.Float64() }, x)
	return x
}

var near = testkit.Near

func nearNumber(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func toSparse(x *mat.Dense) *sparse.CSR {
	n, m := x.Dims()
	var entries []sparse.Entry
	for i := range n {
		for j, v := range x.RawRowView(i) {
			entries = append(entries, sparse.Entry{Row: i, Col: j, Value: v})
		}
	}
	return sparse.FromEntries(n, m, entries)
}
