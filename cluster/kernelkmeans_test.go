package cluster

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// gram returns xxᵀ.
func gram(x *mat.Dense) *mat.SymDense {
	var k mat.SymDense
	k.SymOuterK(1, x)
	return &k
}

// kernelFrom runs k once, from these clusters.
func kernelFrom(k KernelKMeans, kernel *mat.SymDense, labels []int) (*Result, error) {
	f := newFeatureSpace(k, kernel)
	copy(f.labels, labels)
	f.fill()
	return f.run(context.Background())
}

// TestKernelKMeansLinear checks that kernel k-means with the kernel xxᵀ equals k-means after the first iteration.
func TestKernelKMeansLinear(t *testing.T) {
	for seed := range uint64(20) {
		x, _ := blobs(80, 3, 5, 0.5, seed)
		k := KMeans{K: 5, MaxIterations: 1}
		first, err := from(k, x, 0, 1, 2, 3, 4)
		if err != nil {
			t.Fatal(err)
		}
		k.MaxIterations = 0
		want, err := from(k, x, 0, 1, 2, 3, 4)
		if err != nil {
			t.Fatal(err)
		}
		got, err := kernelFrom(KernelKMeans{K: 5}, gram(x), first.Labels)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Labels, want.Labels) || !near(got.Objective, want.Objective, 1e-10) {
			t.Errorf("seed %d: objective %v in clusters %v, k-means %v in %v", seed, got.Objective, got.Labels, want.Objective, want.Labels)
		}
	}
}

func TestKernelKMeansNeverRises(t *testing.T) {
	x, _ := blobs(150, 4, 6, 1, 1)
	kernel := gram(x)
	for seed := range uint64(5) {
		last := math.Inf(1)
		for iterations := 1; ; iterations++ {
			got, err := KernelKMeans{K: 6, Restarts: 1, MaxIterations: iterations, Seed: seed}.Fit(context.Background(), kernel)
			if err != nil {
				t.Fatal(err)
			}
			if got.Objective > last+1e-9 {
				t.Fatalf("the objective rose from %v to %v in iteration %d", last, got.Objective, iterations)
			}
			last = got.Objective
			if got.Iterations < iterations {
				break
			}
		}
	}
}

func TestKernelKMeansPermuted(t *testing.T) {
	x, _ := blobs(60, 3, 4, 0.5, 1)
	start := make([]int, 60)
	for i := range start {
		start[i] = i % 4
	}
	want, err := kernelFrom(KernelKMeans{K: 4}, gram(x), start)
	if err != nil {
		t.Fatal(err)
	}
	to := rng.New(1, "permuted").Perm(60)
	moved, movedStart := mat.NewDense(60, 3, nil), make([]int, 60)
	for i, p := range to {
		moved.SetRow(p, x.RawRowView(i))
		movedStart[p] = start[i]
	}
	got, err := kernelFrom(KernelKMeans{K: 4}, gram(moved), movedStart)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range to {
		if got.Labels[p] != want.Labels[i] {
			t.Fatalf("sample %d is in cluster %d, as row %d in %d", i, want.Labels[i], p, got.Labels[p])
		}
	}
}

