package cluster

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/links"
)

// ErrDeadEnd is in the error of a COP-k-means whose every run met a sample that its links allow in no cluster.
var ErrDeadEnd = errors.New("links allow no cluster")

// COPKMeans is k-means under links (Wagstaff, Cardie, Rogers and Schrödl 2001). In every iteration the samples
// are placed in the order of the rows, each in the nearest cluster that breaks no link with those placed before
// it, links being followed through others. A run that ends in a sample which no cluster may take is made up for
// by another, up to ten times as many starts as Restarts. A cluster can be empty in the answer where the links
// leave no sample free to fill it.
type COPKMeans struct {
	KMeans
}

func (k COPKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	k.K, k.Seed = clusters, seed
	return k.Fit(ctx, x, known)
}

// Fit clusters the rows of x, n×m, as KMeans.Fit does, under links and labels. All hold in the answer: samples
// are in one cluster if they have the same label, and in two if they have two. Contradictions are an error, and
// so is it if every run is a dead end: that error wraps ErrDeadEnd. Since a run places samples greedily, it
// does not prove that there is no answer.
func (k COPKMeans) Fit(ctx context.Context, x mat.Matrix, known Known) (*Result, error) {
	return k.fit(ctx, "cop-k-means", x, func(l *run) (err error) {
		if len(k.Start) == 0 {
			l.starts = 10 * l.runs
		}
		l.placing, err = newPlacing(l.n, k.K, known)
		return err
	})
}

// Known holds the labels and links of n samples. It is the type of that name in package factor.
type Known = links.Known

// placing is units that are placed one after the other.
type placing struct {
	*units
	places []int // the units' clusters, −1 for those not placed yet
	held   []int // the label of the samples in each cluster, or −1
}

// newPlacing returns the constraints on n samples in k clusters, or nil for none.
func newPlacing(n, k int, known Known) (*placing, error) {
	// Labels need not be clusters here.
	u, err := newUnits(n, math.MaxInt, known)
	if err != nil || len(u.members) == n && len(u.linked) == 0 && slices.Max(u.fixed) < 0 {
		return nil, err
	}
	return &placing{u, make([]int, len(u.members)), make([]int, k)}, nil
}

func (p *placing) another() *placing {
	if p == nil {
		return nil
	}
	return &placing{p.units, slices.Clone(p.places), slices.Clone(p.held)}
}

func (p *placing) clear() {
	if p == nil {
		return
	}
	for _, of := range [][]int{p.places, p.held} {
		for at := range of {
			of[at] = -1
		}
	}
}

func (p *placing) put(i, cluster int) {
	if p == nil {
		return
	}
	at := p.of[i]
	p.places[at] = cluster
	if p.fixed[at] >= 0 {
		p.held[cluster] = p.fixed[at]
	}
}

// cluster returns the cluster that sample i's unit is in, or −1.
func (p *placing) cluster(i int) int {
	if p == nil {
		return -1
	}
	return p.places[p.of[i]]
}

// alone reports whether nothing holds sample i to another one.
func (p *placing) alone(i int) bool { return p == nil || len(p.members[p.of[i]]) == 1 }

// forbid sets the scores of clusters that sample i cannot be in to infinity, and reports whether one is left.
func (p *placing) forbid(i int, scores []float64) bool {
	if p == nil {
		return true
	}
	at := p.of[i]
	for _, other := range p.apart[at] {
		if j := p.places[other]; j >= 0 {
			scores[j] = math.Inf(1)
		}
	}
	for j, held := range p.held {
		if label := p.fixed[at]; label >= 0 && held >= 0 && held != label {
			scores[j] = math.Inf(1)
		}
	}
	return slices.Min(scores) < math.Inf(1)
}
