package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/eigen"
)

// Silhouette returns the mean silhouette of the rows of x, from −1 to 1 (Rousseeuw 1987): (b − a)/max(a, b), where a is
// the mean distance from the other rows of the cluster and b from the nearest other cluster. It is 0 for a row alone in
// its cluster. It takes O(n²m) time and an n×n matrix of memory.
func Silhouette(ctx context.Context, x mat.Matrix, labels []int, d Distance) (_ float64, err error) {
	defer wrap(&err, "silhouette")
	n, _ := x.Dims()
	if len(labels) != n {
		return 0, fmt.Errorf("%d rows, but %d labels", n, len(labels))
	}
	var sizes []int
	for i, c := range labels {
		if c < 0 {
			return 0, fmt.Errorf("row %d has the negative label %d", i+1, c)
		}
		sizes = append(sizes, make([]int, max(c+1-len(sizes), 0))...)
		sizes[c]++
	}
	if slices.Max(append(sizes, 0)) == n {
		return 0, fmt.Errorf("all rows are in one cluster")
	}
	products, err := innerProducts(ctx, x, 1)
	if err != nil {
		return 0, err
	}
	total := 0.0
	sums := make([]float64, len(sizes))
	for i := range n {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if sizes[labels[i]] == 1 {
			continue
		}
		clear(sums)
		for j := range n {
			if j != i {
				sums[labels[j]] += d.ofProducts(products.At(i, i), products.At(j, j), products.At(i, j))
			}
		}
		own := sums[labels[i]] / float64(sizes[labels[i]]-1)
		other := math.Inf(1)
		for c, sum := range sums {
			if c != labels[i] && sizes[c] > 0 {
				other = min(other, sum/float64(sizes[c]))
			}
		}
		if most := max(own, other); most > 0 {
			total += (other - own) / most
		}
	}
	return total / float64(n), nil
}

// ofProducts returns ‖x − y‖, or 1 − cos, from the inner products xᵀx, yᵀy and xᵀy.
func (d Distance) ofProducts(xx, yy, xy float64) float64 {
	if d == DistanceCosine {
		if xx == 0 || yy == 0 {
			return 1 // a row of zeros, as in between
		}
		return max(0, 1-xy/(math.Sqrt(xx)*math.Sqrt(yy)))
	}
	return math.Sqrt(max(0, xx+yy-2*xy))
}

// graphNeighbours is the default number of nearest neighbours in a graph.
const graphNeighbours = 10

// EigenGaps returns, for each number of clusters k from 1 to most, the eigengap λ_{k+1} − λ_k of the normalised
// Laplacian I − D^-½ W D^-½ (von Luxburg 2007, section 8.3). The graph W joins two samples if one is among the 10
// nearest of the other, by the angle between centred rows, if this is less than 90°.
func EigenGaps(ctx context.Context, x mat.Matrix, most int) (_ []float64, err error) {
	defer wrap(&err, "gaps of eigenvalues")
	s, err := readSamples(x, DistanceCosine)
	if err != nil {
		return nil, err
	}
	if most = min(most, s.n-1); most < 1 {
		return nil, fmt.Errorf("%d eigenvalues of %d samples", most, s.n)
	}
	g, err := nearestGraph(ctx, s.centred(), graphNeighbours)
	if err != nil {
		return nil, err
	}
	w := mat.NewSymDense(s.n, nil)
	for i, neighbours := range g {
		w.SetSym(i, i, 1)
		for _, j := range neighbours {
			w.SetSym(i, j, -1/math.Sqrt(float64(len(neighbours)*len(g[j]))))
		}
	}
	values, _, err := eigen.Smallest(ctx, w, most+1)
	if err != nil {
		return nil, err
	}
	gaps := make([]float64, most)
	for k := range gaps {
		gaps[k] = max(0, values[k+1]-values[k])
	}
	return gaps, nil
}
