package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/links"
)

// ErrDeadEnd is in the error of a COP-k-means whose every run met a sample
// that its links allow in no cluster.
var ErrDeadEnd = errors.New("links allow no cluster")

// COPKMeans is k-means under links (Wagstaff, Cardie, Rogers and Schrödl 2001).
// In every iteration the samples are placed in the order of the rows, each in
// the nearest cluster that breaks no link with those placed before it. The
// fields mean what they mean in KMeans, but a run that ends in a sample which
// no cluster may take is dropped and made up for by another start, up to ten
// times as many starts as Restarts, and a cluster can be empty in the answer
// where the links leave no sample free to fill it.
//
// Links are followed through others, which changes no run that would come to an end
// without, but saves some from dead ends.
type COPKMeans struct {
	KMeans
}

// Cluster implements [Clusterer].
func (k COPKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	k.K, k.Seed = clusters, seed
	return k.Fit(ctx, x, known)
}

// Fit clusters the rows of x, n×m, as KMeans.Fit does, under links and labels. All hold
// in the answer: samples are in one cluster if they have the same label, and in two if
// they have two. Contradictions are an error, and so is it if every run is a dead end:
// that error wraps ErrDeadEnd. Since a run places samples greedily, it does not prove
// that there is no answer.
func (k COPKMeans) Fit(ctx context.Context, x mat.Matrix, known Known) (*Result, error) {
	l, err := k.lloyd(x, known)
	if err != nil {
		return nil, fmt.Errorf("cop-k-means: %w", err)
	}
	starts := 1
	if len(k.Start) == 0 {
		starts = 10 * k.restarts()
	}
	result, err := best(k.restarts(), starts, func(start int) (*Result, error) {
		return l.run(ctx, start)
	})
	if err != nil {
		return nil, fmt.Errorf("cop-k-means: %w", err)
	}
	return result, nil
}

// Known is what is known about n samples: Labels, each sample's class, numbered from
// 0, or -1 where it is not known, of length n or 0, and MustLink and CannotLink, pairs
// of samples, by row, that belong together and that do not. Samples of one label must
// link, and those of two cannot. Its zero value says that nothing is known. It is the
// type of that name in package factor.
type Known = links.Known

// linked holds what is known while samples are placed one after the other.
type linked struct {
	groups []int   // of the samples: those that must-links or labels join
	sizes  []int   // of the groups
	labels []int   // of the groups, or -1
	apart  [][]int // the groups that links part from each group
	places []int   // the groups' clusters, -1 for those not placed yet
	held   []int   // the label of the samples in each cluster, or -1
}

// newLinked returns what is known among n samples of k clusters, with no group placed.
func newLinked(n, k int, known Known) (*linked, error) {
	groups, err := known.Close(n)
	if err != nil {
		return nil, err
	}
	count := slices.Max(groups) + 1
	l := &linked{groups, make([]int, count), slices.Repeat([]int{-1}, count), make([][]int, count), make([]int, count), make([]int, k)}
	for i, g := range groups {
		l.sizes[g]++
		if len(known.Labels) > 0 && known.Labels[i] >= 0 {
			l.labels[g] = known.Labels[i]
		}
	}
	for _, p := range known.CannotLink {
		a, b := groups[p[0]], groups[p[1]]
		l.apart[a] = append(l.apart[a], b)
		l.apart[b] = append(l.apart[b], a)
	}
	l.lift()
	return l, nil
}

// none reports whether nothing is known that holds samples together or apart.
func (l *linked) none() bool {
	return slices.Max(l.sizes) == 1 && slices.Max(l.labels) < 0 && !slices.ContainsFunc(l.apart, func(g []int) bool { return len(g) > 0 })
}

// another returns the same, to place samples beside l.
func (l *linked) another() *linked {
	other := *l
	other.places, other.held = slices.Clone(l.places), slices.Clone(l.held)
	return &other
}

// lift takes all groups out of their clusters.
func (l *linked) lift() {
	for g := range l.places {
		l.places[g] = -1
	}
	for j := range l.held {
		l.held[j] = -1
	}
}

// place puts sample i, with its group, in a cluster.
func (l *linked) place(i, cluster int) {
	g := l.groups[i]
	l.places[g] = cluster
	if l.labels[g] >= 0 {
		l.held[cluster] = l.labels[g]
	}
}

// placed returns the cluster that sample i's group is in, or -1.
func (l *linked) placed(i int) int { return l.places[l.groups[i]] }

// alone reports whether nothing holds sample i to another one.
func (l *linked) alone(i int) bool { return l.sizes[l.groups[i]] == 1 }

// forbid sets to infinity the scores of the clusters that hold what sample i
// cannot link with, and reports whether a cluster is left.
func (l *linked) forbid(i int, scores []float64) bool {
	group := l.groups[i]
	apart, label := l.apart[group], l.labels[group]
	if len(apart) == 0 && label < 0 {
		return true
	}
	for _, g := range apart {
		if at := l.places[g]; at >= 0 {
			scores[at] = math.Inf(1)
		}
	}
	if label >= 0 {
		for at, held := range l.held {
			if held >= 0 && held != label {
				scores[at] = math.Inf(1)
			}
		}
	}
	return slices.Min(scores) < math.Inf(1)
}

// eachLink calls f for each two labelled samples and for each of the links, which are
// beyond the labels.
func eachLink(known Known, must, cannot [][2]int, f func(i, j int, must bool)) {
	for i, c := range known.Labels {
		if c < 0 {
			continue
		}
		for j, other := range known.Labels[:i] {
			if other >= 0 {
				f(j, i, c == other)
			}
		}
	}
	for _, p := range must {
		f(p[0], p[1], true)
	}
	for _, p := range cannot {
		f(p[0], p[1], false)
	}
}
