package cluster

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
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
