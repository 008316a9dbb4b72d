package grouping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Check returns an error for settings that the set cannot satisfy, before features are computed. Find repeats the
// checks on the usable samples.
func (g Groups) Check(set *datasets.Set) error {
	return g.checkRows(set, matrix.Range(set.Len()))
}

func (g Groups) checkRows(set *datasets.Set, rows []int) (err error) {
	defer guard.Catch(&err)
	n, classes := len(rows), set.Classes
	k := cmp.Or(g.K, len(classes))
	method := g.Method
	guard.FailIf(method.Results != "", "%w", spec.ErrResults)
	guard.FailIf(method.Tune != nil, "%w", spec.ErrTune)
	guard.FailIf(method.FixedBasis != "" && g.Rank != nil && g.Rank.Auto != nil, "%w", spec.ErrFixed)
	guard.FailIf(method.Name == spec.Original,
		"the method %s is for classification and finds no groups; choose another method", method.Name)
	guard.FailIf(g.MinSize < 0 || g.MinSize == 1 || g.MinSize > n,
		"min-size %d: expected 2 to the number of samples, %d", g.MinSize, n)
	guard.FailIf(g.MinSize > 0 && g.Batch > 0, "min-size: not with batches")
	guard.FailIf(spec.OnFeatures(method.Name) && g.Cluster.By != "" && g.Cluster.By != method.Name,
		"the method %s already clusters the features; remove the clustering by %s, or choose a factorisation", method.Name, g.Cluster.By)
	if g.Batch != 0 {
		guard.Must(MiniBatch(method, g.Batch))
	}
	if g.Cluster.By != "" && method.By == "" {
		method.By = g.Cluster.By
	}
	needs := method.Needs()
	switch {
	case k < 2:
		return errors.New("clustering needs 2 or more groups: set -k")
	case k > n:
		return fmt.Errorf("%d groups requested, but the data have %s", k, phrase.Count(n, "sample", "samples"))
	case needs.LackLabels(g.UseLabels, !g.Links.None()):
		by := method.Label()
		if a, ok := cluster.Lookup(method.By); ok && a.NeedsLabels {
			by = method.By
		}
		return lacksLabels(by, needs.TakesLinks)
	}
	if g.Rank != nil {
		if rank := g.Rank.Of(k); g.algorithm() == spec.Largest && (g.Rank.Auto != nil || rank != k) {
			return fmt.Errorf("rank %s: clustering by largest coefficient needs one basis vector for each of the %d groups", g.Rank, k)
		}
		guard.Check(g.Rank.Check(k, n, "groups"))
	}
	if !g.hasConstraints() {
		return nil
	}
	sizes, err := g.checkGiven(set, rows, k)
	if err != nil || !g.UseLabels {
		return err
	}
	return needs.CheckClasses(method.Label(), slices.DeleteFunc(sizes, func(size int) bool { return size == 0 }))
}

// checkGiven returns the number of samples of each class, or an error for labels and links that k groups cannot
// satisfy.
func (g Groups) checkGiven(set *datasets.Set, rows []int, k int) (_ []int, err error) {
	defer guard.Catch(&err)
	guard.Check(set.CheckLinks(&g.Links, g.UseLabels))
	of := g.constraints(set)
	sizes, free := of.sizes(rows)
	names := matrix.Take(set.Classes, lists.Indices(sizes, func(size int) bool { return size > 0 }))
	known := len(names)
	guard.FailIf(known > k,
		"%d groups requested, but the labels name %d classes (%s), and each needs a group of its own", k, known, phrase.Some(names))
	guard.FailIf(k > known+free && g.Links.None(),
		"%d groups requested, but the %d groups without labels share only %s", k, k-known, phrase.Count(free, "unlabelled sample", "unlabelled samples"))
	guard.FailIf(k > known+free, "%d groups requested, but must-links allow at most %d", k, known+free)
	if !g.Links.None() {
		_, links := of.forRows(rows)
		if err := cluster.CheckLinks(len(rows), k, cluster.Known(links)); errors.Is(err, cluster.ErrDeadEnd) {
			return nil, fmt.Errorf("%d groups requested, but the cannot-links need more", k)
		} else if err != nil {
			return nil, err
		}
	}
	return sizes, nil
}

// lacksLabels returns the error of a method that needs labels, or links if it takes links.
func lacksLabels(method string, takesLinks bool) error {
	if takesLinks {
		return fmt.Errorf("%s needs labels or links of some samples: set labels or links", method)
	}
	return fmt.Errorf("%s needs labels of some samples: set labels", method)
}

// Notes returns warnings about the given labels.
func (g Groups) Notes(in *input.Inputs) []string {
	if !g.UseLabels || !g.Method.Needs().TiesLabels {
		return nil
	}
	sizes := classSizes(in.Labels(), len(in.Set.Classes))
	lone := matrix.Take(in.Set.Classes, lists.Indices(sizes, func(size int) bool { return size == 1 }))
	if len(lone) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("classes with one labelled sample (%s) do not constrain %s; only the clustering uses these labels", phrase.Some(lone), g.Method.Label())}
}

// inBlocks is a method that learns from blocks of the inputs.
type inBlocks struct {
	factor.MiniBatch
	blocks factor.Blocks
	tied   bool // the method ties labelled samples
}

// Fit implements [factor.Method]. It ignores the matrix and the links.
func (b inBlocks) Fit(ctx context.Context, _ mat.Matrix, known factor.Known, opt factor.Options) (*factor.Result, error) {
	if b.tied {
		b.Labels = known.Labels
	}
	return b.MiniBatch.Fit(ctx, b.blocks, opt)
}

// MiniBatch returns the mini-batch form of a method, with blocks of this many samples.
func MiniBatch(m spec.Method, samples int) (b factor.MiniBatch, err error) {
	defer guard.Catch(&err)
	b.Samples = samples
	guard.FailIf(samples < 1, "%d samples per batch; expected 1 or more", samples)
	method, _ := m.Build() // nil for a clusterer
	switch of := method.(type) {
	case factor.NMF:
		b.Cost, b.Exponent, b.Threshold = of.Cost, of.Exponent, of.Threshold
	case factor.NMFKL, factor.CNMFKL:
		b.Cost = factor.CostKL
	case factor.CNMF:
	default:
		return b, fmt.Errorf("%s needs all samples in memory; batches are supported by nmf, nmf-kl, cnmf and cnmf-kl only, without fixed-basis", m.Label())
	}
	guard.Check(guard.Wrap(b.Serves(factor.Options{Solver: m.Solver.Solver(), Init: m.Init}), "%s", m))
	return b, nil
}

// CheckBatch returns an error for a method that cannot learn from blocks of Batch samples, and for features that cannot
// be computed in blocks.
func (g Groups) CheckBatch(f spec.Features) error {
	if _, err := MiniBatch(g.Method, g.Batch); err != nil {
		return err
	}
	return input.CheckBatch(f)
}
