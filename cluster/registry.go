// Package cluster puts samples into groups: k-means and its constrained, kernel and spectral forms.
//
// Samples are rows: x is n×m where the papers write X, m×n. A cluster is a number from 0 to k−1. Links are
// pairs of rows that belong together (must) or apart (cannot): the papers' M or Con_=, and C or Con_≠. μ_j is
// row j of Result.Centres, K or A the kernel or similarity, and w_ij SSKK.Weight.
//
// The same seed gives the same answer: every restart has a random stream of its own.
package cluster

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// A Clusterer is an algorithm with its settings: a struct whose zero value has the defaults. Experiments set
// its fields with a setting tag.
type Clusterer interface {
	// Cluster puts the rows of x, n×m, dense or a *sparse.CSR, into k clusters. Algorithms use the labels and
	// links that they can; labels count from 0 to k−1. The same seed gives the same answer. The kernel and
	// spectral algorithms work on the inner products of the rows.
	Cluster(ctx context.Context, x mat.Matrix, k int, known Known, seed uint64) (*Result, error)
}

// Info describes an algorithm of the registry.
type Info struct {
	Name  string // in settings, such as "cop-kmeans"
	Title string // the full name, with its paper
	// NeedsLabels tells whether it must know the labels of some samples, and TakesLinks whether links will do
	// in their place.
	NeedsLabels, TakesLinks bool

	zero Clusterer
}

var registry = []Info{
	{"constrained-kmeans", "k-means with labels and links as constraints, started at labelled means (Basu, Banerjee and Mooney 2002)", true, true, ConstrainedKMeans{}},
	{"cop-kmeans", "k-means under must-links and cannot-links (Wagstaff et al. 2001)", true, true, COPKMeans{}},
	{"guided-kmeans", "constrained cosine k-means, combined with logistic regression on the labelled samples", true, true, GuidedKMeans{}},
	{"kernel-kmeans", "kernel k-means on inner products of samples", false, false, KernelKMeans{}},
	{"kmeans", "k-means", false, false, KMeans{}},
	{"ncut", "normalised cuts on inner products of samples (Shi and Malik 2000; Ng, Jordan and Weiss 2001)", false, false, NormalisedCut{}},
	{"seeded-kmeans", "k-means started at the means of labelled samples (Basu, Banerjee and Mooney 2002)", true, false, SeededKMeans{}},
	{"ss-kk", "kernel k-means with rewards and penalties for links (Kulis et al. 2005)", true, true, SSKK{}},
	{"ss-snc", "normalised cuts with must-links at the largest and cannot-links at the smallest similarity (Ji and Xu 2006)", true, true, SSSNC{}},
}

// Register adds an algorithm to the registry, from an init function, so that settings find it by its name. It
// panics if the name is taken.
func Register(i Info, defaults Clusterer) {
	if _, taken := Lookup(i.Name); taken {
		panic("cluster: an algorithm " + i.Name + " is already registered")
	}
	i.zero = defaults
	registry = append(registry, i)
}

// Algorithms returns the algorithms of the registry, in the order to show them.
func Algorithms() []Info { return slices.Clone(registry) }

// Lookup returns the algorithm of the name.
func Lookup(name string) (_ Info, ok bool) {
	for _, i := range registry {
		if i.Name == name {
			return i, true
		}
	}
	return Info{}, false
}

// Settings returns the settings that the algorithm follows.
func (i Info) Settings() []settings.Setting { return settings.List(i.zero) }

// New returns the algorithm with the given settings, whose values are numbers, strings or booleans.
func (i Info) New(params map[string]any) (Clusterer, error) {
	by, err := settings.New(settings.Of(params), i.zero)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.Name, err)
	}
	return by, nil
}

// Size is how large a clustering is: n samples of m columns in k clusters under links.
type Size struct {
	N, M, K, Links int
	Sparse         bool
}

// Memory returns about how many bytes a clustering takes beside its input: what the algorithm's method
// Memory(Size) float64 says, 0 if it has none.
func (i Info) Memory(s Size) int64 {
	if !i.TakesLinks {
		s.Links = 0
	}
	if of, ok := i.zero.(interface{ Memory(s Size) float64 }); ok {
		return int64(min(of.Memory(s), 1<<62))
	}
	return 0
}

// memoryOfSquares is the memory of n×n matrices, and of bytes for each sample and cluster in each start at
// work.
func memoryOfSquares(s Size, matrices, bytes float64) float64 {
	n := float64(s.N)
	return matrices*8*n*n + float64(parallel.Cores())*bytes*n*float64(s.K) + 250*float64(s.Links)
}
