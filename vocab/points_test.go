package vocab

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// randomRows returns n rows of dim bytes around a number of centres.
func randomRows(random *rand.Rand, n, dim, centres int) []uint8 {
	centre := make([]float64, centres*dim)
	for i := range centre {
		centre[i] = 60 * random.ExpFloat64()
	}
	rows := make([]uint8, 0, n*dim)
	for range n {
		c := random.IntN(centres)
		for _, v := range centre[c*dim : (c+1)*dim] {
			rows = append(rows, uint8(min(max(v+15*random.NormFloat64(), 0), 255)))
		}
	}
	return rows
}

// wordsOf returns the vocabulary whose words are rows of dim bytes.
func wordsOf(rows []uint8, dim int) *Vocabulary {
	v := &Vocabulary{mat.NewDense(len(rows)/dim, dim, nil)}
	for i, b := range rows {
		v.Words.Set(i/dim, i%dim, float64(b))
	}
	return v
}

// bruteForce returns the m nearest words.
func bruteForce(v *Vocabulary, x []uint8, m int) []neighbour {
	all := make([]neighbour, 0, v.Len())
	for j := range v.Len() {
		var sum float64
		for f, w := range v.Words.RawRowView(j) {
			sum += (float64(x[f]) - w) * (float64(x[f]) - w)
		}
		all = append(all, neighbour{int32(j), sum})
	}
	if m == 1 {
		return []neighbour{slices.MinFunc(all, neighbour.compare)}
	}
	slices.SortFunc(all, neighbour.compare)
	return all[:m]
}

// Words with integer values have exact distances: results must be equal to the last bit, also with duplicates and
// ties.
func TestNearest(t *testing.T) {
	for _, size := range []struct{ words, dim, m int }{
		{1, 1, 1}, {2, 3, 1}, {7, 5, 3}, {8, 128, 1}, {9, 128, 9}, {200, 128, 1}, {200, 130, 4}, {333, 300, 2}, {3000, 16, 1},
	} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			random := rng.New(1, "nearest", size)
			rows := randomRows(random, size.words, size.dim, 5)
			for range size.words / 4 {
				a, b := random.IntN(size.words), random.IntN(size.words)
				copy(rows[a*size.dim:(a+1)*size.dim], rows[b*size.dim:])
			}
			v := wordsOf(rows, size.dim)
			p := v.points()
			queries := append(randomRows(random, 10, size.dim, 5), rows[:size.dim]...)
			eachNearest(t, p, queries, size.m, func(i int, x []uint8, near []neighbour) {
				if diff := cmp.Diff(bruteForce(v, x, size.m), near, cmp.AllowUnexported(neighbour{})); diff != "" {
					t.Errorf("row %d: -want +got\n%s", i, diff)
				}
			})
		})
	}
}

// closeWords returns words that are equal in single precision.
func closeWords(random *rand.Rand, words, dim int) *Vocabulary {
	row := randomRows(random, 1, dim, 1)
	for i := range row {
		row[i] = max(row[i], 100)
	}
	v := wordsOf(slices.Repeat(row, words), dim)
	for j, step := range random.Perm(words) {
		v.Words.Set(j, 7, v.Words.At(j, 7)-1e-5*float64(step))
	}
	return v
}

func TestNearestOfClose(t *testing.T) {
	const dim = 128
	random := rng.New(1, "close")
	v := closeWords(random, 100, dim)
	p := v.points()
	eachNearest(t, p, randomRows(random, 100, dim, 3), 1, func(i int, x []uint8, near []neighbour) {
		if got, want := near[0].word, bruteForce(v, x, 1)[0].word; got != want {
			t.Errorf("row %d: word %d, want %d", i, got, want)
		}
	})
}

// eachNearest calls f with each of the rows and its m nearest words among all.
func eachNearest(t *testing.T, p *points, rows []uint8, m int, f func(i int, x []uint8, near []neighbour)) {
	t.Helper()
	all := newFinder(p)
	row := func(i int) []uint8 { return rows[i*p.dim : (i+1)*p.dim] }
	all.eachNearest(len(rows)/p.dim, row, m, func(i int, near []neighbour) { f(i, row(i), near) })
}
