package factor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestCores: every method gives the same bytes on any number of cores, on a problem that
// stays on one core and on one whose products are cut into parts.
func TestCores(t *testing.T) {
	methods := map[string]Method{
		"cf-rbf":  Parts{Basis: BasisConcept, Kernel: Kernel{Function: KernelRBF}},
		"ncw-kl":  Parts{Cost: CostKL, Weighting: WeightingNormalisedCut},
		"cf-plus": Parts{Basis: BasisConcept, Tie: TieLabels, Penalties: Penalties{Graph{Neighbourhood: Neighbourhood{Edges: EdgesHeat}}}},
	}
	for _, info := range Methods() {
		m, err := info.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		methods[info.Name] = m
	}
	for _, size := range []struct {
		n    int
		rank int
		Image
	}{{40, 3, Image{Height: 6, Width: 5}}, {300, 30, Image{Height: 24, Width: 20}}} {
		src := rand.New(rand.NewPCG(uint64(size.n), 5))
		x := mat.NewDense(size.n, size.Height*size.Width, nil)
		x.Apply(func(int, int, float64) float64 { return math.Max(src.Float64()-0.1, 0.01) }, x)
		known := classes(size.n, 4, size.n/2)
		for name, m := range methods {
			for _, x := range []mat.Matrix{x, toSparse(x)} {
				t.Run(fmt.Sprintf("%s/%d/%T", name, size.n, x), func(t *testing.T) {
					var first *Result
					var represented *mat.Dense
					some := []int{1, 2, 3, 7}
					if _, sparse := x.(*CSR); sparse {
						some = []int{1, 3}
					}
					for _, cores := range some {
						restore := parallel.SetCores(cores)
						res, err := ForImages(m, size.Image).Fit(t.Context(), x, known, Options{Rank: size.rank, Iterations: 2, Seed: 1})
						var y *mat.Dense
						if err == nil && res.Model != nil && size.n < 100 { // a hundred iterations
							y, err = res.Model.Transform(t.Context(), x)
						}
						restore()
						switch {
						case err != nil:
							t.Fatal(err)
						case first == nil:
							first, represented = res, y
						case !reflect.DeepEqual(res, first) || !reflect.DeepEqual(y, represented):
							t.Fatalf("%d cores give other bytes than one", cores)
						}
					}
				})
			}
		}
	}
}

// TestIterationAllocates: an iteration of dense multiplicative updates allocates next to nothing, on one core or several.
func TestIterationAllocates(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates")
	}
	src := rand.New(rand.NewPCG(1, 1))
	x := mat.NewDense(400, 600, nil)
	x.Apply(func(int, int, float64) float64 { return src.Float64() }, x)
	for _, cores := range []int{1, 2} {
		restore := parallel.SetCores(cores)
		f, err := Parts{}.start(t.Context(), x, Known{}, Options{Rank: 20, Seed: 1, Solver: Multiplicative{}})
		if err != nil {
			t.Fatal(err)
		}
		iterate := func() {
			if err := f.step(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.Objective()
		}
		iterate()
		if n := testing.AllocsPerRun(20, iterate); n > 20 {
			t.Errorf("%d cores: %v allocations in an iteration", cores, n)
		}
		restore()
	}
}

// BenchmarkFit times an iteration of multiplicative updates on one core and on two: of images, dense, and of
// texts, whose words are as common as 1/rank.
func BenchmarkFit(b *testing.B) {
	for _, data := range []struct {
		name  string
		large bool
		k     int
		make  func() mat.Matrix
	}{
		{"165x1024", false, 15, func() mat.Matrix { return random(165, 1024) }},
		{"1440x1024", false, 20, func() mat.Matrix { return random(1440, 1024) }},
		{"10000x784", true, 20, func() mat.Matrix { return random(10000, 784) }},
		{"texts18000x25000", true, 20, func() mat.Matrix { return zipf(18000, 25000, 90) }},
	} {
		make := sync.OnceValue(data.make)
		for _, method := range []struct {
			name string
			Method
		}{{"nmf", NMF{}}, {"nmf-kl", NMFKL{}}, {"cf", CF{}}, {"gnmf", GNMF{}}} {
			if data.large && (method.name == "cf" || method.name == "gnmf") {
				continue
			}
			for _, cores := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%s/cores=%d", data.name, method.name, cores), func(b *testing.B) {
					x := make()
					defer parallel.SetCores(cores)()
					b.ResetTimer()
					if _, err := method.Fit(b.Context(), x, Known{}, Options{Rank: data.k, Iterations: b.N, Solver: Multiplicative{}}); err != nil {
						b.Fatal(err)
					}
				})
			}
		}
	}
}

// zipf returns texts of so many words, the word of rank r as common as 1/r.
func zipf(n, m, words int) *CSR {
	src := rand.New(rand.NewPCG(1, 2))
	var entries []sparse.Entry
	for i := range n {
		for range words {
			j := int(math.Pow(float64(m), src.Float64())) - 1
			entries = append(entries, sparse.Entry{Row: i, Col: j, Value: 1 + src.Float64()})
		}
	}
	return sparse.FromEntries(n, m, entries)
}
