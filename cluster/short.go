package cluster

import (
	"context"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// laidOut are dense rows that are laid out once for their products with points.
type laidOut struct {
	dense
	kept *blas.Kept[float64] // its columns are the rows
}

func (x laidOut) dotsByPoint(out []float64, stride, lo, hi int, points blas.Matrix) {
	x.kept.MultiplyColumns(blas.NoTrans, blas.Of[float64](points), blas.Of[float64]{Rows: points.Rows, Cols: hi - lo, Stride: stride, Data: out}, lo)
}

// Rows of at most shortest values, and at most mostLaidOut in all, are compared with all centres in every iteration,
// which takes less than bounds do, or more on a processor without vector instructions that we use.
const (
	shortest    = 64
	mostLaidOut = 2 << 20
)

// layOut lays out rows that are short.
func (s *samples) layOut() {
	if x, whole := s.rowReader.(dense); whole && simd.Instructions() != "" && s.m <= shortest && s.n > s.m && s.n*s.m <= mostLaidOut {
		s.rowReader = laidOut{x, blas.Keep(blas.Trans, blas.Of[float64](x.RawMatrix()))}
	}
}

// scored are the scores of all samples with the centres that they were last compared with.
type scored struct {
	products      []float64 // of a panel, K×panelRows
	ones          []float64
	longest       float64
	least, second []float64 // of the scores of each sample; the least is infinite where it says nothing
}

func newScored(s *samples, k int) *scored {
	return &scored{
		products: make([]float64, k*panelRows), ones: slices.Repeat([]float64{1}, k), longest: slices.Max(s.norms),
		least: make([]float64, s.n), second: make([]float64, s.n),
	}
}

// forget is called when samples are in other clusters than those they were found nearest to.
func (s *scored) forget() {
	for i := range s.least {
		s.least[i] = math.Inf(1)
	}
}

// assignShort is assign without links, by the scores of all samples.
func (l *lloyd) assignShort(ctx context.Context) error {
	s, limit := l.scored, l.centres.slack.of(l.scored.longest)
	for lo := 0; lo < l.n; lo += panelRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+panelRows, l.n)
		labels, least, second := l.labels[lo:hi], s.least[lo:hi], s.second[lo:hi]
		l.dotsByPoint(s.products, panelRows, lo, hi, l.centres.points)
		simd.LeastRows(labels, least, second, s.products, panelRows, s.ones, l.centres.offsets)
		for a, to := range labels {
			if second[a]-least[a] <= limit {
				scores := l.scores[:l.K]
				for j, offset := range l.centres.offsets {
					scores[j] = offset - s.products[j*panelRows+a]
				}
				to, least[a] = l.nearest(lo+a, scores), math.Inf(1)
			}
			if kept := l.seeds.kept(lo + a); kept >= 0 {
				to = kept
			}
			labels[a] = to
			l.counts[to]++
		}
	}
	return nil
}

// settledShort is settled, by scores.
func (l *lloyd) settledShort(i, shortestSum int) bool {
	s := l.scored
	if math.IsInf(s.least[i], 1) {
		return false
	}
	slack := l.by[i] * l.centres.slack.of(l.norms[i])
	out := l.leaving(l.labels[i], l.first[i]+l.by[i]*s.least[i]+slack)
	return l.joining(shortestSum, max(l.first[i]+l.by[i]*s.second[i]-slack, 0)) >= out // it costs more to join a longer sum
}
