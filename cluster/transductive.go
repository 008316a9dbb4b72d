package cluster

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/logistic"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// LabelSpreading spreads labels over the graph of the ten nearest neighbours by cosine: F ← α·D^-½SD^-½·F + (1 − α)·Y,
// 30 times from the labels Y (Zhou, Bousquet, Lal, Weston and Schölkopf 2004).
type LabelSpreading struct {
	Share float64 `setting:"share" default:"0.9" range:"(0,1)" help:"weight α of the neighbours"`
}

// Harmonic gives each unlabelled sample the mean of its neighbours in the graph of [LabelSpreading], by 1,000 averages
// (Zhu, Ghahramani and Lafferty 2003).
type Harmonic struct{}

// SelfTraining repeats a logistic regression with C = 100, at most 10 times, on the labelled samples and those to which
// it gives a class with a probability above 0.75 (Yarowsky 1995). A class that is given stays.
type SelfTraining struct{}

// Logistic is the first logistic regression of [SelfTraining].
type Logistic struct{}

// NearestLabelled gives each sample the label of the nearest labelled sample.
type NearestLabelled struct{}

// Cluster implements [Clusterer].
func (l LabelSpreading) Cluster(ctx context.Context, x mat.Matrix, k int, known Known, _ uint64) (*Result, error) {
	return transduce("label spreading", x, k, known, DistanceCosine, func(s *samples, labels []int) []int {
		g, y := labelGraph(ctx, s, k, labels)
		return largestOf(g.propagate(ctx, y, cmp.Or(l.Share, propagatedShare)))
	})
}

// Cluster implements [Clusterer].
func (Harmonic) Cluster(ctx context.Context, x mat.Matrix, k int, known Known, _ uint64) (*Result, error) {
	return transduce("harmonic functions", x, k, known, DistanceCosine, func(s *samples, labels []int) []int {
		g, y := labelGraph(ctx, s, k, labels)
		shares := lists.Map(g, func(near []int) []float64 { return slices.Repeat([]float64{1 / float64(len(near))}, len(near)) })
		for range 1000 {
			guard.Check(ctx.Err())
			for i, near := range g { // in place
				if row := y.RawRowView(i); labels[i] < 0 && len(near) > 0 {
					clear(row)
					simd.AddRows(row, shares[i], y.RawMatrix().Data, near)
				}
			}
		}
		return largestOf(y)
	})
}

// Cluster implements [Clusterer].
func (SelfTraining) Cluster(ctx context.Context, x mat.Matrix, k int, known Known, _ uint64) (*Result, error) {
	return selfTrain(ctx, "self-training", x, k, known, 10)
}

// Cluster implements [Clusterer].
func (Logistic) Cluster(ctx context.Context, x mat.Matrix, k int, known Known, _ uint64) (*Result, error) {
	return selfTrain(ctx, "logistic regression", x, k, known, 1)
}

func selfTrain(ctx context.Context, name string, x mat.Matrix, k int, known Known, rounds int) (*Result, error) {
	return transduce(name, x, k, known, DistanceCosine, func(s *samples, labels []int) []int {
		z, found := s.unit(), []int(nil)
		classes := slices.Compact(slices.Sorted(slices.Values(labels)))
		if classes[0] < 0 {
			classes = classes[1:]
		}
		if len(classes) == 1 {
			return slices.Repeat(classes, s.n)
		}
		for range rounds {
			rows := links.Labelled(labels)
			given := lists.Map(rows, func(i int) int { return slices.Index(classes, labels[i]) })
			logs := guard.Must(logistic.Regression{C: guideC}.Fit(ctx, rowsOf(z, rows), given, len(classes))).LogProbabilities(z)
			found = largestOf(logs)
			added := false
			for i, c := range found {
				if found[i] = classes[c]; labels[i] < 0 && logs.At(i, c) > math.Log(0.75) {
					labels[i], added = found[i], true
				}
			}
			if !added {
				break
			}
		}
		return found
	})
}

// Cluster implements [Clusterer].
func (NearestLabelled) Cluster(ctx context.Context, x mat.Matrix, k int, known Known, _ uint64) (*Result, error) {
	return transduce("nearest labelled samples", x, k, known, DistanceEuclidean, func(_ *samples, labels []int) []int {
		rows := links.Labelled(labels)
		x := mat.DenseCopyOf(x)
		nearest := guard.Must(Nearest(ctx, DistanceEuclidean, x, rowsOf(x, rows), 1))
		return lists.Map(nearest, func(list []int) int { return labels[rows[list[0]]] })
	})
}

// transduce checks samples and labels, calls find with a copy of the labels, and keeps the labels in its result. find may
// call guard.Fail.
func transduce(name string, x mat.Matrix, k int, known Known, d Distance, find func(s *samples, labels []int) []int) (_ *Result, err error) {
	defer guard.CatchWithin(&err, name)
	s := guard.Must(readSamples(x, d))
	guard.Must(newUnits(s.n, k, Known{Labels: known.Labels}))
	guard.FailIf(len(known.Labels) == 0 || slices.Max(known.Labels) < 0, "no sample has a label")
	labels := known.Labels
	found := find(s, slices.Clone(labels))
	for _, i := range links.Labelled(labels) {
		found[i] = labels[i]
	}
	return &Result{Labels: found}, nil
}

// labelGraph returns the graph of nearest samples, and a matrix that is 1 for each labelled sample and its label. It
// calls guard.Fail.
func labelGraph(ctx context.Context, s *samples, k int, labels []int) (graph, *mat.Dense) {
	y := mat.NewDense(s.n, simd.Width(k), nil)
	for _, i := range links.Labelled(labels) {
		y.Set(i, labels[i], 1)
	}
	return nearestGraph(ctx, s.unit(), graphNeighbours), y
}

// largestOf returns the column of the largest value of each row.
func largestOf(y *mat.Dense) []int {
	n, _ := y.Dims()
	found := make([]int, n)
	for i := range n {
		found[i] = floats.MaxIdx(y.RawRowView(i))
	}
	return found
}
