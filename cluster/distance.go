package cluster

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// Distance is the distance between two samples, or a sample and a centre.
type Distance int

const (
	// DistanceEuclidean is ‖x − y‖² in objectives, and ‖x − y‖ in reported distances.
	DistanceEuclidean Distance = iota
	// DistanceCosine is 1 − xᵀy/(‖x‖‖y‖). A row of zeros has distance 1 from every point.
	DistanceCosine
)

var distances = enum.Of[Distance]("distance", "euclidean", "cosine")

// String returns the name of the distance in settings.
func (d Distance) String() string                   { return distances.String(d) }
func (d *Distance) UnmarshalText(name []byte) error { return distances.UnmarshalText(d, name) }
func (Distance) Values() []string                   { return distances.Values() }

// length converts a cost to a reported distance: ‖x − y‖ or 1 − cos.
func (d Distance) length(cost float64) float64 {
	if d == DistanceEuclidean {
		return math.Sqrt(cost)
	}
	return cost
}

const epsilon = 0x1p-52

// between returns the cost of row x at centre y: ‖x − y‖², or 1 − cos, which is 0 within rounding; wx and wy are inverse
// lengths. The order of the sum depends only on the number of columns.
func (d Distance) between(x []float64, wx float64, y []float64, wy float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	j := 0
	if d == DistanceEuclidean {
		for ; j+4 <= len(x); j += 4 {
			s0, s1 = s0+(x[j]-y[j])*(x[j]-y[j]), s1+(x[j+1]-y[j+1])*(x[j+1]-y[j+1])
			s2, s3 = s2+(x[j+2]-y[j+2])*(x[j+2]-y[j+2]), s3+(x[j+3]-y[j+3])*(x[j+3]-y[j+3])
		}
		for ; j < len(x); j++ {
			s0 += (x[j] - y[j]) * (x[j] - y[j])
		}
		return s0 + s1 + s2 + s3
	}
	for ; j+4 <= len(x); j += 4 {
		s0, s1, s2, s3 = s0+x[j]*y[j], s1+x[j+1]*y[j+1], s2+x[j+2]*y[j+2], s3+x[j+3]*y[j+3]
	}
	for ; j < len(x); j++ {
		s0 += x[j] * y[j]
	}
	cost := 1 - wx*wy*(s0+s1+s2+s3)
	if cost < float64(len(x)+4)*epsilon {
		return 0
	}
	return cost
}

// targets are points to compare rows with. Scores have the order of distances: ½‖y‖² − xᵀy, or −xᵀy for unit y under
// the cosine distance.
type targets struct {
	distance Distance
	points   blas.Matrix // unit rows, or zeros, under the cosine distance
	offsets  []float64   // ½‖y‖², or 0 under the cosine distance
	longest  float64     // the largest ‖y‖
}

func newTargets(d Distance, n, m int) *targets {
	points := blas.Matrix{Rows: n, Cols: m, Stride: m, Data: make([]float64, n*m)}
	return &targets{distance: d, points: points, offsets: make([]float64, n)}
}

func (t *targets) point(j int) []float64 {
	return t.points.Data[j*t.points.Stride : j*t.points.Stride+t.points.Cols]
}

// fill sets the points to rows of s times their weights. There must be at most as many as in newTargets.
func (t *targets) fill(s *samples, rows []int) {
	t.points.Rows = len(rows)
	for j, i := range rows {
		clear(t.point(j))
		s.addTo(t.point(j), s.weights[i], i)
	}
	t.prepare()
}

// prepare updates offsets and longest after a change of the points.
func (t *targets) prepare() {
	t.longest = 0
	for j := range t.points.Rows {
		length := norm(t.point(j))
		if t.longest = max(t.longest, length); t.distance == DistanceEuclidean {
			t.offsets[j] = length * length / 2
		}
	}
}

