package factor

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// neighbours finds the nearest samples of each, with a few blocks of inner products in
// memory at a time.
type neighbours struct {
	x    view.Data
	n, p int
	// cosine compares by cosines, else by distances.
	cosine       bool
	mean         bool          // whether meanDistance is wanted
	square       []float64     // ‖x_i‖²
	nearest      [][]neighbour // p of each sample
	meanDistance float64       // of all n² pairs
}

// neighbour is one: its row, and the distance squared or minus the cosine.
type neighbour struct {
	j int
	d float64
}

func nearer(a, b neighbour) int { return cmp.Or(cmp.Compare(a.d, b.d), a.j-b.j) }

// find finds the neighbours of each row by its inner products with all.
func (s *neighbours) find(ctx context.Context) error {
	s.square = make([]float64, s.n)
	s.x.Each(func(i, _ int, v float64) { s.square[i] += v * v })
	s.nearest = make([][]neighbour, s.n)
	sums := make([]float64, s.n) // of the distances
	err := view.EachGram(ctx, s.x, func(from int, part *mat.Dense) {
		algebra.EachRow(part, comparedWork, func(a int, products []float64) { sums[from+a] = s.compare(from+a, products) })
	})
	for _, x := range sums {
		s.meanDistance += x
	}
	s.meanDistance = s.meanDistance / float64(s.n) / float64(s.n)
	return err
}

// comparedWork is how many multiplications take as long as to compare a sample with another.
const comparedWork = 64

// compare finds the neighbours of sample i by its inner products with all samples, and returns
// the sum of its distances.
func (s *neighbours) compare(i int, products []float64) (total float64) {
	nearest := make([]neighbour, 0, s.p)
	for j, g := range products {
		if j == i {
			continue
		}
		var d float64
		if s.cosine {
			d = -g / math.Sqrt(s.square[i]*s.square[j])
		} else {
			d = squaredDistance(s.square[i], s.square[j], g)
			if s.mean {
				total += math.Sqrt(d)
			}
		}
		if len(nearest) < s.p || s.p > 0 && !(d >= nearest[s.p-1].d) { // j is larger than theirs
			nearest = topk.Insert(nearest, s.p, neighbour{j, d}, nearer)
		}
	}
	s.nearest[i] = nearest
	return total
}

// Nearest returns for each row of x, n×m, dense or sparse, the p other rows at the least
// Euclidean distance, all others where there are fewer, and these distances, rising. Of rows
// at one distance those before come first. It takes n²·m multiplications. A row of zeros is an error.
func Nearest(ctx context.Context, x mat.Matrix, p int) (rows [][]int, distances [][]float64, err error) {
	if p < 1 {
		return nil, nil, fmt.Errorf("factor: the nearest %d rows; want 1 or more", p)
	}
	d, err := view.New(x)
	if err != nil {
		return nil, nil, err
	}
	n, _ := x.Dims()
	found := neighbours{x: d, n: n, p: min(p, n-1)}
	if err := found.find(ctx); err != nil {
		return nil, nil, err
	}
	rows, distances = make([][]int, n), make([][]float64, n)
	for i, nearest := range found.nearest {
		for _, q := range nearest {
			rows[i], distances[i] = append(rows[i], q.j), append(distances[i], math.Sqrt(max(q.d, 0)))
		}
	}
	return rows, distances, nil
}
