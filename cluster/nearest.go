package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// panelRows is how many rows are compared with the points in one matrix product.
const panelRows = 5 * blas.ColumnUnit

// Nearest returns for every row of x, n×m, the k nearest rows of points, p×m, the nearest first and ties to the
// lower row. Both matrices are dense or a *sparse.CSR; others are copied. It is an error if k is not within 1
// and p, or if a row holds a value that is not finite.
func Nearest(ctx context.Context, d Distance, x, points mat.Matrix, k int) ([][]int, error) {
	rows, err := readSamples(x, d)
	if err != nil {
		return nil, fmt.Errorf("nearest points: samples: %w", err)
	}
	to, err := readSamples(points, d)
	if err != nil {
		return nil, fmt.Errorf("nearest points: points: %w", err)
	}
	if rows.m != to.m {
		return nil, fmt.Errorf("nearest points: samples have %d columns and points %d", rows.m, to.m)
	}
	if k < 1 || k > to.n {
		return nil, fmt.Errorf("nearest points: the %d nearest of %d points", k, to.n)
	}
	among := min(max(panelRows, 1<<18/to.m), to.n) // points at once, all of them where these are short
	search := &nearestSearch{
		rows: rows, to: to, k: k,
		block:   newTargets(d, among, to.m),
		rooms:   make([]nearestRoom, parallel.Cores()),
		nearest: make([][]int, rows.n),
		flat:    make([]int, rows.n*k),
	}
	for i := range search.rooms {
		search.rooms[i] = nearestRoom{row: make([]float64, to.m), to: make([]float64, to.m)}
	}
	return search.nearest, search.run(ctx, among)
}

// nearestSearch finds the k nearest points of every row.
type nearestSearch struct {
	rows, to *samples
	k        int
	block    *targets
	rooms    []nearestRoom // one for each goroutine
	nearest  [][]int
	flat     []int // what nearest is made of
}

// run compares panels of rows with one panel of points after another. Of few points more rows have scores at
// once, so that each panel of points is made ready less often.
func (s *nearestSearch) run(ctx context.Context, among int) error {
	n := s.to.n
	size := min(max(panelRows, 1<<21/n), s.rows.n)
	scores, part := make([]float64, size*n), make([]float64, size*among)
	return panel.Each(ctx, s.rows.n, size, func(lo, hi int) error {
		var bound slack
		for first := 0; first < n; first += among {
			last := min(first+among, n)
			if among < n || lo == 0 {
				s.block.fill(s.to, first, last)
			}
			bound.widen(s.block.slack)
			s.block.score(part, s.rows, lo, hi)
			for i := range hi - lo {
				copy(scores[i*n+first:], part[i*(last-first):(i+1)*(last-first)])
			}
		}
		const rowsAtOnce = 32
		return parallel.Blocks(ctx, len(s.rooms), hi-lo, rowsAtOnce, func(worker, from, end int) {
			for i := from; i < end; i++ {
				s.choose(&s.rooms[worker], lo+i, scores[i*n:(i+1)*n], bound)
			}
		})
	})
}

// choose finds the nearest points of row i by their scores, and by their exact costs where the scores are too
// close to tell.
func (s *nearestSearch) choose(r *nearestRoom, i int, scores []float64, bound slack) {
	off := bound.ofLength(s.rows.norms[i])
	r.least = topk.Least(scores, s.k, r.least)
	found := r.atMost(scores, r.least[s.k-1]+off)
	slices.SortFunc(found, neighbour.compare)
	limit := found[s.k-1].cost + off
	for len(found) > s.k && !(found[len(found)-1].cost <= limit) {
		found = found[:len(found)-1]
	}
	for at := 1; at < len(found); at++ {
		if found[at].cost-found[at-1].cost <= off {
			row := s.rows.row(i, r.row)
			for at, f := range found {
				found[at].cost = s.block.distance.between(row, s.rows.weights[i], s.to.row(f.row, r.to), s.to.weights[f.row])
			}
			slices.SortFunc(found, neighbour.compare)
			break
		}
	}
	nearest := s.flat[i*s.k : (i+1)*s.k : (i+1)*s.k]
	for at := range nearest {
		nearest[at] = found[at].row
	}
	s.nearest[i] = nearest
}

// atMost returns the points whose scores are at most the limit.
func (r *nearestRoom) atMost(scores []float64, limit float64) []neighbour {
	r.found = r.found[:0]
	for j, v := range scores {
		if v <= limit {
			r.found = append(r.found, neighbour{j, v})
		}
	}
	return r.found
}

// nearestRoom is what a goroutine needs for itself.
type nearestRoom struct {
	row, to []float64
	least   []float64   // the k least of the scores
	found   []neighbour // points that might be among the nearest
}

// A neighbour is a row of the points with its score or its exact cost.
type neighbour struct {
	row  int
	cost float64
}

// compare orders neighbours by their costs, ties by their rows.
func (a neighbour) compare(b neighbour) int {
	return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.row, b.row))
}
