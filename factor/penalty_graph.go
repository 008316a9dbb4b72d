package factor

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// Graph is the penalty λ·tr(VᵀLV) = λ/2·Σ S_ij·‖v_i − v_j‖² of a graph over the
// samples (Cai et al. 2011, eq. 6): neighbours in X are held near each other in
// V. It has no minimum: V shrunk and the basis grown by the same factor fit the
// data as well and are penalised less, so what comes out depends on the number
// of iterations.
type Graph struct {
	// Lambda is the weight; 0 means 100, WeightNone means no penalty. It is to be
	// seen against the size of the data: 100 is strong on samples of unit
	// length and nothing on pixels from 0 to 255.
	Lambda float64 `setting:"lambda" default:"100" help:"weight λ of the graph"`
	Neighbourhood
	// LabelEdges replaces the edges between labelled samples: 1 between those
	// of one class, 0 between those of different ones (Semi-GNMF).
	LabelEdges bool `setting:"label-edges" help:"the labels' edges in place of the neighbourhood's"`
	// Similarity, if set, is the symmetric n×n graph S itself, in place of the
	// neighbourhood's.
	Similarity *CSR
}

// OnBasis implements [Penalty].
func (Graph) OnBasis() bool { return false }

// Needs says what the penalty needs.
func (g Graph) Needs() Needs { return Needs{Labels: g.LabelEdges, TiesLabels: g.LabelEdges} }

// Memory returns about how many bytes the penalty takes.
func (g Graph) Memory(s Size) int64 { return view.Bytes(s.graph(g.Neighbourhood)) }

// Bind implements [Penalty].
func (g Graph) Bind(ctx context.Context, p Problem) (BoundPenalty, error) {
	lambda := orDefault(g.Lambda, 100)
	if err := view.CheckWeight("lambda", lambda); err != nil {
		return nil, err
	}
	n, _ := p.data.Dims()
	s := g.Similarity
	if s == nil {
		var err error
		if s, err = g.Neighbourhood.graph(ctx, p.data); err != nil {
			return nil, err
		}
	} else if err := checkSimilarity(s, n); err != nil {
		return nil, err
	}
	if g.LabelEdges {
		if len(p.Known.Labels) == 0 {
			return nil, fmt.Errorf("edges by label need the labels of some samples, and none are known")
		}
		s = labelEdges(s, p.Known.Labels)
	}
	return newLaplacian(s, lambda), nil
}

func checkSimilarity(s *CSR, n int) error {
	if r, c := s.Dims(); r != n || c != n {
		return fmt.Errorf("the graph is %d×%d for %d samples", r, c, n)
	}
	for i := range n {
		cols, vals := s.Row(i)
		for p, j := range cols {
			if err := view.CheckWeight(fmt.Sprintf("the weight of the graph's edge %d–%d", i, j), vals[p]); err != nil {
				return err
			}
			if s.At(j, i) != vals[p] {
				return fmt.Errorf("the graph is not symmetric: the edge %d–%d has the weights %v and %v", i, j, vals[p], s.At(j, i))
			}
		}
	}
	return nil
}

// laplacian is λ·tr(θLθᵀ), L = D − S, of a graph over the columns of θ.
type laplacian struct {
	s      *CSR
	degree []float64
	lambda float64
}

func newLaplacian(s *CSR, lambda float64) *laplacian {
	n, _ := s.Dims()
	l := &laplacian{s: s, degree: make([]float64, n), lambda: lambda}
	for i := range n {
		_, vals := s.Row(i)
		for _, x := range vals {
			l.degree[i] += x
		}
	}
	return l
}

// Gradient is λ·θ·D − λ·θ·S.
func (l *laplacian) Gradient(positive, negative, theta *mat.Dense, scale float64) {
	w := scale * l.lambda
	l.eachFour(theta, func(r, count int, rows [4][]float64) {
		a, b, c, d := rows[0], rows[1], rows[2], rows[3]
		var neg, pos [4][]float64
		for q := range count {
			neg[q], pos[q] = negative.RawRowView(r+q), positive.RawRowView(r+q)
		}
		for i, degree := range l.degree {
			var sums [4]float64
			cols, vals := l.s.Row(i)
			for p, j := range cols {
				v := vals[p]
				sums[0] += v * a[j]
				sums[1] += v * b[j]
				sums[2] += v * c[j]
				sums[3] += v * d[j]
			}
			for q := range count {
				neg[q][i] += w * sums[q]
				pos[q][i] += w * degree * rows[q][i]
			}
		}
	})
}

// eachFour calls f with four rows of θ at a time, several calls at once where they are much
// work, so that an edge is read once for four: with the first row's number, and how many
// there are. At the end the last stands for those that are missing.
func (l *laplacian) eachFour(theta *mat.Dense, f func(r, count int, rows [4][]float64)) {
	k, n := theta.Dims()
	parallel.DoWork(edgeWork*k*n, parallel.Count(k, 4), func(part int) {
		var rows [4][]float64
		for q := range rows {
			rows[q] = theta.RawRowView(min(4*part+q, k-1))
		}
		f(4*part, min(4, k-4*part), rows)
	})
}

// edgeWork is how many multiplications take as long as the edges of a sample.
const edgeWork = 64

func (l *laplacian) Root(c Cost) bool { return !c.Quadratic() }

func (l *laplacian) Diagonal(dst []float64, scale float64) {
	algebra.Axpy(scale*l.lambda, l.degree, dst)
}

func (l *laplacian) Value(theta *mat.Dense) float64 {
	k, _ := theta.Dims()
	sums := make([]float64, k)
	l.eachFour(theta, func(r, count int, rows [4][]float64) {
		a, b, c, d := rows[0], rows[1], rows[2], rows[3]
		var four [4]float64
		for i := range l.degree {
			x, y, z, t := a[i], b[i], c[i], d[i]
			cols, vals := l.s.Row(i)
			for p, j := range cols {
				v := vals[p]
				four[0] += v * (x - a[j]) * (x - a[j])
				four[1] += v * (y - b[j]) * (y - b[j])
				four[2] += v * (z - c[j]) * (z - c[j])
				four[3] += v * (t - d[j]) * (t - d[j])
			}
		}
		copy(sums[r:r+count], four[:])
	})
	var sum float64
	for _, s := range sums {
		sum += s
	}
	return l.lambda * sum / 2
}

// Row implements [CoordinatePenalty].
func (l *laplacian) Row(row []float64) PenaltyRow {
	return PenaltyRow{Gradient: func(i int) float64 {
		var sum float64
		cols, vals := l.s.Row(i)
		for p, j := range cols {
			sum += vals[p] * (row[i] - row[j])
		}
		return l.lambda * sum
	}}
}
