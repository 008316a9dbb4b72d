package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

var bothDistances = []Distance{DistanceEuclidean, DistanceCosine}

// grid returns n rows of m small whole numbers, among which ties, equal rows
// and rows of zeros are common.
func grid(random *rand.Rand, n, m int) *mat.Dense {
	x := mat.NewDense(n, m, nil)
	for i := range n {
		for j := range m {
			x.Set(i, j, float64(random.IntN(4)-1)*float64(random.IntN(2)))
		}
	}
	return x
}

// toSparse returns the same values in compressed rows.
func toSparse(x *mat.Dense) *sparse.CSR {
	r, c := x.Dims()
	var entries []sparse.Entry
	for i := range r {
		for j := range c {
			if v := x.At(i, j); v != 0 {
				entries = append(entries, sparse.Entry{Row: i, Col: j, Value: v})
			}
		}
	}
	return sparse.FromEntries(r, c, entries)
}

// plainCost is the definition of the distances.
func plainCost(d Distance, x, y []float64) float64 {
	var xx, yy, xy, diff float64
	for j := range x {
		xx += x[j] * x[j]
		yy += y[j] * y[j]
		xy += x[j] * y[j]
		diff += (x[j] - y[j]) * (x[j] - y[j])
	}
	if d == DistanceEuclidean {
		return diff
	}
	if xx == 0 || yy == 0 {
		return 1
	}
	return 1 - xy/math.Sqrt(xx)/math.Sqrt(yy)
}

// plainKMeans is Lloyd's algorithm without optimisations. Costs are equal if they differ at most by rounding.
func plainKMeans(d Distance, x *mat.Dense, start []int) (labels []int, objective float64) {
	n, m := x.Dims()
	k := len(start)
	centres := make([][]float64, k)
	for j, i := range start {
		centres[j] = slices.Clone(x.RawRowView(i))
	}
	for range defaultMaxIterations {
		before := labels
		labels = make([]int, n)
		counts := make([]int, k)
		for i := range n {
			for j := range k {
				if plainCost(d, x.RawRowView(i), centres[j]) < plainCost(d, x.RawRowView(i), centres[labels[i]])-1e-12 {
					labels[i] = j
				}
			}
			counts[labels[i]]++
		}
		for j := range k {
			if counts[j] > 0 {
				continue
			}
			far, farCost := -1, -1.0
			for i := range n {
				row := x.RawRowView(i)
				cost := plainCost(d, row, centres[labels[i]])
				if d == DistanceCosine && mat.Norm(x.RowView(i), 2) == 0 || slices.Contains(labels[:i], j) {
					cost = 0
				}
				if counts[labels[i]] > 1 && cost > farCost+1e-12 {
					far, farCost = i, cost
				}
			}
			counts[labels[far]]--
			labels[far], counts[j] = j, 1
		}
		if slices.Equal(labels, before) {
			break
		}
		for j := range k {
			centres[j] = make([]float64, m)
		}
		for i, j := range labels {
			length := 1.0
			if d == DistanceCosine {
				length = max(mat.Norm(x.RowView(i), 2), math.SmallestNonzeroFloat64)
			}
			for f, v := range x.RawRowView(i) {
				centres[j][f] += v / length
			}
		}
		for j := range k {
			for f := range centres[j] {
				centres[j][f] /= float64(counts[j])
			}
		}
	}
	for i, j := range labels {
		objective += plainCost(d, x.RawRowView(i), centres[j])
	}
	return labels, objective
}

