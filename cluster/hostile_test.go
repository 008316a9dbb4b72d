package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

var (
	hostileProblems = flag.Int("problems", 40, "how many hostile problems each algorithm is tried on")
	hostileFirst    = flag.Uint64("first", 0, "the seed of the first of them")
)

// hostile is a problem with values of any size.
type hostile struct {
	x            *mat.Dense    // samples
	s            *mat.SymDense // similarities of as many samples
	k            int
	must, cannot [][2]int
	kind         string
}

func (h hostile) String() string {
	n, m := h.x.Dims()
	return fmt.Sprintf("n=%d m=%d k=%d must=%v cannot=%v, %s", n, m, h.k, h.must, h.cannot, h.kind)
}

func newHostile(seed uint64) hostile {
	src := rand.New(rand.NewPCG(seed, 31))
	n, m := 1+src.IntN(20), 1+src.IntN(8)
	h := hostile{x: mat.NewDense(n, m, nil), k: 1 + src.IntN(n)}
	if src.IntN(4) == 0 {
		h.k = n
	}
	for i := range n {
		for j := range m {
			if src.IntN(3) > 0 {
				h.x.Set(i, j, src.NormFloat64())
			}
		}
	}
	var kinds []string
	for range 1 + src.IntN(3) {
		switch src.IntN(8) {
		case 0:
			e := 600*src.Float64() - 300
			h.x.Scale(math.Pow(10, e), h.x)
			kinds = append(kinds, fmt.Sprintf("scale 1e%.0f", e))
		case 1:
			e := []float64{16, 100, 300, 600}[src.IntN(4)]
			for i := range n {
				row := h.x.RawRowView(i)
				by := math.Pow(10, e*(src.Float64()-0.5))
				for j := range row {
					row[j] *= by
				}
			}
			kinds = append(kinds, fmt.Sprintf("rows over 1e%.0f", e))
		case 2:
			e := []float64{16, 100, 300}[src.IntN(3)]
			h.x.Apply(func(_, _ int, x float64) float64 { return x * math.Pow(10, e*(src.Float64()-0.5)) }, h.x)
			kinds = append(kinds, fmt.Sprintf("values over 1e%.0f", e))
		case 3:
			h.x.Apply(func(int, int, float64) float64 { return 3 }, h.x)
			kinds = append(kinds, "constant")
		case 4:
			h.x.SetRow(src.IntN(n), make([]float64, m))
			kinds = append(kinds, "a row of zeros")
		case 5:
			h.x.Zero()
			kinds = append(kinds, "zeros")
		case 6:
			for i := range n {
				h.x.SetRow(i, h.x.RawRowView(i%(1+n/3)))
			}
			kinds = append(kinds, "copies")
		case 7:
			bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64, math.MaxFloat64}[src.IntN(5)]
			h.x.Set(src.IntN(n), src.IntN(m), bad)
			kinds = append(kinds, fmt.Sprintf("a value %v", bad))
		}
	}
	// Inner products, or values that no samples have.
	h.s = mat.NewSymDense(n, nil)
	h.s.SymOuterK(1, h.x)
	if src.IntN(3) == 0 {
		kinds = append(kinds, "similarities of no samples")
		for i := range n {
			for j := i; j < n; j++ {
				h.s.SetSym(i, j, h.x.At(i, j%m)*h.x.At(j, i%m))
			}
		}
	}
	for range src.IntN(4) {
		h.must = append(h.must, [2]int{src.IntN(n), src.IntN(n)})
	}
	for range src.IntN(4) {
		h.cannot = append(h.cannot, [2]int{src.IntN(n), src.IntN(n)})
	}
	h.kind = strings.Join(kinds, ", ")
	return h
}

