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
	nearest := make([][]int, rows.n)
	among := min(max(panelRows, 1<<18/to.m), to.n) // points at once
	block := newTargets(d, among, to.m)
	size := min(max(panelRows, 1<<21/to.n), rows.n)
	scores, part := make([]float64, size*to.n), make([]float64, size*among)
	return nearest, panel.Each(ctx, rows.n, size, func(lo, hi int) error {
		longest := 0.0
		for first := 0; first < to.n; first += among {
			last := min(first+among, to.n)
			if among < to.n || lo == 0 {
				block.fill(to, to.all[first:last])
			}
			longest = max(longest, block.longest)
			block.score(part, rows, rows.all[lo:hi])
			for i := range hi - lo {
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
	least      []float64   // the k least of the scores
	found      []neighbour // points that might be among the nearest
}

// choose returns the nearest points of row i by their scores, and by exact costs where scores are within
// rounding.
func (s *nearestSearch) choose(i int, scores []float64, rounding float64) []int {
	s.least = topk.Least(scores, s.k, s.least)
	found := s.found[:0]
	for j, v := range scores {
		if v <= s.least[s.k-1]+rounding {
			found = append(found, neighbour{j, v})
		}
	}
	s.found = found
	slices.SortFunc(found, neighbour.compare)
	for at := 1; at < len(found); at++ {
		if found[at].cost-found[at-1].cost <= rounding {
			row := s.rows.row(i, s.row)
			for at, f := range found {
				found[at].cost = s.rows.distance.between(row, s.rows.weights[i], s.to.row(f.row, s.other), s.to.weights[f.row])
			}
			slices.SortFunc(found, neighbour.compare)
			break
		}
	}
	nearest := make([]int, s.k)
	for at := range nearest {
		nearest[at] = found[at].row
	}
	return nearest
}

// A neighbour is a row of the points with its score or its exact cost.
type neighbour struct {
	row  int
	cost float64
}

func (a neighbour) compare(b neighbour) int {
	return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.row, b.row))
}
