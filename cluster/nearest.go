package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// panelRows is how many rows are compared with the points in one matrix product.
const panelRows = 256

// Nearest returns for every row of x, n×m, the k nearest rows of points, p×m,
// the nearest first and ties to the lower row. Both matrices are dense or a
// *sparse.CSR; others are copied. It is an error if k is not within 1 and p,
// or if a row holds a value that is not finite.
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
	// Of few points more rows at once have scores in memory, so that each panel of points is
	// made ready less often.
	at := min(max(panelRows, 1<<21/to.n), rows.n)
	among := min(max(panelRows, 1<<18/to.m), to.n) // points at once, all of them where these are short
	var (
		block   = newTargets(d, among, to.m)
		scores  = make([]float64, at*to.n)
		part    = scores
		rooms   = make([]nearestRoom, parallel.Cores())
		flat    = make([]int, rows.n*k)
		nearest = make([][]int, rows.n)
	)
	if among < to.n {
		part = make([]float64, at*among)
	}
	for i := range rooms {
		rooms[i] = nearestRoom{row: make([]float64, to.m), to: make([]float64, to.m), least: make([]float64, 0, k)}
	}
	return nearest, panel.Each(ctx, rows.n, at, func(lo, hi int) error {
		var bound slack
		for first := 0; first < to.n; first += among {
			last := min(first+among, to.n)
			block.fill(to, first, last)
			bound.widen(block.slack)
			block.score(part, rows, lo, hi)
			if among == to.n {
				break // they are where they belong
			}
			for i := range hi - lo {
				copy(scores[i*to.n+first:], part[i*(last-first):(i+1)*(last-first)])
			}
		}
		const rowsAtOnce = 32
		return parallel.Blocks(ctx, len(rooms), hi-lo, rowsAtOnce, func(worker, from, end int) {
			r := &rooms[worker]
			for i := lo + from; i < lo+end; i++ {
				score := scores[(i-lo)*to.n : (i-lo+1)*to.n]
				limit := topk.Least(score, k, r.least)[k-1] + bound.of(rows.norms[i])
				row := rows.row(i, r.row)
				r.found = r.found[:0]
				for j, s := range score {
					if s <= limit {
						r.found = append(r.found, neighbour{j, d.between(row, rows.weights[i], to.row(j, r.to), to.weights[j])})
					}
				}
				slices.SortFunc(r.found, func(a, b neighbour) int {
					return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.row, b.row))
				})
				nearest[i] = flat[i*k : (i+1)*k : (i+1)*k]
				for at := range nearest[i] {
					nearest[i][at] = r.found[at].row
				}
			}
		})
	})
}

// nearestRoom is what a goroutine needs for itself.
type nearestRoom struct {
	row, to, least []float64
	found          []neighbour
}

// A neighbour is a row of the points with its exact cost.
type neighbour struct {
	row  int
	cost float64
}