// TestHostileNumbers checks for every algorithm that any values and links give K clusters and finite numbers, or an
// error with the reason, and that the objective of k-means never rises.
func TestHostileNumbers(t *testing.T) {
	ctx := context.Background()
	weights := []float64{0, 1e-300, 1e-10, 1, 1e100, 1e300}
	for i := range uint64(*hostileProblems) {
		seed := *hostileFirst + i
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := newHostile(seed)
			n, _ := h.x.Dims()
			base := KMeans{K: h.k, Restarts: 2, Seed: seed}
			cosine, plus, refined := base, base, base
			cosine.Distance, plus.Init, refined.Refine = DistanceCosine, InitPlusPlus, true
			refinedCosine := refined
			refinedCosine.Distance = DistanceCosine
			kernel := KernelKMeans{K: h.k, Restarts: 2, Seed: seed}
			runs := map[string]func() (*Result, error){
				"k-means":         func() (*Result, error) { return base.Fit(ctx, h.x) },
				"k-means sparse":  func() (*Result, error) { return base.Fit(ctx, sparsed(h.x)) },
				"k-means cosine":  func() (*Result, error) { return cosine.Fit(ctx, h.x) },
				"k-means++":       func() (*Result, error) { return plus.Fit(ctx, h.x) },
				"k-means refined": func() (*Result, error) { return refined.Fit(ctx, h.x) },
				"cop-k-means": func() (*Result, error) {
					return COPKMeans{base}.Fit(ctx, h.x, Known{MustLink: h.must, CannotLink: h.cannot})
				},
				"kernel k-means": func() (*Result, error) { return kernel.Fit(ctx, h.s) },
				"ncut":           func() (*Result, error) { return NormalisedCut{base}.Fit(ctx, h.s) },
				"ss-snc": func() (*Result, error) {
					return SSSNC{NormalisedCut{base}}.Fit(ctx, h.s, Known{MustLink: h.must, CannotLink: h.cannot})
				},
				"ss-kk without links": func() (*Result, error) {
					return SSKK{KernelKMeans: kernel}.Fit(ctx, h.s, Known{})
				},
				"nearest": func() (*Result, error) {
					near, err := Nearest(ctx, Distance(seed%2), h.x, h.x, h.k)
					for i, rows := range near {
						if len(rows) != h.k {
							return nil, &wrongResult{fmt.Errorf("row %d has %d nearest", i, len(rows))}
						}
					}
					return nil, err
				},
			}
			for _, w := range weights {
				runs[fmt.Sprintf("ss-kk of weight %v", w)] = func() (*Result, error) {
					return SSKK{KernelKMeans: kernel, Weight: w}.Fit(ctx, h.s, Known{MustLink: h.must, CannotLink: h.cannot})
				}
			}
			square := 0.0 // the mean of a sample's copies is the sample, but for rounding
			for _, v := range h.x.RawMatrix().Data {
				square += v * v
			}
			for k, size := range map[*KMeans]float64{&base: 1e-15 * square, &cosine: float64(n), &refined: 1e-15 * square, &refinedCosine: float64(n)} {
				k := *k
				runs[fmt.Sprintf("descent of k-means, %s, refined %v", k.Distance, k.Refine)] = func() (*Result, error) {
					k.Restarts = 1
					return descends(size, func(iterations int) (*Result, error) {
						k.MaxIterations = iterations
						return k.Fit(ctx, h.x)
					})
				}
			}
			runs["descent of ss-kk"] = func() (*Result, error) { // whose kernel is positive semi-definite
				positive, err := SSKK{KernelKMeans: kernel}.Kernel(ctx, h.s, Known{MustLink: h.must, CannotLink: h.cannot})
				if err != nil {
					return nil, err
				}
				size := mat.Max(positive)
				return descends(float64(n)*size, func(iterations int) (*Result, error) {
					k := kernel
					k.Restarts, k.MaxIterations = 1, iterations
					return k.Fit(ctx, positive)
				})
			}
			for name, run := range runs {
				var res *Result
				err := guard.Call(func() (err error) {
					res, err = run()
					return err
				})
				var fault *guard.PanicError
				var wrong *wrongResult
				if err == nil && res != nil {
					err = checkResult(res, n, h.k)
				}
				switch {
				case err == nil:
				case errors.As(err, &fault) || errors.As(err, &wrong):
					t.Errorf("%s, %v: %v", name, h, err)
				case len(err.Error()) < 10 || strings.Contains(err.Error(), "\n"):
					t.Errorf("%s, %v: the error says little: %q", name, h, err)
				}
			}
		})
	}
}

// wrongResult describes invalid values in a result.
type wrongResult struct{ error }

// checkResult reports invalid labels and values that are not finite.
func checkResult(res *Result, n, k int) error {
	if len(res.Labels) != n {
		return &wrongResult{fmt.Errorf("%d labels of %d samples", len(res.Labels), n)}
	}
	for i, c := range res.Labels {
		if c < 0 || c >= k {
			return &wrongResult{fmt.Errorf("sample %d is in cluster %d of %d", i, c, k)}
		}
	}
	if math.IsNaN(res.Objective) || math.IsInf(res.Objective, 0) {
		return &wrongResult{fmt.Errorf("the objective is %v", res.Objective)}
	}
	if res.Centres != nil {
		for _, x := range res.Centres.RawMatrix().Data {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return &wrongResult{fmt.Errorf("a centre holds %v", x)}
			}
		}
	}
	return nil
}

// descends compares the objectives after 1, 2, … iterations. A rise counts as rounding
// up to 1e-12 of the objective and 1e-13 of size, the size of the terms whose difference
// is the objective.
func descends(size float64, fit func(iterations int) (*Result, error)) (*Result, error) {
	var before *Result
	for t := 1; t <= 8; t++ {
		res, err := fit(t)
		if err != nil {
			return nil, err
		}
		if before != nil && res.Objective > before.Objective*(1+1e-12)+1e-13*size {
			return nil, &wrongResult{fmt.Errorf("the objective rises from %v to %v in iteration %d", before.Objective, res.Objective, t)}
		}
		before = res
	}
	return before, nil
}

// sparsed returns the matrix in sparse form.
func sparsed(x *mat.Dense) *sparse.CSR {
	n, m := x.Dims()
	var entries []sparse.Entry
	for i := range n {
		for j := range m {
			if v := x.At(i, j); v != 0 {
				entries = append(entries, sparse.Entry{Row: i, Col: j, Value: v})
			}
		}
	}
	return sparse.FromEntries(n, m, entries)
}
