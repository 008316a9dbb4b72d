package grouping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// DefaultMethod returns the default method before the features are known: nmf, or cnmf with labels.
// Groups.DefaultMethod refines it.
func DefaultMethod(labelled bool) spec.Method {
	if labelled {
		return spec.Method{Name: "cnmf"}
	}
	return spec.Method{Name: "nmf"}
}

// DefaultCluster returns the default clustering of a grouping: k-means by cosine distance.
func DefaultCluster() spec.Cluster { return spec.Cluster{Distance: cluster.DistanceCosine} }

// DefaultFeatures returns the default features: chosen by the images, or colours if the inputs are read in blocks.
func DefaultFeatures(inBlocks bool) spec.Features {
	if inBlocks {
		return spec.Features{Extractor: features.Pixels{Colour: true}}
	}
	return spec.Features{Auto: true}
}

// DefaultMethod returns the default method for the inputs. Network features and features with negative values are
// clustered directly, by propagated k-means.
func (g Groups) DefaultMethod(in *input.Inputs) spec.Method {
	if g.Cluster.By == spec.Largest || !in.OfNetwork() && !in.HasNegative() {
		return DefaultMethod(g.UseLabels)
	}
	return spec.Method{Name: cmp.Or(g.Cluster.By, "propagated-kmeans")}
}

// choosesCount reports whether the number of groups is chosen by the samples. Without a count, the default is the number
// of classes in the data, unless the classes are labels or fewer than two.
func (g Groups) choosesCount(count spec.GroupCount, classes []string) bool {
	if count == (spec.GroupCount{}) {
		return g.UseLabels || len(classes) < 2
	}
	return count.Auto
}

// countOf returns the number of labelled classes if the method gives samples no other group and count is not set, else
// count.From.
func (g Groups) countOf(count spec.GroupCount, set *datasets.Set, rows []int) int {
	by := []string{"eccf", "harmonic", "label-spreading", "logistic", "nearest-labelled", "self-training"}
	if count != (spec.GroupCount{}) || !g.UseLabels || !slices.Contains(by, g.Method.Name) && !slices.Contains(by, g.algorithm()) {
		return count.From
	}
	labels, _ := g.constraints(set).forRows(rows)
	return len(labels.classes)
}

// CheckCountOf is Check for a number of groups that may be chosen later.
func (g Groups) CheckCountOf(count spec.GroupCount, set *datasets.Set) error {
	if g.K = g.countOf(count, set, matrix.Range(set.Len())); g.K > 0 && count == (spec.GroupCount{}) || !g.choosesCount(count, set.Classes) {
		return g.Check(set)
	}
	numbers := []int{count.From, count.To}
	if count.To == 0 {
		least, _ := g.CountRange(set, matrix.Range(set.Len()))
		numbers = []int{least}
	}
	for _, g.K = range numbers {
		if err := g.Check(set); err != nil {
			return err
		}
	}
	return g.checkCount(set.Len())
}

// ChooseCount sets K. If it chooses K, it returns the curve, else nil.
func (g *Groups) ChooseCount(ctx context.Context, in *input.Inputs, count spec.GroupCount, progress input.Progress) (*CountCurve, error) {
	if g.K = g.countOf(count, in.Set, in.Rows); g.K > 0 && count == (spec.GroupCount{}) || !g.choosesCount(count, in.Set.Classes) {
		return nil, nil
	}
	from, to := count.From, count.To
	if to == 0 {
		from, to = g.CountRange(in.Set, in.Rows)
	}
	curve, err := g.CountCurve(ctx, in, from, to, progress)
	if err == nil {
		g.K = curve.K[curve.Best]
	}
	return curve, err
}

// ChooseRank sets Rank and returns the choice, or nil if the rank is given or not needed.
func (g *Groups) ChooseRank(ctx context.Context, in *input.Inputs, progress input.Progress) (*spec.RankChoice, error) {
	if g.Rank == nil || g.Rank.Auto == nil || spec.OnFeatures(g.Method.Name) {
		return nil, nil
	}
	c, err := ChooseRank(ctx, *g.Rank.Auto, in, g.Seed, progress)
	if err == nil {
		g.Rank = &spec.Rank{Fixed: true, Plus: c.Rank}
	}
	return c, err
}

// ChooseRank chooses the number of basis vectors of the inputs by NMF, without labels. It calls progress, which may be
// nil, with "choosing the rank" after each rank. A panic becomes an error.
func ChooseRank(ctx context.Context, a spec.AutoRank, in *input.Inputs, seed uint64, progress input.Progress) (*spec.RankChoice, error) {
	return input.Reported(ctx, progress, func(r *input.Reporter) (*spec.RankChoice, error) {
		if in.X == nil {
			return nil, errors.New("the rank cannot be chosen from batches: set rank")
		}
		if err := in.CheckRank(); err != nil {
			return nil, err
		}
		n, m := in.Dims()
		s := fitting.Problem{N: n, M: m, Weighted: in.IsWeighted()}
		s.Sparse, s.Stored = in.Density()
		release, err := memory.FromContext(ctx).Acquire(ctx, fitting.RankMemory(a, s), fmt.Sprintf("choosing the rank of %d samples of %d features", n, m))
		if err != nil {
			return nil, err
		}
		defer release()
		c, err := fitting.ChooseRank(ctx, a, in.X, rng.Seed(seed, "rank"), r.Of("choosing the rank"))
		return c, in.NameRows(err, nil)
	})
}