// TestKernelKMeansHard checks that useless kernels, and kernels that are not positive semi-definite, still give valid
// clusters.
func TestKernelKMeansHard(t *testing.T) {
	random := rng.New(1, "hard")
	for n := 1; n <= 7; n++ {
		for k := 1; k <= n; k++ {
			indefinite := mat.NewSymDense(n, nil)
			for i := range n {
				for j := i; j < n; j++ {
					indefinite.SetSym(i, j, random.NormFloat64())
				}
			}
			for _, kernel := range []*mat.SymDense{mat.NewSymDense(n, nil), indefinite} {
				got, err := KernelKMeans{K: k, Restarts: 4}.Fit(context.Background(), kernel)
				if err != nil {
					t.Fatal(err)
				}
				checkWhole(t, got, n, k)
			}
		}
	}
	got, err := kernelFrom(KernelKMeans{K: 3}, gram(mat.NewDense(4, 1, []float64{1, 2, 6, 9})), []int{0, 0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	checkWhole(t, got, 4, 3)
}

// TestKernelKMeansTies has a kernel with equal distances between all samples.
func TestKernelKMeansTies(t *testing.T) {
	got, err := kernelFrom(KernelKMeans{K: 2}, mat.NewSymDense(4, nil), []int{1, 1, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 0, 0, 0}; !slices.Equal(got.Labels, want) {
		t.Errorf("labels %v, want %v", got.Labels, want)
	}
}

func TestKernelKMeansErrors(t *testing.T) {
	kernel := gram(mat.NewDense(3, 1, []float64{1, 2, 3}))
	for _, test := range []struct {
		k      KernelKMeans
		kernel *mat.SymDense
		want   string
	}{
		{KernelKMeans{K: 0}, kernel, "number of clusters 0; expected 1 to the number of samples, 3"},
		{KernelKMeans{K: 4}, kernel, "number of clusters 4; expected 1 to the number of samples, 3"},
		{KernelKMeans{K: 1}, &mat.SymDense{}, "the similarity matrix is empty"},
		{KernelKMeans{K: 1}, mat.NewSymDense(2, []float64{1, math.NaN(), 0, 1}), "row 1, column 2: value NaN"},
		{KernelKMeans{K: 1}, mat.NewSymDense(2, []float64{math.MaxFloat64, 0, 0, 1}), "row 1, column 1: value 1.79"},
	} {
		_, err := test.k.Fit(context.Background(), test.kernel)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got error %v, want one with %q", test.k, err, test.want)
		}
	}
	if _, err := (KernelKMeans{K: 2}).Fit(endsAfter(2), kernel); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want the error of the context", err)
	}
}

func TestSSKKKernel(t *testing.T) {
	x, truth := blobs(30, 3, 3, 0.5, 1)
	similarity := gram(x)
	before := mat.NewSymDense(30, nil)
	before.CopySym(similarity)
	must, cannot := randomLinks(truth, 40, 1)
	once, err := SSKK{KernelKMeans: KernelKMeans{K: 3}}.Kernel(context.Background(), similarity, Known{MustLink: must, CannotLink: cannot})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(before, similarity) {
		t.Error("the similarity was changed")
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(once, false) || eigen.Values(nil)[0] < -1e-10 {
		t.Errorf("eigenvalues from %v on, want none below 0", eigen.Values(nil)[0])
	}
	// Duplicate links, in either order, count once.
	for _, p := range must {
		must = append(must, [2]int{p[1], p[0]}, [2]int{p[0], p[0]})
	}
	twice, err := SSKK{KernelKMeans: KernelKMeans{K: 3}}.Kernel(context.Background(), similarity, Known{MustLink: must, CannotLink: append(cannot, cannot...)})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(once, twice) {
		t.Error("repeated links change the kernel")
	}
	// A positive definite kernel without links is unchanged.
	same, err := SSKK{KernelKMeans: KernelKMeans{K: 1}}.Kernel(context.Background(), mat.NewSymDense(3, []float64{1, 0, 0, 0, 2, 0, 0, 0, 3}), Known{})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(same, mat.NewDiagDense(3, []float64{1, 2, 3})) {
		t.Errorf("a positive definite kernel became %v", mat.Formatted(same))
	}
}

// linkedPair is a similarity of four samples that pairs them as 0, 1 and 2, 3,
// and links that pair them the other way.
func linkedPair() (similarity *mat.SymDense, must, cannot [][2]int) {
	return mat.NewSymDense(4, []float64{
			1.0, 0.6, 0.5, 0.4,
			0.6, 1.0, 0.4, 0.5,
			0.5, 0.4, 1.0, 0.6,
			0.4, 0.5, 0.6, 1.0,
		}),
		[][2]int{{0, 2}, {1, 3}}, [][2]int{{0, 1}, {2, 3}}
}

func TestSSKKFollowsLinks(t *testing.T) {
	similarity, must, cannot := linkedPair()
	s := SSKK{KernelKMeans: KernelKMeans{K: 2}}
	free, err := s.Fit(context.Background(), similarity, Known{})
	if err != nil {
		t.Fatal(err)
	}
	if free.Labels[0] != free.Labels[1] || free.Labels[0] == free.Labels[2] {
		t.Errorf("without links: %v", free.Labels)
	}
	s.Weight = 2
	linked, err := s.Fit(context.Background(), similarity, Known{MustLink: must, CannotLink: cannot})
	if err != nil {
		t.Fatal(err)
	}
	if p, found := broken(linked.Labels, must, cannot); found {
		t.Errorf("link %v does not hold in %v", p, linked.Labels)
	}
}

func TestSSKKErrors(t *testing.T) {
	similarity, must, _ := linkedPair()
	for _, weight := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := (SSKK{KernelKMeans{K: 2}, weight}).Kernel(context.Background(), similarity, Known{MustLink: must}); err == nil {
			t.Errorf("weight %v is no error", weight)
		}
	}
	for _, test := range []struct {
		k            int
		must, cannot [][2]int
		want         string
	}{
		{0, must, nil, "number of clusters 0; expected 1 to the number of samples, 4"},
		{2, must, [][2]int{{2, 0}}, "cannot-link (2, 0) contradicts must-links"},
		{2, [][2]int{{0, 1}, {1, 2}}, [][2]int{{2, 0}}, "cannot-link (2, 0) contradicts must-links"},
		{2, must, [][2]int{{1, 1}}, "cannot-link (1, 1) joins a sample with itself"},
		{2, must, [][2]int{{1, 4}}, "cannot-link (1, 4): expected samples from 0 to less than 4"},
	} {
		_, err := SSKK{KernelKMeans: KernelKMeans{K: test.k}}.Fit(context.Background(), similarity, Known{MustLink: test.must, CannotLink: test.cannot})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
	}
}

// TestStops checks that every algorithm stops when its context ends.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x := mat.NewDense(3, 1, []float64{1, 2, 3})
	s := mat.NewSymDense(3, []float64{1, 2, 3, 0, 4, 6, 0, 0, 9})
	k := KMeans{K: 2}
	for name, fit := range map[string]func() error{
		"k-means":        func() error { _, err := k.Fit(ctx, x); return err },
		"cop-k-means":    func() error { _, err := COPKMeans{k}.Fit(ctx, x, Known{}); return err },
		"kernel k-means": func() error { _, err := KernelKMeans{K: 2}.Fit(ctx, s); return err },
		"ss-kk":          func() error { _, err := SSKK{KernelKMeans: KernelKMeans{K: 2}}.Kernel(ctx, s, Known{}); return err },
		"ncut":           func() error { _, err := NormalisedCut{k}.Embed(ctx, s); return err },
		"ss-snc":         func() error { _, err := SSSNC{NormalisedCut{k}}.Fit(ctx, s, Known{}); return err },
		"nearest":        func() error { _, err := Nearest(ctx, DistanceEuclidean, x, x, 1); return err },
	} {
		if err := fit(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMemoryIsChecked checks that the error for eigenvectors that exceed the memory contains the size needed.
func TestMemoryIsChecked(t *testing.T) {
	ctx := memory.NewContext(context.Background(), memory.New(memory.Least))
	const n = 2000
	s := mat.NewSymDense(n, nil)
	s.SetSym(0, 1, 1)
	var limit *memory.LimitError
	if _, err := (NormalisedCut{KMeans{K: 2}}).Fit(ctx, s); !errors.As(err, &limit) {
		t.Errorf("ncut: %v", err)
	}
	if _, err := (SSKK{KernelKMeans: KernelKMeans{K: 2}}).Kernel(ctx, s, Known{}); !errors.As(err, &limit) {
		t.Errorf("ss-kk: %v", err)
	}
}
