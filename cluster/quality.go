package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
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