// slack bounds the rounding error of differences of scores for a row of the given length. A sum of m products, in any
// order, has an error of at most mε/2 times the product of the lengths.
func (t *targets) slack(length float64) float64 {
	products := length * t.longest
	if t.distance == DistanceEuclidean {
		products += t.longest * t.longest
	}
	return float64(t.points.Cols+4) * epsilon * products
}

// score writes the scores of the given rows, rows×points, to out.
func (t *targets) score(out []float64, s *samples, rows []int) {
	s.dots(out, rows, t.points)
	panel.Scores(out[:len(rows)*t.points.Rows], t.offsets[:t.points.Rows])
}

// panelRows is the number of rows of one matrix product.
const panelRows = 5 * blas.ColumnUnit

// Nearest returns, for every row of x, the indices of the k nearest rows of points, in order of distance; ties are
// ordered by row. Values must be finite. Matrices other than *mat.Dense and *sparse.CSR are copied.
func Nearest(ctx context.Context, d Distance, x, points mat.Matrix, k int) (_ [][]int, err error) {
	defer guard.Catch(&err)
	rows, err := readSamples(x, d)
	guard.Check(guard.Wrap(err, "nearest points: samples"))
	to, err := readSamples(points, d)
	guard.Check(guard.Wrap(err, "nearest points: points"))
	guard.FailIf(rows.m != to.m, "nearest points: samples have %d columns, but points have %d", rows.m, to.m)
	guard.FailIf(k < 1 || k > to.n, "nearest points: %d neighbours requested of %d points", k, to.n)
	nearest := make([][]int, rows.n)
	among := min(max(panelRows, 1<<18/to.m), to.n) // points per block
	block := newTargets(d, among, to.m)
	size := min(panelRows, rows.n)
	if among < to.n { // every panel fills the blocks again
		size = min(max(size, 1<<21/to.n), rows.n)
	}
	scores := make([]float64, size*to.n)
	part := scores
	if among < to.n {
		part = make([]float64, size*among)
	}
	return nearest, panel.Each(ctx, rows.n, size, func(lo, hi int) error {
		longest := 0.0
		for first := 0; first < to.n; first += among {
			last := min(first+among, to.n)
			if among < to.n || lo == 0 {
				block.fill(to, to.all[first:last])
			}
			longest = max(longest, block.longest)
			block.score(part, rows, rows.all[lo:hi])
			for i := range hi - lo { // onto itself, of one block
				copy(scores[i*to.n+first:], part[i*(last-first):(i+1)*(last-first)])
			}
		}
		block.longest = longest
		const rowsAtOnce = 32
		return parallel.Blocks(ctx, 0, hi-lo, rowsAtOnce, func(_, from, end int) {
			s := nearestSearch{rows: rows, to: to, k: k, row: make([]float64, to.m), other: make([]float64, to.m)}
			for i := from; i < end; i++ {
				nearest[lo+i] = s.choose(lo+i, scores[i*to.n:(i+1)*to.n], block.slack(rows.norms[lo+i]))
			}
		})
	})
}

// nearestSearch holds the buffers of a goroutine.
type nearestSearch struct {
	rows, to   *samples
	k          int
	row, other []float64
	least      []float64     // the k lowest scores
	found      []topk.Scored // candidates within rounding of the k nearest
}

// choose returns the k nearest points of row i by score. If scores differ by rounding at most, it compares
// distances.
func (s *nearestSearch) choose(i int, scores []float64, rounding float64) []int {
	s.least, s.found = topk.Within(scores, s.k, rounding, s.least, s.found)
	found := s.found
	slices.SortFunc(found, topk.Scored.Compare)
	for at := 1; at < len(found); at++ {
		if found[at].Score-found[at-1].Score <= rounding {
			row := s.rows.row(i, s.row)
			for at, f := range found {
				found[at].Score = s.rows.distance.between(row, s.rows.weights[i], s.to.row(f.Row, s.other), s.to.weights[f.Row])
			}
			slices.SortFunc(found, topk.Scored.Compare)
			break
		}
	}
	return lists.Map(found[:s.k], func(f topk.Scored) int { return f.Row })
}
