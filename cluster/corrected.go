package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

// Parameters of Corrected.
const correctedSoftness, correctedReach, correctedNoise, correctedTurns = 0.15, 0.3, 0.05, 4

// Corrected updates an existing clustering with labels and links of single samples, which also move similar samples. The
// result does not depend on the order of samples or corrections.
//
// The rows z_i are the samples scaled to unit length, centred, and scaled to unit length again. Cluster j has the unit
// direction u_j of the sum of its samples. The membership shares of a sample are p_ij ∝ exp(z_i·u_j/0.15). The labelled
// samples L, with t_ij = 1 for the cluster j of sample i and 0 otherwise, correct them by a Gaussian process with mean p
// and covariance κ(i, l) = exp((z_i·z_l − 1)/0.3):
//
//	r = p + κ_{·L} (κ_LL + 0.05·I)⁻¹ (t_L − p_L)
//
// (Rasmussen and Williams 2006, section 2.7). Each sample goes to the cluster with the largest r that the links allow.
// Directions and assignment are computed four times in turn. Linked samples then count as labelled with the resulting
// clusters, and the four rounds are repeated. If a sample is nearer to another direction than to its given cluster's,
// its given cluster gets the share of the nearest.
//
// It is not safe for concurrent use, because it keeps the covariances of the samples of the last call.
type Corrected struct {
	z       *mat.Dense
	columns map[int][]float64 // κ(·, l) of samples l
}

// NewCorrected returns a Corrected for clusters of the rows of x, n×m, which it copies to a dense matrix.
func NewCorrected(x mat.Matrix) (*Corrected, error) {
	s, err := readSamples(x, DistanceCosine)
	if err != nil {
		return nil, fmt.Errorf("corrected clusters: %w", err)
	}
	return &Corrected{z: s.centred()}, nil
}

// Covariance returns κ(i, j), from 0 to 1: how much of a correction of sample i applies to sample j.
func (c *Corrected) Covariance(i, j int) float64 {
	return covariance(elementary.Dot(c.z.RawRowView(i), c.z.RawRowView(j)))
}

// covariance returns κ for the inner product z_i·z_j.
func covariance(product float64) float64 { return elementary.Exp((product - 1) / correctedReach) }

// Correction is the result of [Corrected.Fit].
type Correction struct {
	Labels []int // the cluster of each sample, from 0
	// Shares, n×K, is max(r, 0) with rows scaled to sum 1. The row of a labelled sample is 1 at its cluster.
	Shares *mat.Dense
}

// Fit returns k corrected clusters of the n samples. groups holds their current clusters, from 0 to k−1. Without labels
// and links these stay unchanged. The error wraps ErrDeadEnd if no k clusters satisfy the links.
func (c *Corrected) Fit(ctx context.Context, k int, groups []int, known Known) (_ *Correction, err error) {
	defer guard.CatchWithin(&err, "corrected clusters")
	n, m := c.z.Dims()
	guard.FailIf(len(groups) != n, "groups has %d entries for %d samples", len(groups), n)
	guard.FailIf(k < 1, "the number of clusters must be 1 or more")
	if i := slices.IndexFunc(groups, func(g int) bool { return g < 0 || g >= k }); i >= 0 {
		return nil, fmt.Errorf("sample %d is in cluster %d; expected less than %d", i+1, groups[i], k)
	}
	u := guard.Must(newUnits(n, k, known))
	var labelled, linked []int
	placed := slices.Clone(groups)
	for i, at := range u.unitOf {
		switch {
		case u.fixed[at] >= 0:
			placed[i] = u.fixed[at]
			labelled = append(labelled, i)
		case len(u.members[at]) > 1 || len(u.apart[at]) > 0:
			linked = append(linked, i)
		}
	}
	t := &correctedState{
		Corrected: c, u: u, k: k, groups: groups, lifted: make([]bool, n), directions: mat.NewDense(k, m, nil),
		shares: mat.NewDense(n, k, nil), empty: make([]bool, k), costs: make([]float64, len(u.members)*k),
	}
	t.updateProbabilities(groups)
	for i, g := range groups {
		row := t.shares.RawRowView(i)
		t.lifted[i] = row[g] < slices.Max(row)
	}
	if t.updateProbabilities(placed); len(labelled)+len(linked) > 0 {
		err = t.run(ctx, placed, labelled)
	}
	if err == nil && len(linked) > 0 {
		given := slices.Sorted(slices.Values(slices.Concat(labelled, linked)))
		for i := range placed {
			if _, is := slices.BinarySearch(given, i); !is {
				placed[i] = groups[i]
			}
		}
		err = t.run(ctx, placed, given)
	}
	guard.Check(err)
	for i := range n {
		row := t.shares.RawRowView(i)
		for j, r := range row {
			row[j] = max(r, 0)
		}
		if sum := elementary.Sum(row); u.fixed[u.unitOf[i]] >= 0 || sum == 0 {
			clear(row)
			row[placed[i]] = 1
		} else {
			floats.Scale(1/sum, row)
		}
	}
	return &Correction{Labels: placed, Shares: t.shares}, nil
}

