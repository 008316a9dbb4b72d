package factor

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// faces, texts and scenes are of the sizes of a set of faces, of texts, and of
// scenes in histograms of visual words.
func faces() *mat.Dense { return random(400, 1024) }

// random returns values from 0 to 1, n×m.
func random(n, m int) *mat.Dense {
	src := rand.New(rand.NewPCG(1, 1))
	x := mat.NewDense(n, m, nil)
	x.Apply(func(int, int, float64) float64 { return src.Float64() }, x)
	return x
}

func texts() *CSR {
	src := rand.New(rand.NewPCG(1, 2))
	var entries []sparse.Entry
	for i := range 1200 {
		for range 150 {
			entries = append(entries, sparse.Entry{Row: i, Col: int(26000 * src.Float64() * src.Float64()), Value: 1 + float64(src.IntN(3))})
		}
	}
	return sparse.FromEntries(1200, 26000, entries)
}

func scenes() *CSR {
	src := rand.New(rand.NewPCG(1, 3))
	var entries []sparse.Entry
	for i := range 1300 {
		for j := range 3200 {
			if src.Float64() < 0.15 {
				entries = append(entries, sparse.Entry{Row: i, Col: j, Value: src.ExpFloat64()})
			}
		}
	}
	return sparse.FromEntries(1300, 3200, entries)
}

// classes returns the labels 0, 1, …, c−1, 0, 1, … of n samples, the first known
// of them known.
func classes(n, c, known int) Known {
	labels := make([]int, n)
	for i := range labels {
		if labels[i] = i % c; i >= known {
			labels[i] = -1
		}
	}
	return Known{Labels: labels}
}

