package cluster

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Silhouette returns the mean over the rows of x, n×m, of (b − a)/max(a, b), where a is
// how far the row is from the others of its cluster on average, and b from those of the nearest
// other cluster (Rousseeuw 1987). It is from −1 to 1, and 0 for a row that is alone in its
// cluster. Distances are lengths, ‖x − y‖ or 1 − cos. labels hold each row's cluster, from 0;
// there must be two clusters or more. It takes O(n²m) time and the memory of an n×n matrix.
func Silhouette(ctx context.Context, x mat.Matrix, labels []int, d Distance) (float64, error) {
	n, _ := x.Dims()
	if len(labels) != n {
		return 0, fmt.Errorf("silhouette: %d rows and %d labels", n, len(labels))
	}
	k := 0
	for i, c := range labels {
		if c < 0 {
			return 0, fmt.Errorf("silhouette: row %d has the label %d", i+1, c)
		}
		k = max(k, c+1)
	}
	sizes, filled := make([]int, k), 0
	for _, c := range labels {
		if sizes[c]++; sizes[c] == 1 {
			filled++
		}
	}
	if filled < 2 {
		return 0, fmt.Errorf("silhouette: all rows are in one cluster")
	}
	products, err := innerProducts(ctx, x, 1)
	if err != nil {
		return 0, fmt.Errorf("silhouette: %w", err)
	}
	total := 0.0
	sums := make([]float64, k)
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

// ofProducts returns the length ‖x − y‖, or 1 − cos, of the inner products xᵀx, yᵀy and xᵀy.
func (d Distance) ofProducts(xx, yy, xy float64) float64 {
	if d == DistanceCosine {
		if xx == 0 || yy == 0 {
			return 1 // of a row of zeros, as between returns
		}
		return max(0, 1-xy/(math.Sqrt(xx)*math.Sqrt(yy)))
	}
	return math.Sqrt(max(0, xx+yy-2*xy))
}
