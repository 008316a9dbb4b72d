package cluster

import (
	"context"
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// blobs returns n rows of m values from k groups and each row's group.
func blobs(n, m, k int, spread float64, seed uint64) (*mat.Dense, []int) {
	random := rng.New(seed, "blobs", n, m, k)
	centres := mat.NewDense(k, m, nil)
	for i := range centres.RawMatrix().Data {
		centres.RawMatrix().Data[i] = random.Float64()
	}
	x := mat.NewDense(n, m, nil)
	truth := make([]int, n)
	for i := range n {
		truth[i] = random.IntN(k)
		row := x.RawRowView(i)
		for f, c := range centres.RawRowView(truth[i]) {
			row[f] = c + spread*random.NormFloat64()
		}
	}
	return x, truth
}

func benchmarkKMeans(b *testing.B, n, m int, k KMeans) {
	x, _ := blobs(n, m, k.K, 1, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Fit(context.Background(), x); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkKMeansPixels is k-means as the papers run it on COIL-20.
func BenchmarkKMeansPixels(b *testing.B) {
	benchmarkKMeans(b, 1440, 1024, KMeans{K: 20})
}

// BenchmarkKMeansVocabulary is one run of k-means on patch descriptors.
func BenchmarkKMeansVocabulary(b *testing.B) {
	benchmarkKMeans(b, 20000, 128, KMeans{K: 200, Restarts: 1, MaxIterations: 50})
}

// BenchmarkKMeansCoefficients is k-means on the coefficients of a trial.
func BenchmarkKMeansCoefficients(b *testing.B) {
	benchmarkKMeans(b, 165, 11, KMeans{K: 11})
}

// BenchmarkKMeansSparse is one run of k-means on counts of words.
func BenchmarkKMeansSparse(b *testing.B) {
	const n, m, each = 5000, 20000, 130
	random := rng.New(1, "sparse")
	entries := make([]sparse.Entry, 0, n*each)
	for i := range n {
		for range each {
			entries = append(entries, sparse.Entry{Row: i, Col: int(random.Float64() * random.Float64() * m), Value: 1})
		}
	}
	x := sparse.FromEntries(n, m, entries)
	for b.Loop() {
		if _, err := (KMeans{K: 20, Distance: DistanceCosine, Restarts: 1, MaxIterations: 20}).Fit(context.Background(), x); err != nil {
			b.Fatal(err)
		}
	}
}

// TestCores checks that every algorithm, and the search for nearest points, gives the same bytes on any number of
// cores, within one panel and across several.
func TestCores(t *testing.T) {
	for _, size := range [][2]int{{40, 3}, {panelRows + 50, 300}} {
		x, truth := blobs(size[0], size[1], 24, 4, 1)
		x.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, x) // for the cuts
		n, _ := x.Dims()
		known := Known{Labels: someLabels(truth, 20, 1)}
		for _, x := range []mat.Matrix{x, toSparse(x)} {
			var first []any
			for _, cores := range []int{1, 3} {
				restore := parallel.SetCores(cores)
				var got []any
				for _, a := range Algorithms() {
					r, err := registered(t, a, map[string]any{"restarts": 2, "refine": true}).Cluster(t.Context(), x, 24, known, 1)
					if err != nil {
						t.Fatalf("%s: %v", a.Name, err)
					}
					got = append(got, r)
				}
				nearest, err := Nearest(t.Context(), DistanceEuclidean, x, x, 5)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, nearest)
				restore()
				if first == nil {
					first = got
				}
				for i := range got {
					if !reflect.DeepEqual(got[i], first[i]) {
						t.Errorf("%d samples, %T, %d cores: result %d differs from one core", n, x, cores, i)
					}
				}
			}
		}
	}
}

// BenchmarkRestarts times 20 runs of k-means on one core and on two.
func BenchmarkRestarts(b *testing.B) {
	x, _ := blobs(1440, 1024, 20, 4, 1)
	for _, cores := range []int{1, 2} {
		b.Run(map[int]string{1: "cores=1", 2: "cores=2"}[cores], func(b *testing.B) {
			defer parallel.SetCores(cores)()
			for b.Loop() {
				if _, err := (KMeans{K: 20}).Fit(b.Context(), x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
