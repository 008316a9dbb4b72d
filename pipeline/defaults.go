package pipeline

import (
	"cmp"
	"context"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
)

// DefaultMethod returns the default method before the features are known: nmf, or cnmf with labels. See
// Groups.DefaultMethod.
func DefaultMethod(labelled bool) Method {
	if labelled {
		return Method{Name: "cnmf"}
	}
	return Method{Name: "nmf"}
}

// DefaultCluster returns the default clustering of a grouping: k-means by cosine distance.
func DefaultCluster() Cluster { return Cluster{Distance: cluster.DistanceCosine} }

// DefaultFeatures returns the default features of a grouping: chosen by the images, or colours in blocks.
func DefaultFeatures(inBlocks bool) Features {
	if inBlocks {
		return Features{Extractor: features.Pixels{Colour: true}}
	}
	return Features{Auto: true}
}

// DefaultMethod returns the default method for the inputs. Features of a network, and values below 0, are
// clustered as they are: by k-means, or guided k-means with labels or links.
func (g Groups) DefaultMethod(in *Inputs) Method {
	switch {
	case g.Cluster.By == Largest || !in.Features.OfNetwork() && !in.HasNegative():
		return DefaultMethod(g.UseLabels)
	case g.given():
		return Method{Name: cmp.Or(g.Cluster.By, "guided-kmeans")}
	}
	return Method{Name: cmp.Or(g.Cluster.By, KMeans)}
}

// choosesCount tells whether the samples choose the number of groups. Without a count it is the number of the
// data's classes, unless these are labels or fewer than two.
func (g Groups) choosesCount(count GroupCount, classes []string) bool {
	if count == (GroupCount{}) {
		return g.UseLabels || len(classes) < 2
	}
	return count.Auto
}

// CheckCountOf is Check for a number of groups that may be chosen later.
func (g Groups) CheckCountOf(count GroupCount, set *datasets.Set) error {
	g.K = count.From
	if !g.choosesCount(count, set.Classes) {
		return g.Check(set)
	}
	numbers := []int{count.From, count.To}
	if count.To == 0 {
		least, _ := g.CountRange(set, allOf(set.Len()))
		numbers = []int{least}
	}
	for _, g.K = range numbers {
		if err := g.Check(set); err != nil {
			return err
		}
	}
	return g.checkCount(set.Len())
}

// ChooseCount sets K, by the largest gap of eigenvalues if the samples choose it. Otherwise the curve is nil.
func (g *Groups) ChooseCount(ctx context.Context, in *Inputs, count GroupCount, progress Progress) (*CountCurve, error) {
	g.K = count.From
	if !g.choosesCount(count, in.Set.Classes) {
		return nil, nil
	}
	from, to := count.From, count.To
	if to == 0 {
		from, to = g.CountRange(in.Set, in.Rows)
	}
	curve, err := g.CountCurve(ctx, in, from, to, progress)
	if err == nil {
		g.K = curve.K[curve.Best()]
	}
	return curve, err
}

// ChooseRank sets Rank if the samples choose it. Otherwise the choice is nil.
func (g *Groups) ChooseRank(ctx context.Context, in *Inputs, progress Progress) (*RankChoice, error) {
	if g.Rank == nil || g.Rank.Auto == nil || OnFeatures(g.Method.Name) {
		return nil, nil
	}
	c, err := ChooseRank(ctx, *g.Rank.Auto, in, g.Seed, progress)
	if err == nil {
		g.Rank = &Rank{Fixed: true, Plus: c.Rank}
	}
	return c, err
}
