// Package cluster implements clustering: k-means and its constrained, kernel and spectral variants. The examples of
// [KMeans] and [ConstrainedKMeans] show how to cluster the rows of a matrix.
//
// A sample is a row of x, n×m; the papers write X, m×n. A cluster is a number from 0 to k−1. A must-link (M or Con_= in
// the papers) is a pair of rows in the same cluster, a cannot-link (C or Con_≠) a pair in different clusters. μ_j is row
// j of Result.Centres, K or A the kernel or similarity matrix, and w_ij SSKK.Weight.
//
// The same seed gives the same result. Every restart has its own random stream.
package cluster

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// A Clusterer is a clustering algorithm: a struct of settings whose zero value means the defaults. Experiment files set
// the fields that have a setting tag.
type Clusterer interface {
	// Cluster divides the rows of x, n×m, dense or a *sparse.CSR, into k clusters. Labels are clusters, from 0 to k−1,
	// or −1. An algorithm ignores labels and links that it does not use. The kernel and spectral algorithms use the
	// Gram matrix of the rows.
	Cluster(ctx context.Context, x mat.Matrix, k int, known Known, seed uint64) (*Result, error)
}

// Info describes a registered algorithm.
type Info struct {
	Name  string // name in settings, such as "cop-kmeans"
	Title string // full name and paper
	// NeedsLabels reports that the algorithm requires some labels, and TakesLinks that it uses links, which then
	// also satisfy NeedsLabels.
	NeedsLabels, TakesLinks bool

	zero Clusterer
}

var registry = []Info{
	{"constrained-kmeans", "k-means with labels and links as constraints, started at labelled means (Basu, Banerjee and Mooney 2002)", true, true, ConstrainedKMeans{}},
	{"cop-kmeans", "k-means under must-links and cannot-links (Wagstaff et al. 2001)", true, true, COPKMeans{}},
	{"guided-kmeans", "constrained cosine k-means, combined with logistic regression on the labelled samples", true, true, GuidedKMeans{}},
	{"harmonic", "harmonic functions: unlabelled samples are means of their neighbours (Zhu, Ghahramani and Lafferty 2003)", true, false, Harmonic{}},
	{"kernel-kmeans", "kernel k-means on inner products of samples", false, false, KernelKMeans{}},
	{"kmeans", "k-means", false, false, KMeans{}},
	{"label-spreading", "labels spread over a graph of nearest neighbours (Zhou et al. 2004)", true, false, LabelSpreading{}},
	{"logistic", "logistic regression on the labelled samples", true, false, Logistic{}},
	{"ncut", "normalised cuts on inner products of samples (Shi and Malik 2000; Ng, Jordan and Weiss 2001)", false, false, NormalisedCut{}},
	{"nearest-labelled", "the label of the nearest labelled sample", true, false, NearestLabelled{}},
	{"propagated-kmeans", "k-means on whitened features that are averaged over a graph of nearest neighbours", false, true, PropagatedKMeans{}},
	{"seeded-kmeans", "k-means started at the means of labelled samples (Basu, Banerjee and Mooney 2002)", true, false, SeededKMeans{}},
	{"self-training", "logistic regression that also learns from its own safe classes (Yarowsky 1995)", true, false, SelfTraining{}},
	{"ss-kk", "kernel k-means with rewards and penalties for links (Kulis et al. 2005)", true, true, SSKK{}},
	{"ss-snc", "normalised cuts with must-links at the largest and cannot-links at the smallest similarity (Ji and Xu 2006)", true, true, SSSNC{}},
}

// Register adds an algorithm to the registry, so that settings can select it by name. defaults is the algorithm with
// default settings. Call Register from an init function. It panics if the name is taken.
func Register(i Info, defaults Clusterer) {
	if _, taken := Lookup(i.Name); taken {
		panic("cluster: an algorithm " + i.Name + " is already registered")
	}
	i.zero = defaults
	registry = append(registry, i)
}

// Algorithms returns the registered algorithms in display order.
func Algorithms() []Info { return slices.Clone(registry) }

// Lookup returns the registered algorithm with the given name.
func Lookup(name string) (_ Info, ok bool) {
	return lists.Find(registry, func(i Info) bool { return i.Name == name })
}

// Settings returns the settings of the algorithm.
func (i Info) Settings() []settings.Setting { return settings.List(i.zero) }

// New returns the algorithm with the given settings. Values are numbers, strings or booleans.
func (i Info) New(params map[string]any) (Clusterer, error) {
	by, err := settings.New(settings.Of(params), i.zero)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.Name, err)
	}
	return by, nil
}

// Size is the size of a clustering problem: N samples of M columns, K clusters and a number of links.
type Size struct {
	N, M, K, Links int
	Sparse         bool
}

// Memory returns an estimate of the bytes that a clustering allocates, from the algorithm's method
// Memory(Size) float64, or 0 if it has none.
func (i Info) Memory(s Size) int64 {
	if !i.TakesLinks {
		s.Links = 0
	}
	if of, ok := i.zero.(interface{ Memory(s Size) float64 }); ok {
		return int64(min(of.Memory(s), 1<<62))
	}
	return 0
}

// memoryOfSquares estimates the bytes of a number of n×n matrices, plus bytes per sample and cluster for each worker.
func memoryOfSquares(s Size, matrices, bytes float64) float64 {
	n := float64(s.N)
	return matrices*8*n*n + float64(parallel.Cores())*bytes*n*float64(s.K) + 250*float64(s.Links)
}