func TestKMeansMatchesPlain(t *testing.T) {
	random := rng.New(1, "plain")
	for trial := range 400 {
		n, m := 1+random.IntN(40), 1+random.IntN(9)
		k := 1 + random.IntN(min(n, 7))
		d := bothDistances[trial%2]
		x, _ := blobs(n, m, k, 0.3, uint64(trial))
		// Whole numbers make exact ties, which only DistanceEuclidean keeps exact.
		if trial%4 == 0 {
			x = grid(random, n, m)
		}
		start := random.Perm(n)[:k]
		want, objective := plainKMeans(d, x, start)
		for name, x := range map[string]mat.Matrix{"dense": x, "sparse": toSparse(x), "other": mat.DenseCopyOf(x.T()).T()} {
			got, err := from(KMeans{K: k, Distance: d}, x, start...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Labels); diff != "" {
				t.Fatalf("trial %d, %s, %v, %d×%d, k = %d: labels (-want +got):\n%s", trial, name, d, n, m, k, diff)
			}
			if !near(got.Objective, objective, 1e-10) {
				t.Fatalf("trial %d, %s, %v: objective %v, want %v", trial, name, d, got.Objective, objective)
			}
		}
	}
}

func TestKMeansSparseEqualsDense(t *testing.T) {
	random := rng.New(1, "sparse")
	for trial := range 40 {
		d := bothDistances[trial%2]
		x := grid(random, 300, 12)
		k := KMeans{K: 9, Distance: d, Init: Init(trial / 2 % 2), Restarts: 3, Seed: uint64(trial), Refine: trial/4%2 == 1}
		want, err := k.Fit(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := k.Fit(context.Background(), toSparse(x))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *mat.Dense) bool { return mat.Equal(a, b) })); diff != "" {
			t.Fatalf("%v: dense and sparse differ:\n%s", d, diff)
		}
	}
}

// TestKMeansSubmatrix checks views into a larger matrix.
func TestKMeansSubmatrix(t *testing.T) {
	x, _ := blobs(2*panelRows, 8, 3, 0.3, 1)
	part := x.Slice(10, 2*panelRows, 2, 7)
	for _, d := range bothDistances {
		k := KMeans{K: 3, Distance: d, Restarts: 2}
		want, err := k.Fit(context.Background(), mat.DenseCopyOf(part))
		if err != nil {
			t.Fatal(err)
		}
		got, err := k.Fit(context.Background(), part)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(want.Labels, got.Labels) || want.Objective != got.Objective {
			t.Errorf("%v: a submatrix gives another answer than its copy", d)
		}
	}
}

// from runs k once, with these rows as the initial centres.
func from(k KMeans, x mat.Matrix, rows ...int) (*Result, error) {
	n, _ := x.Dims()
	labels := slices.Repeat([]int{-1}, n)
	for j, i := range rows {
		labels[i] = j
	}
	return k.fitSeeded(context.Background(), "k-means", x, labels, false)
}

func TestKMeansPermuted(t *testing.T) {
	random := rng.New(1, "permuted")
	for trial := range 4 {
		d, refine := bothDistances[trial%2], trial > 1
		x, _ := blobs(500, 6, 4, 0.5, 2)
		start := []int{3, 77, 140, 499}
		want, err := from(KMeans{K: 4, Distance: d, Refine: refine}, x, start...)
		if err != nil {
			t.Fatal(err)
		}
		to := random.Perm(500)
		moved := mat.NewDense(500, 6, nil)
		for i, p := range to {
			moved.SetRow(p, x.RawRowView(i))
		}
		for j, i := range start {
			start[j] = to[i]
		}
		got, err := from(KMeans{K: 4, Distance: d, Refine: refine}, moved, start...)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range to {
			if got.Labels[p] != want.Labels[i] {
				t.Fatalf("%v: sample %d is in cluster %d, as row %d in %d", d, i, want.Labels[i], p, got.Labels[p])
			}
		}
	}
}

