package cluster

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

// Silhouette returns the mean silhouette of the rows of x, from −1 to 1 (Rousseeuw 1987): (b − a)/max(a, b), where a is
// the mean distance from the other rows of the cluster and b from the nearest other cluster. It is 0 for a row alone in
// its cluster. It takes O(n²m) time and an n×n matrix of memory.
func Silhouette(ctx context.Context, x mat.Matrix, labels []int, d Distance) (_ float64, err error) {
	defer guard.CatchWithin(&err, "silhouette")
	n, _ := x.Dims()
	guard.FailIf(len(labels) != n, "%d rows, but %d labels", n, len(labels))
	var sizes []int
	for i, c := range labels {
		guard.FailIf(c < 0, "row %d has the negative label %d", i+1, c)
		sizes = append(sizes, make([]int, max(c+1-len(sizes), 0))...)
		sizes[c]++
	}
	guard.FailIf(slices.Max(append(sizes, 0)) == n, "all rows are in one cluster")
	products := guard.Must(innerProducts(ctx, x, 1))
	total := 0.0
	sums := make([]float64, len(sizes))
	for i := range n {
		guard.Check(ctx.Err())
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

// Strays reports the rows of x, n×m, that belong to no group. With p = min(size − 1, 10), the density at a row is its
// cosine with its p-th nearest other row, after whitening as in [PropagatedKMeans]. It is the core distance of HDBSCAN
// (Campello, Moulavi and Sander 2013) as a cosine. Rows with less than half of the median density are strays, and so are
// the rows of a group of which fewer than size rows are left. It takes O(n²m) time for up to 15,000 rows.
func Strays(ctx context.Context, x mat.Matrix, groups []int, size int) (_ []bool, err error) {
	defer guard.CatchWithin(&err, "strays")
	s := guard.Must(readSamples(x, DistanceCosine))
	guard.FailIf(len(groups) != s.n, "%d samples, but groups has %d entries", s.n, len(groups))
	v := s.whitened(ctx)
	p := min(size-1, graphNeighbours)
	found, density := make([]int, s.n), slices.Repeat([]float64{math.Inf(1)}, s.n)
	nearestRows(ctx, v, p, func(i, j int) {
		found[i]++
		density[i] = min(density[i], mat.Dot(v.RowView(i), v.RowView(j)))
	})
	for i, near := range found {
		if near < p {
			density[i] = 0
		}
	}
	limit := slices.Sorted(slices.Values(density))[s.n/2] / 2
	left := map[int]int{} // rows of each group
	for i, g := range groups {
		if density[i] >= limit {
			left[g]++
		}
	}
	strays := make([]bool, s.n)
	for i, g := range groups {
		strays[i] = density[i] < limit || left[g] < size
	}
	return strays, nil
}
