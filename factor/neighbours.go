package factor

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/topk"
)

// neighbours finds the nearest samples of each, with a few blocks of inner products in
// memory at a time.
type neighbours struct {
	x    data
	n, p int
	// cosine compares by cosines, else by distances, and mean asks for meanDistance.
	cosine, mean bool
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

// find screens dense data whose inner products take screened multiplications or more.
func (s *neighbours) find(ctx context.Context, screened int) error {
	s.square = make([]float64, s.n)
	s.x.each(func(i, _ int, v float64) { s.square[i] += v * v })
	s.nearest = make([][]neighbour, s.n)
	_, m := s.x.dims()
	x, dense := s.x.(denseData)
	switch {
	case !dense || s.n*s.n*m < screened || m > mostScreened:
		rows := make([]int, s.n)
		for i := range rows {
			rows[i] = i
		}
		sum, err := s.compare(ctx, rows)
		s.meanDistance = sum / float64(s.n) / float64(s.n)
		return err
	case s.mean:
		return screenWith[float64](ctx, s, x.x)
	}
	return screenWith[float32](ctx, s, x.x)
}

// comparedWork is how many multiplications take as long as to compare a sample with another.
const comparedWork = 64

// compare finds the neighbours of the rows by their inner products with all samples, and
// returns the sum of the distances.
func (s *neighbours) compare(ctx context.Context, rows []int) (sum float64, err error) {
	_, m := s.x.dims()
	x := s.x
	if whole, ok := x.(denseData); ok && kept(s.n, m) {
		x = newKeptData(whole)
	}
	some := mat.NewDense(gramRows, m, nil)
	sums := make([]float64, len(rows)) // of the distances
	multiply := func(dst *mat.Dense, from, to int) {
		for a := from; a < to; a++ {
			some.SetRow(a-from, s.x.rows(rows[a], rows[a]+1).RawRowView(0))
		}
		x.timesBasis(dst, some.Slice(0, to-from, 0, m).(*mat.Dense))
	}
	err = eachPanel(ctx, len(rows), s.n, multiply, func(from int, part *mat.Dense) {
		eachRow(part, comparedWork, func(a int, products []float64) {
			i := rows[from+a]
			nearest := make([]neighbour, 0, s.p)
			var total float64
			for j, g := range products {
				if j == i {
					continue
				}
				var d float64
				if s.cosine {
					d = -g / math.Sqrt(s.square[i]*s.square[j])
				} else {
					d = squaredDistance(s.square[i], s.square[j], g)
					total += math.Sqrt(d)
				}
				if len(nearest) < s.p || s.p > 0 && !(d >= nearest[s.p-1].d) { // j is larger than theirs
					nearest = topk.Insert(nearest, s.p, neighbour{j, d}, nearer)
				}
			}
			s.nearest[i], sums[from+a] = nearest, total
		})
	})
	for _, x := range sums {
		sum += x
	}
	return sum, err
}
