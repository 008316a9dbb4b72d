package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Strays reports the rows of x, n×m, that belong to no group. With p = min(size − 1, 10), the density at a row is its
// cosine with its p-th nearest other row, after whitening as in [PropagatedKMeans]. It is the core distance of HDBSCAN
// (Campello, Moulavi and Sander 2013) as a cosine. Rows with less than half of the median density are strays, and so are
// the rows of a group of which fewer than size rows are left. It takes O(n²m) time for up to 15,000 rows.
func Strays(ctx context.Context, x mat.Matrix, groups []int, size int) (_ []bool, err error) {
	defer wrap(&err, "strays")
	s, err := readSamples(x, DistanceCosine)
	if err != nil {
		return nil, err
	}
	if len(groups) != s.n {
		return nil, fmt.Errorf("%d samples, but groups has %d entries", s.n, len(groups))
	}
	v, err := s.whitened(ctx)
	if err != nil {
		return nil, err
	}
	p := min(size-1, graphNeighbours)
	found, density := make([]int, s.n), slices.Repeat([]float64{math.Inf(1)}, s.n)
	if err := nearestRows(ctx, v, p, func(i, j int) {
		found[i]++
		density[i] = min(density[i], mat.Dot(v.RowView(i), v.RowView(j)))
	}); err != nil {
		return nil, err
	}
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
