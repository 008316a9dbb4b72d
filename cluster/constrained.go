package cluster

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/lloyd"
	"github.com/seed4492f2cd/partwise/internal/panel"
)

// SeededKMeans is k-means whose centres start at the means of labelled samples (Basu, Banerjee and Mooney
// 2002). Label c stands for cluster c. Other centres start as Init says, at samples without a label. Labelled
// samples move as all others do. Start must be empty.
type SeededKMeans struct {
	KMeans
}

func (k SeededKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	k.K, k.Seed = clusters, seed
	return k.Fit(ctx, x, known)
}

// Fit clusters the rows of x, n×m, as KMeans.Fit does. The labels are clusters, from 0 to K−1, or −1. More
// clusters without a labelled sample than samples without a label are an error.
func (k SeededKMeans) Fit(ctx context.Context, x mat.Matrix, known Known) (*Result, error) {
	return k.fitSeeded(ctx, "seeded k-means", x, known.Labels, false)
}

func (k KMeans) fitSeeded(ctx context.Context, name string, x mat.Matrix, labels []int, keep bool) (*Result, error) {
	return k.fit(ctx, name, x, func(l *run) error {
		if len(k.Start) > 0 {
			return errStart
		}
		return l.seed(labels, keep)
	})
}

var errStart = errors.New("start rows cannot be combined with labels or links, whose centres start at the labelled samples")

// ConstrainedKMeans is SeededKMeans that keeps the labels (Basu, Banerjee and Mooney 2002): a sample with label
// c is in cluster c in every iteration, and the centre of c is the mean of all its samples.
type ConstrainedKMeans struct {
	KMeans
}

func (k ConstrainedKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	k.K, k.Seed = clusters, seed
	return k.Fit(ctx, x, known)
}

// Fit clusters the rows of x under labels and links. Samples that must-links join, directly or through others,
// are placed as one. Samples with a cannot-link never share a cluster: the search goes back from dead ends
// until no single sample, and no two parted ones, would cost less elsewhere. Its failure wraps ErrDeadEnd. A
// cluster is empty if labels and links leave no sample to fill it.
func (k ConstrainedKMeans) Fit(ctx context.Context, x mat.Matrix, known Known) (*Result, error) {
	if len(known.MustLink) > 0 || len(known.CannotLink) > 0 {
		return k.fitLinked(ctx, x, known, nil, nil)
	}
	labels := known.Labels
	if n, _ := x.Dims(); len(labels) == 0 {
		labels = slices.Repeat([]int{-1}, n)
	}
	return k.fitSeeded(ctx, "constrained k-means", x, labels, true)
}

// linked is what holds samples in constrained k-means.
type linked struct {
	*units
	from  []int      // the clusters at the start, or nil
	extra *mat.Dense // what samples cost in clusters beside distances, n×K, or nil
}

// fitLinked clusters from the means of from and by the costs of extra, n×K, beside distances; both may be nil.
func (k ConstrainedKMeans) fitLinked(ctx context.Context, x mat.Matrix, known Known, from []int, extra *mat.Dense) (*Result, error) {
	return k.fit(ctx, "constrained k-means", x, func(l *run) error {
		if len(k.Start) > 0 {
			return errStart
		}
		u, err := placeable(l.n, k.K, known)
		if err != nil {
			return err
		}
		l.linked = &linked{u, from, extra}
		labels := from
		if labels == nil {
			labels = make([]int, l.n)
			for i, at := range u.of {
				labels[i] = u.fixed[at]
			}
		}
		if from != nil {
			l.runs, l.starts = 1, 1
		}
		return l.seed(labels, from == nil)
	})
}

// assignUnits moves units to the cheapest clusters, and fills an empty cluster with the unit that costs most where it is.
func (l *run) assignUnits(ctx context.Context) error {
	u := l.linked
	costs, own := make([]float64, len(u.members)*l.K), make([]float64, len(u.members))
	err := panel.Each(ctx, l.n, panelRows, func(lo, hi int) error {
		l.centres.score(l.scores, l.samples, l.all[lo:hi])
		for i := lo; i < hi; i++ {
			own := costs[u.of[i]*l.K:][:l.K]
			for j, s := range l.scores[(i-lo)*l.K : (i-lo+1)*l.K] {
				if l.by[i] > 0 { // a row of zeros costs the same everywhere
					own[j] += l.first[i] + l.by[i]*s
				}
			}
			if u.extra != nil {
				floats.Add(own, u.extra.RawRowView(i))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if l.placed == nil {
		first := costs
		if u.from != nil {
			first = slices.Clone(costs)
			u.keep(u.from, l.K, first)
		}
		if l.placed, err = u.place(l.K, first); err != nil {
			return err
		}
	}
	u.lowerAll(l.K, costs, l.placed)
	for at, j := range l.placed {
		l.counts[j]++ // of units
		own[at] = costs[at*l.K+j] / float64(len(u.members[at]))
	}
	lloyd.FillEmpty(l.placed, l.counts, own, func(at int) bool { return u.fixed[at] < 0 })
	clear(l.counts)
	for i, at := range u.of {
		l.labels[i] = l.placed[at]
		l.counts[l.placed[at]]++
	}
	return nil
}

// ErrDeadEnd is the cause where no clusters are found that hold to the links.
var ErrDeadEnd = errors.New("links exclude all clusters")

// COPKMeans is k-means under links (Wagstaff, Cardie, Rogers and Schrödl 2001). Each iteration places the
// samples in the order of the rows, in the nearest cluster that breaks no link with those before. A run that
// ends in a sample which no cluster may take is made up for by another, up to ten times as many starts as
// Restarts. A cluster can be empty in the answer.
type COPKMeans struct {
	KMeans
}

func (k COPKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	k.K, k.Seed = clusters, seed
	return k.Fit(ctx, x, known)
}

// Fit clusters the rows of x, n×m, under links and labels, which all hold in the answer. The error wraps
// ErrDeadEnd if every run is a dead end; since samples are placed greedily, an answer may exist.
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

// clear takes all units out of their clusters.
func (p *placing) clear() {
	for _, of := range [][]int{p.places, p.held} {
		for at := range of {
			of[at] = -1
		}
	}
}

func (p *placing) put(i, cluster int) {
	at := p.of[i]
	p.places[at] = cluster
	if p.fixed[at] >= 0 {
		p.held[cluster] = p.fixed[at]
	}
}

// forbid sets the scores of clusters that sample i cannot be in to infinity, and reports whether one is left.
func (p *placing) forbid(i int, scores []float64) bool {
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
