package cluster

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// Info describes an algorithm of the registry.
type Info struct {
	// Name is what settings call it, such as "cop-kmeans".
	Name string
	// Title says what it does, with its paper.
	Title string
	// NeedsLabels tells whether it must know the labels of some samples, and
	// TakesLinks whether links will do in their place.
	NeedsLabels, TakesLinks bool
	// Settings is a struct whose tags list the settings that it follows (see
	// KMeans).
	Settings any
	// Fit puts the rows of x, n×m, dense or a *sparse.CSR, into k.K clusters. What is
	// known about them is used by the algorithms that can; labels must count from 0
	// to K−1. The kernel and spectral algorithms work on the inner products of the
	// rows.
	Fit func(ctx context.Context, k KMeans, x mat.Matrix, known Known) (*Result, error)

	memory func(s Size) float64
}

// Size is how large a clustering is: n samples of m columns in k clusters under links.
type Size struct {
	N, M, K, Links int
	Sparse         bool
}

// Memory returns about how many bytes a clustering takes beside its input.
func (i Info) Memory(s Size) int64 {
	if !i.TakesLinks {
		s.Links = 0
	}
	return int64(min(i.memory(s), 1<<62))
}

// Algorithms returns the algorithms of the registry, in the order to show them.
func Algorithms() []Info { return slices.Clone(registry) }

// Lookup returns the algorithm of the name.
func Lookup(name string) (Info, bool) {
	i := slices.IndexFunc(registry, func(i Info) bool { return i.Name == name })
	if i < 0 {
		return Info{}, false
	}
	return registry[i], true
}

var registry = []Info{
	{
		Name: "constrained-kmeans", NeedsLabels: true, TakesLinks: true, Settings: KMeans{}, memory: kMeansMemory,
		Title: "k-means that starts at the means of labelled samples and keeps their labels, and links (Basu, Banerjee and Mooney 2002)",
		Fit: func(ctx context.Context, k KMeans, x mat.Matrix, known Known) (*Result, error) {
			return ConstrainedKMeans{k}.FitLinked(ctx, x, known)
		},
	},
	{
		Name: "cop-kmeans", NeedsLabels: true, TakesLinks: true, Settings: KMeans{}, memory: kMeansMemory,
		Title: "k-means under must-links and cannot-links (Wagstaff et al. 2001)",
		Fit: func(ctx context.Context, k KMeans, x mat.Matrix, known Known) (*Result, error) {
			return COPKMeans{k}.Fit(ctx, x, known)
		},
	},
	{
		Name: "guided-kmeans", NeedsLabels: true, TakesLinks: true, Settings: GuidedKMeans{}, memory: guidedMemory,
		Title: "constrained k-means of centred directions, in which a logistic regression of the labelled samples has a say",
		Fit: func(ctx context.Context, k KMeans, x mat.Matrix, known Known) (*Result, error) {
			return GuidedKMeans{KMeans: k}.Fit(ctx, x, known)
		},
	},
	{
		Name: "kernel-kmeans", Settings: KernelKMeans{}, memory: squares(2, 24),
		Title: "kernel k-means on the inner products of the samples",
		Fit: func(ctx context.Context, k KMeans, x mat.Matrix, _ Known) (*Result, error) {
			products, err := innerProducts(ctx, x, 1)
			if err != nil {
				return nil, err
			}
			return k.kernel().Fit(ctx, products)
		},
	},
	{
		Name: "kmeans", Settings: KMeans{}, memory: kMeansMemory,
		Title: "k-means",
		Fit: func(ctx context.Context, k KMeans, x mat.Matrix, _ Known) (*Result, error) {
			return k.Fit(ctx, x)
		},
	},
	{
		Name: "ncut", Settings: KMeans{}, memory: squares(4, 16),
		Title: "normalised cuts on the inner products of the samples (Shi and Malik 2000; Ng, Jordan and Weiss 2001)",
		Fit: func(ctx context.Context, k KMeans, x mat.Matrix, _ Known) (*Result, error) {
			products, err := innerProducts(ctx, x, 3)
			if err != nil {
				return nil, err
			}
			return NormalisedCut{k}.Fit(ctx, products)
		},
	},
	{
		Name: "seeded-kmeans", NeedsLabels: true, Settings: KMeans{}, memory: kMeansMemory,
		Title: "k-means that starts at the means of labelled samples (Basu, Banerjee and Mooney 2002)",
		Fit: func(ctx context.Context, k KMeans, x mat.Matrix, known Known) (*Result, error) {
			return SeededKMeans{k}.Fit(ctx, x, known.Labels)
		},
	},
	{
		Name: "ss-kk", NeedsLabels: true, TakesLinks: true, Settings: KernelKMeans{}, memory: squares(5, 24),
		Title: "kernel k-means with rewards and penalties for links (Kulis et al. 2005)",
		Fit: func(ctx context.Context, k KMeans, x mat.Matrix, known Known) (*Result, error) {
			products, err := innerProducts(ctx, x, 3)
			if err != nil {
				return nil, err
			}
			return SSKK{KernelKMeans: k.kernel()}.Fit(ctx, products, known)
		},
	},
	{
		Name: "ss-snc", NeedsLabels: true, TakesLinks: true, Settings: KMeans{}, memory: squares(6, 16),
		Title: "normalised cuts with linked samples at the largest and the least similarity (Ji and Xu 2006)",
		Fit: func(ctx context.Context, k KMeans, x mat.Matrix, known Known) (*Result, error) {
			products, err := innerProducts(ctx, x, 4)
			if err != nil {
				return nil, err
			}
			return SSSNC{NormalisedCut{k}}.Fit(ctx, products, known)
		},
	},
}

// kernel returns the settings of kernel k-means among those of k-means.
func (k KMeans) kernel() KernelKMeans {
	return KernelKMeans{K: k.K, Restarts: k.Restarts, MaxIterations: k.MaxIterations, Seed: k.Seed}
}

// kMeansMemory is what k-means takes: for each of the starts that go side by side the
// centres, of this start and of the best, a panel of scores, and the costs with candidates for centres.
func kMeansMemory(s Size) float64 {
	n, m, k := float64(s.N), float64(s.M), float64(s.K)
	points := 0.0
	if !s.Sparse {
		points = 8 * n * m // brought to unit length
	}
	starts := 8 * n * float64(1+candidates(s.K))
	bounds := 24*n + 8*k*m + 16*float64(gathered(s.M))*m
	return points + 40*n + float64(parallel.Cores())*(56*k*m+48*n+starts+bounds+512*8*k) + 300*float64(s.Links)
}

// guidedMemory is what k-means takes, the centred samples, those with labels, and the
// scores and probabilities of the clusters.
func guidedMemory(s Size) float64 {
	n, m, k := float64(s.N), float64(s.M), float64(s.K)
	return kMeansMemory(s) + 16*n*m + 40*n*k + 200*k*m
}

// squares returns what an algorithm takes that holds this number of n×n matrices, and of
// bytes for each sample and cluster in each of the starts that go side by side.
func squares(matrices, bytes float64) func(Size) float64 {
	return func(s Size) float64 {
		n := float64(s.N)
		return matrices*8*n*n + float64(parallel.Cores())*bytes*n*float64(s.K) + 250*float64(s.Links)
	}
}
