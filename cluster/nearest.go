package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/topk"
)

// panel is how many rows are compared with the points in one matrix product.
const panel = 256

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
	var (
		block   = newTargets(d, min(panel, to.n), to.m)
		part    = make([]float64, panel*panel)
		scores  = make([]float64, panel*to.n)
		rowBuf  = make([]float64, to.m)
		toBuf   = make([]float64, to.m)
		least   = make([]float64, 0, k)
		found   []neighbour
		flat    = make([]int, rows.n*k)
		nearest = make([][]int, rows.n)
	)
	for lo := 0; lo < rows.n; lo += panel {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+panel, rows.n)
		var bound slack
		for first := 0; first < to.n; first += panel {
			last := min(first+panel, to.n)
			block.fill(to, first, last)
			bound.widen(block.slack)
			block.score(part, rows, lo, hi)
			for i := range hi - lo {
				copy(scores[i*to.n+first:], part[i*(last-first):(i+1)*(last-first)])
			}
		}
		for i := lo; i < hi; i++ {
			score := scores[(i-lo)*to.n : (i-lo+1)*to.n]
			limit := topk.Least(score, k, least)[k-1] + bound.of(rows.norms[i])
			row := rows.row(i, rowBuf)
			found = found[:0]
			for j, s := range score {
				if s <= limit {
					found = append(found, neighbour{j, d.between(row, rows.weights[i], to.row(j, toBuf), to.weights[j])})
				}
			}
			slices.SortFunc(found, func(a, b neighbour) int {
				return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.row, b.row))
			})
			nearest[i] = flat[i*k : (i+1)*k : (i+1)*k]
			for r := range nearest[i] {
				nearest[i][r] = found[r].row
			}
		}
	}
	return nearest, nil
}

// A neighbour is a row of the points with its exact cost.
type neighbour struct {
	row  int
	cost float64
}