func TestKMeansNeverRises(t *testing.T) {
	for _, d := range bothDistances {
		for seed := range uint64(5) {
			x, _ := blobs(400, 5, 8, 1, seed)
			last := math.Inf(1)
			for iterations := 1; ; iterations++ {
				got, err := KMeans{K: 8, Distance: d, Restarts: 1, MaxIterations: iterations, Seed: seed, Refine: seed%2 == 1}.Fit(context.Background(), x)
				if err != nil {
					t.Fatal(err)
				}
				if got.Objective > last*(1+1e-12) {
					t.Fatalf("%v: the objective rose from %v to %v in iteration %d", d, last, got.Objective, iterations)
				}
				last = got.Objective
				if got.Iterations < iterations {
					break
				}
			}
		}
	}
}

// TestKMeansFixedPoint checks that another iteration does not change the result, and that its centres are the means.
func TestKMeansFixedPoint(t *testing.T) {
	x, _ := blobs(700, 5, 6, 0.6, 3)
	got, err := KMeans{K: 6, Refine: true}.Fit(context.Background(), x)
	if err != nil {
		t.Fatal(err)
	}
	means := mat.NewDense(6, 5, nil)
	counts := make([]float64, 6)
	for i, j := range got.Labels {
		counts[j]++
		for f, v := range x.RawRowView(i) {
			means.Set(j, f, means.At(j, f)+v)
		}
		for other := range 6 {
			own := plainCost(DistanceEuclidean, x.RawRowView(i), got.Centres.RawRowView(j))
			if plainCost(DistanceEuclidean, x.RawRowView(i), got.Centres.RawRowView(other)) < own {
				t.Fatalf("sample %d is in cluster %d but nearer to centre %d", i, j, other)
			}
		}
	}
	for j := range 6 {
		for f := range 5 {
			if m := means.At(j, f) / counts[j]; !near(got.Centres.At(j, f), m, 1e-12) {
				t.Errorf("centre %d: %v in column %d, the mean is %v", j, got.Centres.At(j, f), f, m)
			}
		}
	}
}

// TestKMeansCosineTies starts from centres of one direction: despite rounding, all samples must go to the first.
func TestKMeansCosineTies(t *testing.T) {
	x, _ := blobs(200, 7, 4, 0.3, 8)
	for j, scale := range []float64{3, 0.1, 7, 1. / 3} {
		row := x.RawRowView(j + 1)
		for f, v := range x.RawRowView(0) {
			row[f] = scale * v
		}
	}
	got, err := from(KMeans{K: 5, Distance: DistanceCosine, MaxIterations: 1}, x, 0, 1, 2, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, 5)
	for _, c := range got.Labels {
		counts[c]++
	}
	// Each other cluster has only the sample that filled it.
	if diff := cmp.Diff([]int{196, 1, 1, 1, 1}, counts); diff != "" {
		t.Errorf("samples of the clusters (-want +got):\n%s", diff)
	}
}

