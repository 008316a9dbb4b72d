package cluster

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/lloyd"
	"github.com/seed4492f2cd/partwise/internal/panel"
)

// SeededKMeans is k-means with centres that start at the means of the labelled samples (Basu, Banerjee and Mooney
// 2002). Label c means cluster c. Init places the other centres, at unlabelled samples. Labelled samples can change
// their cluster.
type SeededKMeans struct {
	KMeans
}

// Cluster implements [Clusterer].
func (k SeededKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	k.K, k.Seed = clusters, seed
	return k.Fit(ctx, x, known)
}

// Fit clusters the rows of x, n×m, as KMeans.Fit does. Labels are clusters, from 0 to K−1, or −1 for unlabelled
// samples. It is an error if more clusters lack labelled samples than there are unlabelled samples.
func (k SeededKMeans) Fit(ctx context.Context, x mat.Matrix, known Known) (*Result, error) {
	return k.fitSeeded(ctx, "seeded k-means", x, known.Labels, false)
}

func (k KMeans) fitSeeded(ctx context.Context, name string, x mat.Matrix, labels []int, keep bool) (*Result, error) {
	return k.fit(ctx, name, x, func(l *run) error { return l.seed(labels, keep) })
}

// ConstrainedKMeans is SeededKMeans with fixed labels (Basu, Banerjee and Mooney 2002): a sample with label c stays in
// cluster c in every iteration, and the centre of c is the mean of all its samples.
type ConstrainedKMeans struct {
	KMeans
}

// Cluster implements [Clusterer].
func (k ConstrainedKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	k.K, k.Seed = clusters, seed
	return k.Fit(ctx, x, known)
}

// Fit clusters the rows of x under labels and links, which always hold. Samples connected by must-links are assigned
// together. The assignment backtracks from dead ends, then moves single samples and swaps cannot-linked ones until no
// move lowers the cost. The error wraps ErrDeadEnd if it finds no assignment. A cluster is empty if labels and
// links leave no sample for it.
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

// linked holds the constraints of constrained k-means.
type linked struct {
	*units
	from  []int      // initial clusters, or nil
	extra *mat.Dense // costs added to the distances, n×K, or nil
}

// fitLinked starts at the means of the clusters from and adds the costs extra, n×K, to distances; both may be nil.
func (k ConstrainedKMeans) fitLinked(ctx context.Context, x mat.Matrix, known Known, from []int, extra *mat.Dense) (*Result, error) {
	return k.fit(ctx, "constrained k-means", x, func(l *run) error {
		u, err := assignableUnits(l.n, k.K, known)
		if err != nil {
			return err
		}
		l.linked = &linked{u, from, extra}
		labels := from
		if labels == nil {
			labels = u.ofSamples(u.fixed)
		}
		if from != nil {
			l.runs, l.starts = 1, 1
		}
		return l.seed(labels, from == nil)
	})
}

// assignUnits moves units to the clusters with the lowest cost, and fills an empty cluster with the unit of highest cost.
func (l *run) assignUnits(ctx context.Context) (err error) {
	defer guard.Catch(&err)
	u := l.linked
	costs, own := make([]float64, len(u.members)*l.K), make([]float64, len(u.members))
	err = panel.Each(ctx, l.n, panelRows, func(lo, hi int) error {
		l.centres.score(l.scores, l.samples, l.all[lo:hi])
		for i := lo; i < hi; i++ {
			own := costs[u.unitOf[i]*l.K:][:l.K]
			for j, s := range l.scores[(i-lo)*l.K : (i-lo+1)*l.K] {
				if l.by[i] > 0 { // a row of zeros has the same cost in every cluster
					own[j] += l.first[i] + l.by[i]*s
				}
			}
			if u.extra != nil {
				floats.Add(own, u.extra.RawRowView(i))
			}
		}
		return nil
	})
	guard.Check(err)
	if l.placed == nil {
		first := costs
		if u.from != nil {
			first = slices.Clone(costs)
			u.favourGroups(u.from, l.K, first)
		}
		l.placed = guard.Must(u.place(l.K, first))
	}
	u.localSearch(l.K, costs, l.placed)
	for at, j := range l.placed {
		l.counts[j]++ // of units
		own[at] = costs[at*l.K+j] / float64(len(u.members[at]))
	}
	lloyd.FillEmpty(l.placed, l.counts, own, func(at int) bool { return u.fixed[at] < 0 })
	clear(l.counts)
	for i, at := range u.unitOf {
		l.labels[i] = l.placed[at]
		l.counts[l.placed[at]]++
	}
	return nil
}

// ErrDeadEnd is wrapped by errors of algorithms that find no clusters that satisfy all links.
var ErrDeadEnd = errors.New("links exclude all clusters")

// COPKMeans is k-means under links (Wagstaff, Cardie, Rogers and Schrödl 2001). Each iteration assigns the samples in
// row order to the nearest cluster that violates no link with earlier samples. A restart fails if a sample has no
// such cluster. Failed restarts are repeated, up to 10·Restarts starts in total. Clusters of the result can be empty.
type COPKMeans struct {
	KMeans
}

// Cluster implements [Clusterer].
func (k COPKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	k.K, k.Seed = clusters, seed
	return k.Fit(ctx, x, known)
}

// Fit clusters the rows of x, n×m, under links and labels, which always hold. The error wraps ErrDeadEnd if every
// restart fails. As the assignment is greedy, a solution may still exist.
func (k COPKMeans) Fit(ctx context.Context, x mat.Matrix, known Known) (*Result, error) {
	return k.fit(ctx, "cop-k-means", x, func(l *run) (err error) {
		l.starts = 10 * l.runs
		l.placing, err = newPlacing(l.n, k.K, known)
		return err
	})
}

// Known holds the labels and links of n samples, like factor.Known.
type Known = links.Known

// placing is the state of a greedy assignment of units.
type placing struct {
	*units
	places []int // the units' clusters, or −1 if not assigned yet
	held   []int // the label of each cluster, or −1
}

// newPlacing returns the constraints on n samples in k clusters, or nil if there are none.
func newPlacing(n, k int, known Known) (*placing, error) {
	// Labels need not be cluster numbers here.
	u, err := newUnits(n, math.MaxInt, known)
	if err != nil || len(u.members) == n && len(u.linked) == 0 && slices.Max(u.fixed) < 0 {
		return nil, err
	}
	return &placing{u, make([]int, len(u.members)), make([]int, k)}, nil
}

func (p *placing) clear() {
	for _, of := range [][]int{p.places, p.held} {
		for at := range of {
			of[at] = -1
		}
	}
}

func (p *placing) assign(i, cluster int) {
	at := p.unitOf[i]
	p.places[at] = cluster
	if p.fixed[at] >= 0 {
		p.held[cluster] = p.fixed[at]
	}
}

// forbid sets the scores of clusters that constraints forbid sample i to infinity, and reports whether one remains.
func (p *placing) forbid(i int, scores []float64) bool {
	at := p.unitOf[i]
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
