package factor

import (
	"context"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// BenchmarkIteration times iterations on data of the sizes of a face set and
// of a text set.
func BenchmarkIteration(b *testing.B) {
	src := rand.New(rand.NewPCG(1, 1))
	faces := mat.NewDense(400, 1024, nil)
	for i := range 400 {
		row := faces.RawRowView(i)
		for j := range row {
			row[j] = src.Float64()
		}
	}
	labels := make([]int, 400)
	for i := range labels {
		labels[i] = i % 40
		if i >= 120 {
			labels[i] = -1
		}
	}
	var entries []sparse.Entry
	for i := range 1200 {
		for range 150 {
			entries = append(entries, sparse.Entry{Row: i, Col: int(26000 * src.Float64() * src.Float64()), Value: 1 + float64(src.IntN(3))})
		}
	}
	texts := sparse.FromEntries(1200, 26000, entries)
	for _, c := range []struct {
		name   string
		x      mat.Matrix
		method Method
		rank   int
	}{
		{"faces/nmf", faces, NMF{}, 40},
		{"faces/nmf-kl", faces, NMFKL{}, 40},
		{"faces/cnmf", faces, CNMF{}, 40},
		{"faces/cf", faces, CF{}, 40},
		{"faces/gnmf", faces, GNMF{}, 40},
		{"texts/nmf", texts, NMF{}, 20},
		{"texts/nmf-kl", texts, NMFKL{}, 20},
	} {
		b.Run(c.name, func(b *testing.B) {
			known := Known{}
			if c.x == mat.Matrix(faces) {
				known.Labels = labels
			}
			_, err := c.method.Fit(context.Background(), c.x, known, Options{Rank: c.rank, Iterations: b.N})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
