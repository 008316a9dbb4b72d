package cluster

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/eigen"
)

// gapNeighbours is to how many others each sample is joined.
const gapNeighbours = 10

// EigenGaps says for each number of clusters how well the rows of x, n×m, dense or a *sparse.CSR,
// fall into so many: gap k, at place k−1, is λ_{k+1} − λ_k of the eigenvalues
// 0 = λ_1 ≤ λ_2 ≤ … of the normalised Laplacian I − D^-½ W D^-½ of a graph, for k from 1 to most,
// or to n−1 where that is less. In the graph W two samples are joined, with weight 1, where one is
// among the 10 nearest of the other, by the angle between the rows at length 1 less their mean.
// Samples that fall apart into k clusters have k eigenvalues near 0, and the next is not (von
// Luxburg 2007, section 8.3).
func EigenGaps(ctx context.Context, x mat.Matrix, most int) ([]float64, error) {
	s, err := readSamples(x, DistanceCosine)
	if err != nil {
		return nil, fmt.Errorf("gaps of eigenvalues: %w", err)
	}
	if most = min(most, s.n-1); most < 1 {
		return nil, fmt.Errorf("gaps of eigenvalues: %d of %d samples", most, s.n)
	}
	z := s.centred()
	near, err := Nearest(ctx, DistanceCosine, z, z, min(gapNeighbours+1, s.n))
	if err != nil {
		return nil, fmt.Errorf("gaps of eigenvalues: %w", err)
	}
	w, degrees := mat.NewSymDense(s.n, nil), make([]float64, s.n)
	for i, of := range near {
		left := len(of) - 1 // the sample itself is the nearest, or as near as others
		for _, j := range of {
			if j == i || left == 0 {
				continue
			}
			left--
			if w.At(i, j) == 0 {
				w.SetSym(i, j, 1)
				degrees[i]++
				degrees[j]++
			}
		}
	}
	for i := range degrees {
		for j := i; j < s.n; j++ {
			v := -w.At(i, j) / math.Sqrt(degrees[i]*degrees[j])
			if i == j {
				v++
			}
			w.SetSym(i, j, v)
		}
	}
	values, _, err := eigen.Smallest(ctx, w, most+1)
	if err != nil {
		return nil, fmt.Errorf("gaps of eigenvalues: %w", err)
	}
	gaps := make([]float64, most)
	for k := range gaps {
		gaps[k] = max(0, values[k+1]-values[k])
	}
	return gaps, nil
}
