package cluster

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/logistic"
)

const defaultGuidance, guideC = 80, 100

// GuidedKMeans is constrained k-means combined with a logistic regression of the labelled samples, a generative
// and a discriminative part as in Raina, Shen, Ng and McCallum 2003. The rows z_i are the samples at length 1,
// less their mean, at length 1 again. With the probabilities p(c|z) of the regression (C = 100) it lowers
//
//	Σ_i (Guidance/q)·(1 − z_i·u_{y_i}) − log p(y_i|z_i)
//
// in the clusters y and directions u alternately, from the regression's classes. q is the number of labelled
// samples a cluster: the more labels, the more the classifier counts. The answer depends on no random number.
// Where a cluster has no labelled sample, it is ConstrainedKMeans under the cosine distance.
type GuidedKMeans struct {
	KMeans
	// Guidance is what 1 − cos counts beside the logarithm of a probability, where one sample a cluster is
	// labelled; 0 means 80.
	Guidance float64
}

func (g GuidedKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	g.K, g.Seed = clusters, seed
	return g.Fit(ctx, x, known)
}

func (g GuidedKMeans) Memory(s Size) float64 {
	n, m, clusters := float64(s.N), float64(s.M), float64(s.K)
	return g.KMeans.Memory(s) + 16*n*m + 40*n*clusters + 200*clusters*m
}

// Fit clusters the rows of x, n×m, under labels and links; the regression learns of samples that must link to
// labelled ones too. Centres are the directions of the sums of the samples at length 1.
func (g GuidedKMeans) Fit(ctx context.Context, x mat.Matrix, known Known) (_ *Result, err error) {
	defer wrap(&err, "guided k-means")
	g.Distance = DistanceCosine
	s, err := readSamples(x, g.Distance)
	if err != nil {
		return nil, err
	}
	if err := checkSizes(s.n, g.K, g.restarts(), g.MaxIterations); err != nil {
		return nil, err
	}
	u, err := newUnits(s.n, g.K, known)
	if err != nil {
		return nil, err
	}
	var given, givenLabels []int
	for i, at := range u.of {
		if c := u.fixed[at]; c >= 0 {
			given, givenLabels = append(given, i), append(givenLabels, c)
		}
	}
	for c := range g.K {
		if !slices.Contains(u.fixed, c) {
			return ConstrainedKMeans{g.KMeans}.Fit(ctx, x, known)
		}
	}
	z := s.centred()
	guide, err := logistic.Regression{C: guideC}.Fit(ctx, rowsOf(z, given), givenLabels, g.K)
	if err != nil {
		return nil, err
	}
	weight := cmp.Or(g.Guidance, defaultGuidance) * float64(g.K) / float64(len(given))
	extra := guide.LogProbabilities(z)
	extra.Scale(-1/weight, extra)
	from := guide.Classify(z)
	for at, i := range given {
		from[i] = givenLabels[at]
	}
	result, err := ConstrainedKMeans{g.KMeans}.fitLinked(ctx, z, known, from, extra)
	if err != nil {
		return nil, err
	}
	for i, c := range result.Labels {
		result.Objective += extra.At(i, c)
	}
	result.Objective *= weight
	directions(result.Centres, result.Labels, func(dst []float64, i int) { s.addTo(dst, s.weights[i], i) })
	return result, nil
}

// rowsOf returns a copy of some rows of x.
func rowsOf(x *mat.Dense, rows []int) *mat.Dense {
	_, m := x.Dims()
	out := mat.NewDense(len(rows), m, nil)
	for at, i := range rows {
		out.SetRow(at, x.RawRowView(i))
	}
	return out
}

// directions sets each row of centres to the direction of the sum of the samples with its label, which add
// adds.
func directions(centres *mat.Dense, labels []int, add func(dst []float64, i int)) {
	centres.Zero()
	for i, c := range labels {
		add(centres.RawRowView(c), i)
	}
	k, _ := centres.Dims()
	for c := range k {
		toUnit(centres.RawRowView(c))
	}
}

// centred returns the rows at length 1, less their mean, at length 1 again; 0 where nothing is left.
func (s *samples) centred() *mat.Dense {
	z := mat.NewDense(s.n, s.m, nil)
	mean := make([]float64, s.m)
	for i := range s.n {
		row := z.RawRowView(i)
		s.addTo(row, s.weights[i], i)
		floats.AddScaled(mean, 1/float64(s.n), row)
	}
	for i := range s.n {
		row := z.RawRowView(i)
		floats.Sub(row, mean)
		const nothing = 1e-12 // beside the length 1 that it had
		if norm(row) < nothing {
			clear(row)
		}
		toUnit(row)
	}
	return z
}

func toUnit(row []float64) {
	if length := norm(row); length > 0 {
		floats.Scale(1/length, row)
	}
}