func TestKMeansRestarts(t *testing.T) {
	for _, init := range []Init{InitSample, InitPlusPlus} {
		x, _ := blobs(200, 3, 8, 0.2, 4)
		k := KMeans{K: 8, Init: init, Restarts: 6, Seed: 9}
		all, err := k.Fit(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		again, err := k.Fit(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(all.Labels, again.Labels) || all.Objective != again.Objective {
			t.Error("the same seed gives another answer")
		}
		objectives := map[float64]bool{}
		for restarts := 1; restarts <= 6; restarts++ {
			k.Restarts = restarts
			some, err := k.Fit(context.Background(), x)
			if err != nil {
				t.Fatal(err)
			}
			if some.Objective < all.Objective {
				t.Errorf("%d restarts find %v and six %v", restarts, some.Objective, all.Objective)
			}
			objectives[some.Objective] = true
		}
		if !objectives[all.Objective] {
			t.Error("the best restart is not returned")
		}
	}
}

func TestKMeansFindsGroups(t *testing.T) {
	x, truth := blobs(300, 10, 5, 0.02, 5)
	for _, d := range bothDistances {
		for _, init := range []Init{InitSample, InitPlusPlus} {
			got, err := KMeans{K: 5, Distance: d, Init: init}.Fit(context.Background(), x)
			if err != nil {
				t.Fatal(err)
			}
			names := map[[2]int]bool{}
			for i, c := range got.Labels {
				names[[2]int{truth[i], c}] = true
			}
			if len(names) != 5 {
				t.Errorf("%v, init %d: groups and clusters meet in %d ways, want 5", d, init, len(names))
			}
		}
	}
}

// TestKMeansPlusPlusSpreads checks that k-means++ draws from every group,
// which random samples would nearly always miss.
func TestKMeansPlusPlusSpreads(t *testing.T) {
	x, truth := blobs(400, 10, 20, 1e-3, 6)
	for seed := range uint64(10) {
		got, err := KMeans{K: 20, Init: InitPlusPlus, Restarts: 1, Seed: seed}.Fit(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		clusters := map[int]int{}
		for i, c := range got.Labels {
			clusters[c] = truth[i]
		}
		found := map[int]bool{}
		for _, g := range clusters {
			found[g] = true
		}
		if len(found) != 20 {
			t.Errorf("seed %d: %d of 20 groups have a cluster", seed, len(found))
		}
	}
}

// TestKMeansNoEmptyCluster starts from equal rows, so that clusters run empty.
func TestKMeansNoEmptyCluster(t *testing.T) {
	same := mat.NewDense(6, 2, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
	for _, d := range bothDistances {
		for _, init := range []Init{InitSample, InitPlusPlus} {
			got, err := KMeans{K: 4, Distance: d, Init: init, Restarts: 2}.Fit(context.Background(), same)
			if err != nil {
				t.Fatal(err)
			}
			if got.Iterations != 2 || len(slices.Compact(slices.Sorted(slices.Values(got.Labels)))) != 4 {
				t.Errorf("%v: equal rows give %v after %d iterations", d, got.Labels, got.Iterations)
			}
		}
	}
	// Both empty clusters take the two rows farthest from the others.
	x := mat.NewDense(6, 1, []float64{0, 0, 0, 1, 9, 7})
	got, err := from(KMeans{K: 3, MaxIterations: 1}, x, 0, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 0, 0, 0, 1, 2}, got.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestKMeansZeroRows(t *testing.T) {
	x := mat.NewDense(5, 2, []float64{0, 0, 3, 0, 0, 2, 0, 0, 5, 0.1})
	got, err := from(KMeans{K: 2, Distance: DistanceCosine}, x, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 0, 0, 1}, got.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got.Objective < 2 || got.Objective > 2.01 {
		t.Errorf("objective %v, want 1 for each of two rows of zeros and little else", got.Objective)
	}
	// A start from a row of zeros must not keep its cluster.
	got, err = from(KMeans{K: 2, Distance: DistanceCosine}, x, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got.Labels[1] == got.Labels[2] {
		t.Errorf("labels %v part a row of zeros from the others", got.Labels)
	}
}

// TestKMeansScale checks that neither the scale of the data nor their distance
// from the origin is lost to rounding.
func TestKMeansScale(t *testing.T) {
	x, _ := blobs(200, 4, 3, 0.05, 7)
	for _, d := range bothDistances {
		k := KMeans{K: 3, Distance: d, Refine: true}
		want, err := from(k, x, 0, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, scale := range []float64{1e-150, 1e-30, 1e30, 1e140} {
			var y mat.Dense
			y.Scale(scale, x)
			got, err := k.Fit(context.Background(), &y)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Labels, want.Labels) {
				t.Errorf("%v: other labels on data scaled by %v", d, scale)
			}
		}
		if d == DistanceEuclidean {
			var y mat.Dense
			y.Apply(func(_, _ int, v float64) float64 { return v + 1<<30 }, x)
			got, err := k.Fit(context.Background(), &y)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Labels, want.Labels) {
				t.Error("other labels far from the origin")
			}
		}
	}
}

func TestKMeansErrors(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	with := func(v float64) *mat.Dense {
		y := mat.DenseCopyOf(x)
		y.Set(1, 0, v)
		return y
	}
	for _, test := range []struct {
		k    KMeans
		x    mat.Matrix
		want string
	}{
		{KMeans{K: 0}, x, "number of clusters 0; expected 1 to the number of samples, 3"},
		{KMeans{K: -1}, x, "number of clusters -1; expected 1 to the number of samples,"},
		{KMeans{K: 4}, x, "number of clusters 4; expected 1 to the number of samples, 3"},
		{KMeans{K: 2, Restarts: -1}, x, "restarts -1; expected 0 or more"},
		{KMeans{K: 2, MaxIterations: -1}, x, "maximum of -1 iterations; expected 0 or more"},
		{KMeans{K: 2, Distance: 7}, x, "unknown distance(7)"},
		{KMeans{K: 2, Init: 7}, x, "unknown start(7)"},
		{KMeans{K: 2}, with(math.NaN()), "row 2: value NaN is not finite"},
		{KMeans{K: 2, Distance: DistanceCosine}, with(math.Inf(-1)), "row 2: value -Inf is not finite"},
		{KMeans{K: 2}, toSparse(with(math.Inf(1))), "row 2: value +Inf is not finite"},
		{KMeans{K: 2}, with(1e160), "row 2: the values are too large: distances overflow"},
		{KMeans{K: 2}, mat.NewDense(3, 1, []float64{0, 2e-160, 1e-160}), "row 2: the values are too small: distances underflow"},
		{KMeans{K: 2, Distance: DistanceCosine}, mat.NewDense(3, 1, []float64{1, 1e-310, 0}), "row 2: the values are too small: distances underflow"},
		{KMeans{K: 1}, &mat.Dense{}, "0×0 matrix"},
		{KMeans{K: 1}, sparse.FromEntries(3, 0, nil), "3×0 matrix"},
	} {
		_, err := test.k.Fit(context.Background(), test.x)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got error %v, want one with %q", test.k, err, test.want)
		}
	}
}

func TestKMeansCancelled(t *testing.T) {
	x, _ := blobs(600, 4, 3, 1, 1)
	for checks := range int32(12) {
		if _, err := (KMeans{K: 3}).Fit(endsAfter(checks), x); !errors.Is(err, context.Canceled) {
			t.Errorf("ended after %d checks: got error %v, want the error of the context", checks, err)
		}
	}
}

// endsAfter returns a context that ends after a number of checks.
func endsAfter(checks int32) context.Context {
	c := &endingContext{Context: context.Background()}
	c.left.Store(checks)
	return c
}

type endingContext struct {
	context.Context
	left atomic.Int32
}

func (c *endingContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestKMeansShapes checks on all small shapes that nothing panics and that all clusters have samples.
func TestKMeansShapes(t *testing.T) {
	random := rng.New(1, "shapes")
	for n := 1; n <= 6; n++ {
		for m := 1; m <= 5; m++ {
			for k := 1; k <= n; k++ {
				for _, d := range bothDistances {
					for _, init := range []Init{InitSample, InitPlusPlus} {
						got, err := KMeans{K: k, Distance: d, Init: init, Restarts: 3}.Fit(context.Background(), grid(random, n, m))
						if err != nil {
							t.Fatal(err)
						}
						checkWhole(t, got, n, k)
					}
				}
			}
		}
	}
}

// checkWhole checks that the result is finite and every cluster has a sample.
func checkWhole(t *testing.T, got *Result, n, k int) {
	t.Helper()
	counts := make([]int, k)
	for _, c := range got.Labels {
		counts[c]++
	}
	if len(got.Labels) != n || slices.Contains(counts, 0) {
		t.Errorf("%d samples in %d clusters: %v", n, k, got.Labels)
	}
	if math.IsNaN(got.Objective) || math.IsInf(got.Objective, 0) {
		t.Errorf("objective %v", got.Objective)
	}
	if got.Centres != nil {
		for _, v := range got.Centres.RawMatrix().Data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("centres hold %v", v)
			}
		}
	}
}

func FuzzKMeans(f *testing.F) {
	f.Add(uint8(3), uint8(2), true, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(uint8(2), uint8(1), false, []byte{0, 0, 0})
	f.Fuzz(func(t *testing.T, k, m uint8, cosine bool, data []byte) {
		if m == 0 || int(k) > 20 || len(data) < int(m) || len(data) > 300 {
			return
		}
		n := len(data) / int(m)
		x := mat.NewDense(n, int(m), nil)
		for i := range n * int(m) {
			x.RawMatrix().Data[i] = float64(int8(data[i])) / 3
		}
		s := KMeans{K: int(k), Restarts: 2, Refine: len(data)%2 == 0}
		if cosine {
			s.Distance = DistanceCosine
		}
		got, err := s.Fit(context.Background(), x)
		if (err != nil) != (k == 0 || int(k) > n) {
			t.Fatalf("%d clusters of %d samples: %v", k, n, err)
		}
		if err == nil {
			checkWhole(t, got, n, int(k))
		}
	})
}

func ExampleKMeans() {
	x := mat.NewDense(5, 2, []float64{
		0, 0,
		0, 1,
		8, 8,
		9, 8,
		8, 9,
	})
	result, err := KMeans{K: 2, Seed: 1}.Fit(context.Background(), x)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Labels)
	fmt.Printf("%.3f\n", result.Objective)
	// Output:
	// [1 1 0 0 0]
	// 1.833
}

// TestBounds checks that pruning by bounds never changes the result.
func TestBounds(t *testing.T) {
	random := rng.New(1, "bounds")
	for trial := range 100 {
		n, m, k := 20+random.IntN(400), 1+random.IntN(12), 2+random.IntN(9)
		x, name := grid(random, n, m), "grid"
		switch trial % 4 {
		case 1:
			x, _ = blobs(n, m, k, 0.3, uint64(trial))
			name = "blobs"
		case 2:
			x, _ = blobs(n, m, k, 1, uint64(trial))
			x.Apply(func(_, _ int, v float64) float64 { return 1e3 + v }, x)
			name = "far from zero"
		case 3:
			x, _ = blobs(n, m, 3, 1, uint64(trial))
			x.Apply(func(_, _ int, v float64) float64 { return v * math.Pow(10, float64(trial%7*40-120)) }, x)
			name = "of any scale"
		}
		for _, d := range bothDistances {
			for _, x := range []mat.Matrix{x, toSparse(x)} {
				var got [2]*Result
				for at := range got {
					l := KMeans{K: k, Distance: d, Init: Init(trial % 2), Refine: trial/4%2 == 1, Seed: uint64(trial)}.lloyd(x)
					if l = l.clone(); at == 1 {
						l.unbounded = true
					}
					var err error
					if got[at], err = l.run(context.Background(), 0); err != nil {
						t.Fatal(err)
					}
				}
				a, b := got[0], got[1]
				if !slices.Equal(a.Labels, b.Labels) || !near(a.Objective, b.Objective, 1e-12*b.Objective) || a.Iterations != b.Iterations || !mat.EqualApprox(a.Centres, b.Centres, 1e-12) {
					t.Fatalf("trial %d, %s, %d×%d, k = %d, %v: objective %v after %d iterations, without bounds %v after %d", trial, name, n, m, k, d, a.Objective, a.Iterations, b.Objective, b.Iterations)
				}
			}
		}
	}
}

// plainObjective is the least objective of given labels: the centres are means, or for cosines the directions of the
// sums of unit samples.
func plainObjective(d Distance, x *mat.Dense, labels []int, k int) (objective float64) {
	_, m := x.Dims()
	centres, counts := mat.NewDense(k, m, nil), make([]float64, k)
	for i, j := range labels {
		length := 1.0
		if d == DistanceCosine {
			length = max(mat.Norm(x.RowView(i), 2), math.SmallestNonzeroFloat64)
		}
		counts[j]++
		for f, v := range x.RawRowView(i) {
			centres.Set(j, f, centres.At(j, f)+v/length)
		}
	}
	for i, j := range labels {
		centre := make([]float64, m)
		for f := range centre {
			centre[f] = centres.At(j, f) / counts[j]
		}
		objective += plainCost(d, x.RawRowView(i), centre)
	}
	return objective
}

// TestRefine checks that no move of one sample lowers the refined objective beyond rounding, and that the objective is
// never above the one without refinement from the same start, and sometimes below.
func TestRefine(t *testing.T) {
	random := rng.New(1, "refine")
	less := 0
	for trial := range 60 {
		n, m := 2+random.IntN(30), 1+random.IntN(6)
		k := 1 + random.IntN(min(n, 6))
		d := bothDistances[trial%2]
		x, _ := blobs(n, m, k, 0.6, uint64(trial))
		if trial%5 == 0 {
			x = grid(random, n, m)
		}
		s, start := KMeans{K: k, Distance: d}, random.Perm(n)[:k]
		plain, err := from(s, x, start...)
		if err != nil {
			t.Fatal(err)
		}
		s.Refine = true
		got, err := from(s, x, start...)
		if err != nil {
			t.Fatal(err)
		}
		checkWhole(t, got, n, k)
		if got.Objective > plain.Objective*(1+1e-12) {
			t.Errorf("trial %d, %v: objective %v, and %v without", trial, d, got.Objective, plain.Objective)
		}
		if got.Objective < plain.Objective*(1-1e-9) {
			less++
		}
		counts := make([]int, k)
		for _, j := range got.Labels {
			counts[j]++
		}
		least := plainObjective(d, x, got.Labels, k)
		if !near(got.Objective, least, 1e-10) {
			t.Errorf("trial %d, %v: got objective %v, want %v from the labels", trial, d, got.Objective, least)
		}
		for i, from := range got.Labels {
			// A row of zeros costs the same everywhere.
			if counts[from] == 1 || d == DistanceCosine && mat.Norm(x.RowView(i), 2) == 0 {
				continue
			}
			for to := range k {
				got.Labels[i] = to
				if other := plainObjective(d, x, got.Labels, k); other < least*(1-1e-8)-1e-12 {
					t.Errorf("trial %d, %v, %d×%d: moving sample %d to cluster %d from %d lowers the objective from %v to %v", trial, d, n, m, i, to, from, least, other)
				}
			}
			got.Labels[i] = from
		}
	}
	if less < 10 {
		t.Errorf("%d of 60 answers are better than without", less)
	}
}

// TestRefineLeavesLloyd has the values 0, 4 and 7 and the centres 4 and 7. Lloyd's algorithm ends with {0, 4} and {7},
// but {0} and {4, 7} cost 4.5 instead of 8.
func TestRefineLeavesLloyd(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{0, 4, 7})
	for refine, want := range map[bool][]int{false: {0, 0, 1}, true: {0, 1, 1}} {
		got, err := from(KMeans{K: 2, Refine: refine}, x, 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Labels); diff != "" {
			t.Errorf("labels, refine %v (-want +got):\n%s", refine, diff)
		}
	}
}

// TestRefineKeepsLabels checks that labelled samples stay in their clusters.
func TestRefineKeepsLabels(t *testing.T) {
	x, truth := blobs(120, 3, 4, 0.8, 3)
	labels := someLabels(truth, 3, 1)
	got, err := ConstrainedKMeans{KMeans{K: 4, Refine: true}}.Fit(context.Background(), x, Known{Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range labels {
		if c >= 0 && got.Labels[i] != c {
			t.Errorf("sample %d of label %d is in cluster %d", i, c, got.Labels[i])
		}
	}
}
