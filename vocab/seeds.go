package vocab

import (
	"context"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	panels "github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// plusPlus draws the rows of the sample's first part that words start from.
// Each is drawn with a probability in proportion to its squared distance to
// the nearest row before it, a few times, and the one that leaves the least
// sum of squared distances is taken, the first of several. The part must hold
// as many different rows.
func plusPlus(ctx context.Context, s *sample, part, words, workers int, random *rand.Rand) ([]int, error) {
	g, err := newSeeding(ctx, s, part, words, workers)
	if err != nil {
		return nil, err
	}
	rows := make([]int, 0, words)
	drawn := []int{random.IntN(part)}
	for {
		best, err := g.best(ctx, drawn)
		if err != nil {
			return nil, err
		}
		rows = append(rows, drawn[best])
		if len(rows) == words {
			return rows, nil
		}
		g.take(best, len(drawn))
		drawn = drawn[:0]
		for range g.against.Rows {
			drawn = append(drawn, g.draw(random.Float64()))
		}
	}
}

// A seeding is the state of k-means++. Products of bytes are whole numbers,
// which single precision holds up to 2²⁴ and thus for rows of up to 258 bytes,
// so that for those all of this is exact. Longer rows that are very near each
// other may be taken for the same, and one be taken twice: the second word is
// then empty, and k-means gives it a row.
type seeding struct {
	workers  int
	rows     blas.Of[float32]
	squares  []float64 // ‖x‖²
	closest  []float64 // to the nearest row that was taken
	upTo     []float64 // the sums of closest from the first row on
	against  blas.Of[float32]
	norms    []float64   // ‖x‖² of against
	products []float32   // rows×against
	left     [][]float64 // what closest would add up to, by block and candidate
}

// seedBlock is how many rows a worker takes at a time.
const seedBlock = 1024

func newSeeding(ctx context.Context, s *sample, part, words, workers int) (*seeding, error) {
	candidates := 2 + int(elementary.Log(float64(words)))
	g := &seeding{
		workers:  workers,
		rows:     matrix(make([]float32, part*s.dim), s.dim),
		squares:  make([]float64, part),
		closest:  make([]float64, part),
		upTo:     make([]float64, part),
		against:  matrix(make([]float32, candidates*s.dim), s.dim),
		norms:    make([]float64, candidates),
		products: make([]float32, part*candidates),
		left:     make([][]float64, parallel.Count(part, seedBlock)),
	}
	return g, parallel.Blocks(ctx, workers, part, seedBlock, func(_, lo, hi int) {
		g.left[lo/seedBlock] = make([]float64, candidates)
		for i := lo; i < hi; i++ {
			row := g.row(i)
			for f, v := range s.at(i) {
				row[f] = float32(v)
			}
			g.squares[i] = float64(square(s.at(i)))
			g.closest[i] = math.Inf(1)
		}
	})
}

// row returns row i in single precision.
func (g *seeding) row(i int) []float32 { return g.rows.Data[i*g.rows.Stride:][:g.rows.Cols] }

// best returns which of the rows that were drawn is best to take.
func (g *seeding) best(ctx context.Context, drawn []int) (int, error) {
	against := g.against
	against.Rows = len(drawn)
	for c, i := range drawn {
		copy(against.Data[c*against.Stride:], g.row(i))
		g.norms[c] = g.squares[i]
	}
	err := parallel.Blocks(ctx, g.workers, g.rows.Rows, seedBlock, func(_, lo, hi int) {
		panels.Dots(g.products[lo*len(drawn):], g.rows, lo, hi, against)
		left := g.left[lo/seedBlock]
		clear(left)
		for i := lo; i < hi; i++ {
			for c := range drawn {
				left[c] += min(g.closest[i], g.distance(i, c, len(drawn)))
			}
		}
	})
	if err != nil {
		return 0, err
	}
	best, least := 0, math.Inf(1)
	for c := range drawn {
		var sum float64
		for _, left := range g.left {
			sum += left[c]
		}
		if sum < least {
			best, least = c, sum
		}
	}
	return best, nil
}

// distance returns the squared distance of row i to candidate c, of a number of candidates.
func (g *seeding) distance(i, c, candidates int) float64 {
	return panels.Squared(g.squares[i], g.norms[c], float64(g.products[i*candidates+c]))
}

// take takes candidate c, of a number of candidates.
func (g *seeding) take(c, candidates int) {
	var sum float64
	for i := range g.closest {
		g.closest[i] = min(g.closest[i], g.distance(i, c, candidates))
		sum += g.closest[i]
		g.upTo[i] = sum
	}
}

// draw returns the row at a share of the sum of closest, below 1.
func (g *seeding) draw(share float64) int {
	total := g.upTo[len(g.upTo)-1]
	at := min(share*total, math.Nextafter(total, 0))
	return sort.Search(len(g.upTo)-1, func(i int) bool { return g.upTo[i] > at })
}
