package fitting

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

const tuneShare = 0.1 // fraction of held-out entries

// Choose replaces a method that is tuned by the best of its candidates, the first of equal ones. It sees no class except
// the labels of w. Clusters is the number of clusters of a clustering.
func (w *Work) Choose(ctx context.Context, e *spec.Experiment, rank int) (_ *spec.Tuned, err error) {
	defer guard.Catch(&err)
	best, out := 0, &spec.Tuned{By: w.Tune.By, Values: map[string]string{}}
	for i, c := range w.Candidates {
		one := *w
		one.Method, one.Shared = c.rated(out.By), nil
		score, sign := 0.0, 1.0
		guard.Within(func() {
			switch out.By {
			case spec.TuneHeldOut:
				score, sign = one.heldOut(ctx, rank), -1
			case spec.TuneStability:
				_, s := one.clusters(ctx, rank)
				score = s.Cophenetic
			default:
				score = one.labelled(ctx, e, rank)
			}
		}, "tune: %s", c.Label())
		if out.Scores = append(out.Scores, score); sign*score > sign*out.Scores[best] {
			best = i
		}
	}
	w.Method = w.Candidates[best]
	for _, s := range w.Swept {
		out.Values[s.Name] = s.Value
	}
	return out, nil
}

// rated returns the method as the rule fits it.
func (m *Method) rated(by string) *Method {
	c := *m
	if by == spec.TuneStability {
		if c.Consensus = false; c.Restarts < 2 {
			c.Restarts = spec.Folds
		}
	}
	return &c
}

// heldOut returns the relative squared error of held-out entries, which are missing in the fit. It and the functions below
// call guard.Fail.
func (w *Work) heldOut(ctx context.Context, rank int) (misfit float64) {
	w.Factoriser = guard.Must(factor.ForWeights(w.Factoriser, true))
	x, seed := w.X(), w.Seed
	n, m := x.Dims()
	w.Clusters = 0
	for fit := range spec.Folds {
		w.Seed = func(step string) uint64 { return rng.Seed(seed(step), "tune", fit) }
		held := factor.HoldOut(n, m, tuneShare, w.Seed("held out"))
		left := held.Hide(x)
		w.X = func() mat.Matrix { return left }
		res := guard.Must(w.Fit(ctx, rank))
		off, whole := held.Misfit(x, res)
		guard.FailIf(whole == 0, "too little data: all held-out entries are 0")
		misfit += off / whole / spec.Folds
	}
	return misfit
}

// labelled returns the accuracy of a cross-validation on the labelled samples, up to five folds with the same share of
// each class. A clustering sees the samples of a fold without their labels, and a cluster predicts the most frequent
// label in it; a classification trains on the other folds.
func (w *Work) labelled(ctx context.Context, e *spec.Experiment, rank int) (accuracy float64) {
	labels, predicted := w.Known.Labels, make([]int, len(w.Known.Labels))
	place, counts := make([]int, len(labels)), map[int]int{} // a random number of each sample in its class
	for _, i := range rng.New(w.Seed("folds")).Perm(len(labels)) {
		if c := labels[i]; c >= 0 {
			place[i] = counts[c]
			counts[c]++
		}
	}
	folds := spec.Folds
	for _, n := range counts {
		folds = min(folds, n)
	}
	for fold := range folds {
		hidden := slices.Clone(labels)
		var tested []int
		for i, c := range labels {
			if c >= 0 && place[i]%folds == fold {
				hidden[i], tested = -1, append(tested, i)
			}
		}
		one := *w
		one.Known.Labels = hidden
		var found []int
		if e.Task == spec.Clustering {
			found = one.predict(ctx, rank, tested)
		} else {
			found = one.classifyFold(ctx, e, rank, tested)
		}
		for at, i := range tested {
			predicted[i] = found[at]
		}
	}
	return eval.Accuracy(labels, predicted)
}

func (w *Work) clusters(ctx context.Context, rank int) ([]int, *cluster.Stability) {
	found, s, err := w.Group(ctx, guard.Must(w.Fit(ctx, rank)), w.Clusters)
	guard.Check(err)
	return found, s
}

// predict clusters the samples, and returns the most frequent label in the cluster of each tested one, the smallest of
// equal ones, or −1.
func (w *Work) predict(ctx context.Context, rank int, tested []int) (predicted []int) {
	found, _ := w.clusters(ctx, rank)
	for _, i := range tested {
		counts := make([]int, slices.Max(w.Known.Labels)+1)
		for j, c := range w.Known.Labels {
			if c >= 0 && found[j] == found[i] {
				counts[c]++
			}
		}
		best := slices.Index(counts, slices.Max(counts))
		if counts[best] == 0 || found[i] < 0 {
			best = -1
		}
		predicted = append(predicted, best)
	}
	return predicted
}

// classifyFold trains without the tested samples, and returns their predicted classes.
func (w *Work) classifyFold(ctx context.Context, e *spec.Experiment, rank int, tested []int) []int {
	x, rows := w.X(), w.Rows
	train := slices.DeleteFunc(matrix.AllRows(x), func(i int) bool { return w.Known.Labels[i] < 0 })
	w.Known.Labels, w.Rows = matrix.Take(w.Known.Labels, train), matrix.Take(rows, train)
	seen := matrix.SelectRows(x, train)
	w.X = func() mat.Matrix { return seen }
	res := guard.Must(w.Fit(ctx, min(rank, len(train))))
	test := func() mat.Matrix { return matrix.SelectRows(x, tested) }
	return guard.Must(w.Classify(ctx, e, &Represented{Result: res}, w.Known.Labels, test, matrix.Take(rows, tested)))
}
