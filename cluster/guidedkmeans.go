package cluster

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/logistic"
)

const (
	defaultGuidance = 80
	guideC          = 100
)

// GuidedKMeans is constrained k-means in which a classifier of the labelled samples has a
// say. The rows z_i are the samples at length 1, less their mean, at length 1 again. With
// p(c|z) the probabilities of a logistic regression of the labelled rows (C = 100) it finds
// clusters y and directions u that lower
//
//	Σ_i (Guidance/q)·(1 − z_i·u_{y_i}) − log p(y_i|z_i)
//
// by turns, from the regression's classes, where labelled samples keep theirs. q is the
// number of labelled samples a cluster: the classifier is trusted more the more labels it
// learned from. No turn raises the objective. So clusters are those that the samples make
// where few labels are known, and the classifier's where many are: a generative and a
// discriminative part side by side, as in Raina, Shen, Ng and McCallum 2003.
//
// K and MaxIterations mean what they mean in KMeans; the answer depends on no random
// number. Where a cluster has no labelled sample, it is ConstrainedKMeans under the cosine
// distance.
type GuidedKMeans struct {
	KMeans
	// Guidance is what 1 − cos counts beside the logarithm of a probability, where one
	// sample a cluster is labelled; 0 means 80.
	Guidance float64
}

// Fit clusters the rows of x, n×m, under labels, which are as in SeededKMeans.Fit. Sparse
// rows are copied to dense ones. Centres are the directions of the sums of unit samples.
func (g GuidedKMeans) Fit(ctx context.Context, x mat.Matrix, labels []int) (*Result, error) {
	g.Distance = DistanceCosine
	result, err := g.fit(ctx, x, labels)
	if err != nil {
		return nil, fmt.Errorf("guided k-means: %w", err)
	}
	return result, nil
}

func (g GuidedKMeans) fit(ctx context.Context, x mat.Matrix, labels []int) (*Result, error) {
	s, err := readSamples(x, g.Distance)
	if err != nil {
		return nil, err
	}
	if err := checkSizes(s.n, g.K, g.restarts(), g.MaxIterations); err != nil {
		return nil, err
	}
	known, err := newSeeds(s.n, g.K, labels, true)
	if err != nil {
		return nil, err
	}
	if len(known.open) > 0 {
		return g.fitSeeded(ctx, x, labels, true)
	}
	if g.Guidance == 0 {
		g.Guidance = defaultGuidance
	}
	z := s.centred()
	told, toldLabels := mat.NewDense(s.n-len(known.free), s.m, nil), []int(nil)
	for i, c := range labels {
		if c >= 0 {
			told.SetRow(len(toldLabels), z.RawRowView(i))
			toldLabels = append(toldLabels, c)
		}
	}
	guide, err := logistic.Regression{C: guideC}.Fit(ctx, told, toldLabels, g.K)
	if err != nil {
		return nil, err
	}
	says := guide.LogProbabilities(z)
	weight := g.Guidance * float64(g.K) / float64(len(toldLabels))
	r := &Result{Centres: mat.NewDense(g.K, s.m, nil)}
	next := make([]int, s.n)
	choose := func(scores *mat.Dense) (objective float64) {
		for i := range next {
			row := scores.RawRowView(i)
			if next[i] = known.kept(i); next[i] < 0 {
				next[i] = floats.MaxIdx(row)
			}
			objective += weight - row[next[i]]
		}
		return objective
	}
	choose(says)
	scores := mat.NewDense(s.n, g.K, nil)
	for most := orDefault(g.MaxIterations, defaultMaxIterations); r.Iterations < most && !slices.Equal(next, r.Labels); r.Iterations++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.Labels = append(r.Labels[:0], next...)
		directions(r.Centres, r.Labels, func(dst []float64, i int) { floats.Add(dst, z.RawRowView(i)) })
		scores.Copy(says)
		blas.Gemm(blas.NoTrans, blas.Trans, weight, z.RawMatrix(), r.Centres.RawMatrix(), 1, scores.RawMatrix())
		r.Objective = choose(scores)
	}
	copy(r.Labels, next)
	directions(r.Centres, r.Labels, func(dst []float64, i int) { s.addColumns(dst, s.weights[i], i, 0) })
	return r, nil
}

// directions sets each row of centres to the direction of the sum of the samples with its
// label, which add adds to dst.
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

// centred returns the rows at length 1, less their mean, at length 1 again. Those of which
// nothing is left are 0.
func (s *samples) centred() *mat.Dense {
	z := mat.NewDense(s.n, s.m, nil)
	mean := make([]float64, s.m)
	for i := range s.n {
		row := z.RawRowView(i)
		s.addColumns(row, s.weights[i], i, 0)
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

// toUnit brings a row that is not 0 to length 1.
func toUnit(row []float64) {
	if length := norm(row); length > 0 {
		floats.Scale(1/length, row)
	}
}