// BenchmarkIteration times iterations.
func BenchmarkIteration(b *testing.B) {
	faces, texts, scenes := faces(), texts(), scenes()
	partly, fully := classes(400, 40, 120), classes(1300, 13, 1300)
	whole := mat.DenseCopyOf(scenes)
	for _, c := range []struct {
		name   string
		x      mat.Matrix
		known  Known
		method Method
		ranks  []int
	}{
		{"faces/nmf", faces, Known{}, NMF{}, []int{40}},
		{"faces/nmf-kl", faces, Known{}, NMFKL{}, []int{40}},
		{"faces/cnmf", faces, partly, CNMF{}, []int{40}},
		{"faces/cf", faces, Known{}, CF{}, []int{40}},
		{"faces/gnmf", faces, Known{}, GNMF{}, []int{40}},
		{"texts/nmf", texts, Known{}, NMF{}, []int{20}},
		{"texts/nmf-kl", texts, Known{}, NMFKL{}, []int{20}},
		{"scenes/nmf", scenes, Known{}, NMF{}, []int{18}},
		{"scenes/nmf-kl", scenes, Known{}, NMFKL{}, []int{18}},
		{"scenes/l2-snmf", scenes, fully, L2SNMF{}, []int{18}},
		{"scenes/d-snmf", scenes, fully, DSNMF{}, []int{5, 18, 40}},
		{"scenes-dense/nmf", whole, Known{}, NMF{}, []int{18}},
		{"scenes-dense/d-snmf", whole, fully, DSNMF{}, []int{18}},
	} {
		for _, k := range c.ranks {
			b.Run(fmt.Sprintf("%s/%d", c.name, k), func(b *testing.B) {
				_, err := c.method.Fit(context.Background(), c.x, c.known, Options{Rank: k, Iterations: b.N, Solver: Multiplicative{}})
				if err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// BenchmarkProducts times iterations of multiplicative updates and, by turns, the products
// of matrices that they contain: how much longer they take, at how many operations and bytes
// of the data the products run, and what share of the roofline (Williams, Waterman and
// Patterson 2009) that is: of the lesser of what products of square matrices come to and what
// the data allow by the speed at which they are read.
func BenchmarkProducts(b *testing.B) {
	for _, size := range [][3]int{{165, 1024, 15}, {1440, 1024, 20}, {10000, 784, 20}} {
		n, m, k := size[0], size[1], size[2]
		for _, c := range []struct {
			name   string
			method Parts
			// products does those of an iteration with factors u, k×m, and v, k×n; passes is how
			// often they read the matrix of n×width that they take most of.
			products func(f *Factorisation, u, v *mat.Dense)
			passes   int
			width    int
		}{
			{"nmf", NMF{}.AsParts(), func(f *Factorisation, u, v *mat.Dense) {
				x := f.data.(view.Dense).X
				product(v, algebra.NoTrans, x, algebra.NoTrans)
				product(u, algebra.NoTrans, x, algebra.Trans)
				product(algebra.SelfGram(v), algebra.NoTrans, u, algebra.NoTrans)
				product(algebra.SelfGram(u), algebra.NoTrans, v, algebra.NoTrans)
			}, 2, m},
			{"nmf-kl", NMFKL{}.AsParts(), func(f *Factorisation, u, v *mat.Dense) {
				vx, ux := algebra.Like(u), algebra.Like(v)
				f.data.(view.Dense).Walk(u, v, true, func(t view.Tile, first bool) float64 {
					view.Add(first, algebra.NoTrans, t.V, t.Y, view.ColumnsOf(algebra.Raw(vx), t.At, t.At+t.Y.Cols))
					return 0
				})
				f.data.(view.Dense).Walk(u, v, false, func(t view.Tile, first bool) float64 {
					view.Add(first, algebra.Trans, t.U, t.Y, view.ColumnsOf(algebra.Raw(ux), t.Sample, t.Sample+t.Y.Rows))
					return 0
				})
			}, 4, m},
			{"cf", CF{}.AsParts(), func(f *Factorisation, _, v *mat.Dense) {
				kernel := f.model.(*conceptModel).k
				product(v, algebra.NoTrans, kernel, algebra.NoTrans)
				product(v, algebra.NoTrans, kernel, algebra.NoTrans)
				product(algebra.SelfGram(v), algebra.NoTrans, v, algebra.NoTrans)
				product(algebra.SelfGram(v), algebra.NoTrans, v, algebra.NoTrans)
			}, 2, n},
		} {
			if c.name == "cf" && n > 2*m {
				continue // without the inner products of samples
			}
			b.Run(fmt.Sprintf("%dx%d/%s", n, m, c.name), func(b *testing.B) {
				f, err := c.method.start(b.Context(), random(n, m), Known{}, Options{Rank: k, Solver: Multiplicative{}})
				if err != nil {
					b.Fatal(err)
				}
				u, v := random(k, m), random(k, n)
				peak, read := peakRate(), readRate(random(n, c.width))
				var whole, bare time.Duration
				for b.Loop() {
					begin := time.Now()
					if err := f.step(b.Context()); err != nil {
						b.Fatal(err)
					}
					f.Objective()
					middle := time.Now()
					c.products(f, u, v)
					whole += middle.Sub(begin)
					bare += time.Since(middle)
				}
				b.ReportMetric(whole.Seconds()/bare.Seconds(), "iteration/products")
				bytes := 8 * float64(n*c.width*c.passes) * float64(b.N) / bare.Seconds()
				perByte := float64(2*k) / 8
				b.ReportMetric(1e-9*bytes*perByte, "GFLOP/s")
				b.ReportMetric(1e-9*bytes, "GB/s")
				b.ReportMetric(bytes*perByte/min(peak, read*perByte), "of-roofline")
				b.ReportMetric(1e-9*peak, "peak-GFLOP/s")
				b.ReportMetric(1e-9*read, "read-GB/s")
			})
		}
	}
}

// peakRate is how many operations a second the product of two square matrices comes to, on
// all cores, the most of several.
func peakRate() float64 {
	const n = 768
	a, b := random(n, n), random(n, n)
	return fastest(2*n*n*n, func() { product(a, algebra.NoTrans, b, algebra.NoTrans) })
}

// readRate is how many bytes a second all cores read of x, the most of several, from where it
// lies when it is read again and again.
func readRate(x *mat.Dense) float64 {
	n, m := x.Dims()
	ones, at := slices.Repeat([]float64{1}, m), make([]int, n)
	for i := range at {
		at[i] = i
	}
	sums := make([]float64, n)
	rows := max(1, (n+63)/64)
	return fastest(8*n*m, func() {
		parallel.Do((n+rows-1)/rows, func(i int) {
			lo, hi := i*rows, min(n, (i+1)*rows)
			simd.Dots(sums[lo:hi], ones, x.RawMatrix().Data, at[lo:hi])
		})
	})
}

// fastest is how much of work a second f does, the most of several calls.
func fastest(work int, f func()) float64 {
	var most float64
	for range 20 {
		begin := time.Now()
		f()
		most = max(most, float64(work)/time.Since(begin).Seconds())
	}
	return most
}

// product returns op(a)·op(b).
func product(a *mat.Dense, ta blas.Transpose, b *mat.Dense, tb blas.Transpose) *mat.Dense {
	r, _ := a.Dims()
	columns, c := b.Dims()
	if tb != algebra.NoTrans {
		c = columns
	}
	out := mat.NewDense(r, c, nil)
	algebra.Gemm(out, a, ta, b, tb)
	return out
}

// BenchmarkLabels times an iteration where shares of the samples are labelled, in percent.
func BenchmarkLabels(b *testing.B) {
	for _, size := range [][2]int{{1440, 1024}, {70000, 784}} {
		make := sync.OnceValue(func() *mat.Dense { return random(size[0], size[1]) })
		for _, percent := range []int{0, 10, 50} {
			methods := map[string]Method{"nmf": NMF{}, "cf": CF{}}
			if percent > 0 {
				methods = map[string]Method{"cnmf": CNMF{}, "ccf": CCF{}}
			}
			for name, method := range methods {
				b.Run(fmt.Sprintf("%dx%d/%s/%d", size[0], size[1], name, percent), func(b *testing.B) {
					x := make()
					known := Known{}
					if percent > 0 {
						known = classes(size[0], 20, size[0]*percent/100)
					}
					b.ResetTimer()
					if _, err := method.Fit(b.Context(), x, known, Options{Rank: 20, Iterations: b.N, Solver: Multiplicative{}}); err != nil {
						b.Fatal(err)
					}
				})
			}
		}
	}
}

// BenchmarkTransform times the representation of the scenes.
func BenchmarkTransform(b *testing.B) {
	x := scenes()
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		b.Run(cost.String(), func(b *testing.B) {
			model := &Additive{Cost: cost, Basis: mat.NewDense(3200, 18, nil)}
			src := rand.New(rand.NewPCG(1, 1))
			model.Basis.Apply(func(int, int, float64) float64 { return src.Float64() }, model.Basis)
			for b.Loop() {
				if _, err := model.Transform(context.Background(), x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGram times the inner products of the scenes.
func BenchmarkGram(b *testing.B) {
	d := view.NewSparse(scenes())
	for b.Loop() {
		if _, err := view.InnerProducts(b.Context(), d); err != nil {
			b.Fatal(err)
		}
	}
}