// correctedState is the state of a Fit.
type correctedState struct {
	*Corrected
	u                  *units
	k                  int
	groups             []int
	lifted             []bool     // samples nearer to another direction than to their group's
	directions, shares *mat.Dense // k×m and n×k
	empty              []bool     // clusters without samples
	costs              []float64  // cost of each unit in each cluster
}

// updateProbabilities sets directions to the directions of the clusters in labels, and shares to p.
func (t *correctedState) updateProbabilities(labels []int) {
	for j := range t.empty {
		t.empty[j] = !slices.Contains(labels, j)
	}
	directions(t.directions, labels, func(dst []float64, i int) { floats.Add(dst, t.z.RawRowView(i)) })
	blas.Gemm(blas.NoTrans, blas.Trans, 1, t.z.RawMatrix(), t.directions.RawMatrix(), 0, t.shares.RawMatrix())
	for i, g := range t.groups {
		row := t.shares.RawRowView(i)
		for j := range row {
			if row[j] /= correctedSoftness; t.empty[j] {
				row[j] = math.Inf(-1)
			}
		}
		if t.lifted[i] && !t.empty[g] {
			row[g] = slices.Max(row)
		}
		all := elementary.LogSumExp(row)
		for j, s := range row {
			row[j] = elementary.Exp(s - all)
		}
	}
}

// run performs the rounds from the clusters placed, which it updates. The samples given count as labelled.
func (t *correctedState) run(ctx context.Context, placed, given []int) (err error) {
	defer guard.Catch(&err)
	correct := guard.Must(t.covariance(given))
	for range correctedTurns {
		guard.Check(ctx.Err())
		t.updateProbabilities(placed)
		correct(t.shares, placed)
		clear(t.costs)
		for i, at := range t.u.unitOf {
			for j, r := range t.shares.RawRowView(i) {
				if t.empty[j] {
					r = -1e6 // outweighs any difference of shares
				}
				t.costs[at*t.k+j] -= r
			}
		}
		next := guard.Must(t.u.place(t.k, t.costs))
		t.u.localSearch(t.k, t.costs, next)
		copy(placed, t.u.ofSamples(next))
	}
	return nil
}

// covariance returns a function that adds to shares the correction by the given samples, whose clusters are in labels.
func (c *Corrected) covariance(given []int) (correct func(shares *mat.Dense, labels []int), err error) {
	if len(given) == 0 {
		return func(*mat.Dense, []int) {}, nil
	}
	n, _ := c.z.Dims()
	fresh := slices.DeleteFunc(slices.Clone(given), func(i int) bool { return c.columns[i] != nil })
	columns := make(map[int][]float64, len(given))
	if len(fresh) > 0 {
		rows := mat.NewDense(len(fresh), n, nil)
		blas.Gemm(blas.NoTrans, blas.Trans, 1, rowsOf(c.z, fresh).RawMatrix(), c.z.RawMatrix(), 0, rows.RawMatrix())
		for at, i := range fresh {
			columns[i] = rows.RawRowView(at)
			for j, s := range columns[i] {
				columns[i][j] = covariance(s)
			}
		}
	}
	kernel := mat.NewDense(len(given), n, nil)
	for at, i := range given {
		if columns[i] == nil {
			columns[i] = c.columns[i]
		}
		kernel.SetRow(at, columns[i])
	}
	c.columns = columns
	among := mat.NewSymDense(len(given), nil)
	for a, i := range given {
		for b := a; b < len(given); b++ {
			among.SetSym(a, b, kernel.At(b, i))
		}
		among.SetSym(a, a, 1+correctedNoise) // 1 even for a row of zeros
	}
	raw := among.RawSymmetric()
	factor, ok := blas.Cholesky(blas.Matrix{Rows: raw.N, Cols: raw.N, Stride: raw.Stride, Data: raw.Data})
	if !ok {
		return nil, errors.New("the covariance matrix of the labelled and linked samples is not positive definite")
	}
	return func(shares *mat.Dense, labels []int) {
		_, k := shares.Dims()
		rest := mat.NewDense(len(given), k, nil)
		for at, i := range given {
			row := rest.RawRowView(at)
			floats.Sub(row, shares.RawRowView(i))
			row[labels[i]]++
		}
		blas.Trsm(blas.Trans, factor, rest.RawMatrix())
		blas.Trsm(blas.NoTrans, factor, rest.RawMatrix())
		blas.Gemm(blas.Trans, blas.NoTrans, 1, kernel.RawMatrix(), rest.RawMatrix(), 1, shares.RawMatrix())
	}, nil
}
