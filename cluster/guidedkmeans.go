package cluster

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/logistic"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

const defaultGuidance, guideC = 80, 100

// GuidedKMeans is constrained k-means combined with a logistic regression on the labelled samples, a hybrid of
// generative and discriminative models (Raina, Shen, Ng and McCallum 2003). The rows z_i are the samples scaled to unit
// length, centred, and scaled to unit length again. With the class probabilities p(c|z) of the regression (C = 100) it
// minimises
//
//	Σ_i (Guidance/q)·(1 − z_i·u_{y_i}) − log p(y_i|z_i)
//
// over the clusters y and directions u in turn, starting at the regression's classes. q is the mean number of labelled
// samples per cluster, so the classifier's weight grows with the labels. The result does not depend on the seed. If a
// cluster has no labelled sample, Fit is ConstrainedKMeans under the cosine distance.
type GuidedKMeans struct {
	KMeans
	// Guidance is the weight of 1 − cos relative to the log probability, for one labelled sample per cluster; 0
	// means 80.
	Guidance float64
}

// Cluster implements [Clusterer].
func (g GuidedKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	g.K, g.Seed = clusters, seed
	return g.Fit(ctx, x, known)
}

func (g GuidedKMeans) Memory(s Size) float64 {
	n, m, clusters := float64(s.N), float64(s.M), float64(s.K)
	return g.KMeans.Memory(s) + 16*n*m + 40*n*clusters + 200*clusters*m
}

// Fit clusters the rows of x, n×m, under labels and links. Samples with a must-link to a labelled sample also train the
// regression. Centres are the unit directions of the sums of the samples scaled to unit length.
func (g GuidedKMeans) Fit(ctx context.Context, x mat.Matrix, known Known) (_ *Result, err error) {
	return g.fit(ctx, x, known, nil)
}

// fit is Fit with more features for the regression, if more is not nil.
func (g GuidedKMeans) fit(ctx context.Context, x mat.Matrix, known Known, more *mat.Dense) (_ *Result, err error) {
	defer guard.CatchWithin(&err, "guided k-means")
	g.Distance = DistanceCosine
	s := guard.Must(readSamples(x, g.Distance))
	guard.Check(checkSizes(s.n, g.K, g.restarts(), g.MaxIterations))
	u := guard.Must(newUnits(s.n, g.K, known))
	labels := u.ofSamples(u.fixed)
	given := links.Labelled(labels)
	for c := range g.K {
		if !slices.Contains(u.fixed, c) {
			return ConstrainedKMeans{g.KMeans}.Fit(ctx, x, known)
		}
	}
	z := s.centred()
	described := z
	if more != nil {
		described = &mat.Dense{}
		described.Augment(z, more)
	}
	guide := guard.Must(logistic.Regression{C: guideC}.Fit(ctx, rowsOf(described, given), matrix.Take(labels, given), g.K))
	weight := cmp.Or(g.Guidance, defaultGuidance) * float64(g.K) / float64(len(given))
	extra := guide.LogProbabilities(described)
	extra.Scale(-1/weight, extra)
	from := guide.Classify(described)
	for _, i := range given {
		from[i] = labels[i]
	}
	result := guard.Must(ConstrainedKMeans{g.KMeans}.fitLinked(ctx, z, known, from, extra))
	for i, c := range result.Labels {
		result.Objective += extra.At(i, c)
	}
	result.Objective *= weight
	directions(result.Centres, result.Labels, func(dst []float64, i int) { s.addTo(dst, s.weights[i], i) })
	return result, nil
}

// rowsOf returns a copy of the given rows of x.
func rowsOf(x *mat.Dense, rows []int) *mat.Dense {
	return matrix.SelectRows(x, rows).(*mat.Dense)
}

// directions sets each row of centres to the unit direction of the sum of the samples with its label. add adds sample i
// to dst.
func directions(centres *mat.Dense, labels []int, add func(dst []float64, i int)) {
	centres.Zero()
	for i, c := range labels {
		add(centres.RawRowView(c), i)
	}
	unitRows(centres)
}

func unitRows(x *mat.Dense) {
	n, _ := x.Dims()
	for i := range n {
		toUnit(x.RawRowView(i))
	}
}

// centred returns the rows scaled to unit length, centred, and scaled to unit length again; 0 for rows at the mean.
func (s *samples) centred() *mat.Dense { return s.centredBy(s.mean()) }

// mean returns the mean of the rows scaled to unit length.
func (s *samples) mean() []float64 {
	mean, row := make([]float64, s.m), make([]float64, s.m)
	for i := range s.n {
		clear(row)
		s.addTo(row, s.weights[i], i)
		floats.AddScaled(mean, 1/float64(s.n), row)
	}
	return mean
}

// centredBy is centred with a given mean.
func (s *samples) centredBy(mean []float64) *mat.Dense {
	z := mat.NewDense(s.n, s.m, nil)
	_ = parallel.Blocks(context.Background(), 0, s.n, 32, func(_, from, to int) { // cannot fail
		for i := from; i < to; i++ {
			row := z.RawRowView(i)
			s.addTo(row, s.weights[i], i)
			floats.Sub(row, mean)
			const nothing = 1e-12 // rounding error of a row of length 1
			if norm(row) < nothing {
				clear(row)
			}
			toUnit(row)
		}
	})
	return z
}

func toUnit(row []float64) {
	if length := norm(row); length > 0 {
		floats.Scale(1/length, row)
	}
}
