package pipeline

import (
	"cmp"
	"context"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
)

// DefaultMethod returns the method of a grouping that names none, before features are known: nmf,
// or cnmf where labels are given. See Groups.DefaultMethod.
func DefaultMethod(labelled bool) Method {
	if labelled {
		return Method{Name: "cnmf"}
	}
	return Method{Name: "nmf"}
}

// DefaultCluster returns how a grouping clusters unless told otherwise: k-means by cosine distance.
func DefaultCluster() Cluster { return Cluster{Distance: cluster.DistanceCosine} }

// DefaultFeatures returns the features of a grouping that names none: those that suit the images,
// and colours where the images are read in blocks.
func DefaultFeatures(inBlocks bool) Features {
	if inBlocks {
		return Features{Extractor: features.Pixels{Colour: true}}
	}
	return Features{Auto: true}
}

// DefaultMethod returns the method for inputs where neither a method nor a rank is given. Features
// of a network, and values below 0, are clustered as they are: by k-means, or guided k-means where
// labels or links are given.
func (g Groups) DefaultMethod(in *Inputs) Method {
	guided := g.UseLabels || !g.Links.None()
	switch {
	case g.Cluster.By == Largest || !in.Features.OfNetwork() && !in.HasNegative():
		return DefaultMethod(g.UseLabels)
	case guided:
		return Method{Name: cmp.Or(g.Cluster.By, "guided-kmeans")}
	}
	return Method{Name: cmp.Or(g.Cluster.By, KMeans)}
}

// ChoosesCount tells whether the number of groups is chosen by the samples. Without a count it is
// the number of the data's classes, unless these are given as labels or are fewer than two.
func (g Groups) ChoosesCount(count GroupCount, classes []string) bool {
	if count == (GroupCount{}) {
		return g.UseLabels || len(classes) < 2
	}
	return count.Auto
}

// CheckCountOf is Check for a number of groups that may be chosen later.
func (g Groups) CheckCountOf(count GroupCount, set *datasets.Set) error {
	g.K = count.From
	if !g.ChoosesCount(count, set.Classes) {
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
	return g.CheckCount(set.Len())
}

// ChooseCount sets K, by the largest gap of eigenvalues where the number is to be chosen. The curve
// is nil where it is not.
func (g *Groups) ChooseCount(ctx context.Context, in *Inputs, count GroupCount, progress Progress) (*CountCurve, error) {
	g.K = count.From
	if !g.ChoosesCount(count, in.Set.Classes) {
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

// ChooseRank sets Rank where it is to be chosen by the samples. The choice is nil where it is not.
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
