package vocab

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/lloyd"
	panels "github.com/seed4492f2cd/partwise/internal/panel"
)

// plusPlus draws the rows of the sample's first part that words start from. The part must hold
// as many different rows.
//
// Products of bytes are whole numbers, which single precision holds up to 2²⁴ and thus for rows of up to 258
// bytes, so that for those all of this is exact. Longer rows that are very near each other may be taken for the
// same, and one be drawn twice: the second word is then empty, and k-means gives it a row.
func plusPlus(ctx context.Context, s *sample, part, words int, random *rand.Rand) ([]int, error) {
	single, squares := make([]float32, 0, part*s.dim), make([]float64, part)
	for i := range part {
		for _, v := range s.row(i) {
			single = append(single, float32(v))
		}
		squares[i] = float64(square(s.row(i)))
	}
	rows := matrix(single, s.dim)
	against, of := matrix(nil, s.dim), []float64(nil) // the candidates, and their ‖x‖²
	p := lloyd.PlusPlus{
		First: slices.Repeat([]float64{math.Inf(1)}, part),
		Propose: func(candidates []int) {
			against.Data, of = against.Data[:0], of[:0]
			for _, i := range candidates {
				against.Data, of = append(against.Data, single[i*s.dim:(i+1)*s.dim]...), append(of, squares[i])
			}
			against.Rows = len(candidates)
		},
		Cost: func(out []float64, lo, hi int) {
			products := make([]float32, len(out))
			panels.Dots(products, rows, lo, hi, against)
			for at, product := range products {
				out[at] = panels.Squared(squares[lo+at/len(of)], of[at%len(of)], float64(product))
			}
		},
	}
	return p.Draw(ctx, words, random)
}
