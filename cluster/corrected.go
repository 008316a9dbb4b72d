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
)

// The settings of Corrected, which measured best on photographs: docs/results.md.
const correctedSoftness, correctedReach, correctedNoise, correctedTurns = 0.15, 0.3, 0.05, 4

// Corrected moves samples among existing clusters by given labels and links of single samples, which spread to
// similar samples. The answer does not depend on their order.
//
// The rows z_i are the samples at length 1, less their mean, at length 1 again. A cluster j has the direction
// u_j of the sum of its samples. The shares of a sample, p_ij ∝ exp(z_i·u_j/0.15), are corrected by the
// labelled samples L, t_ij = 1 for the cluster j of sample i and 0 for others, with a Gaussian process whose
// mean is p and whose covariance is κ(i, l) = exp((z_i·z_l − 1)/0.3):
//
//	r = p + κ_{·L} (κ_LL + 0.05·I)⁻¹ (t_L − p_L)
//
// (Rasmussen and Williams 2006, section 2.7). Samples go where r is largest, under the links. There are four
// rounds, each with the directions of the one before. Linked samples then count as labelled, with the cluster
// of four rounds without them. A sample that is nearer to another direction than to that of its given cluster
// has the share of the nearest for its own.
type Corrected struct{ z *mat.Dense }

// NewCorrected returns what corrects clusters of the rows of x, which is copied to a dense matrix.
func NewCorrected(x mat.Matrix) (*Corrected, error) {
	s, err := readSamples(x, DistanceCosine)
	if err != nil {
		return nil, fmt.Errorf("corrected clusters: %w", err)
	}
	return &Corrected{z: s.centred()}, nil
}

// Covariance returns κ(i, j): the share of one sample's correction that the other gets.
func (c *Corrected) Covariance(i, j int) float64 {
	return covariance(elementary.Dot(c.z.RawRowView(i), c.z.RawRowView(j)))
}

// covariance is κ of two samples whose product z_i·z_j is given.
func covariance(product float64) float64 { return elementary.Exp((product - 1) / correctedReach) }

// Correction is what Fit finds.
type Correction struct {
	Labels []int // the cluster of each sample, from 0
	// Shares, n×K, is r, cut off below 0, in shares that add up to 1. Labelled samples have all of theirs in one.
	Shares *mat.Dense
}

// Fit returns k clusters of the n samples, given the existing groups, from 0 to k−1, and labels and links.
// Without these the groups stay. It is an error that wraps ErrDeadEnd where no k clusters hold to the links.
func (c *Corrected) Fit(ctx context.Context, k int, groups []int, known Known) (_ *Correction, err error) {
	defer wrap(&err, "corrected clusters")
	n, m := c.z.Dims()
	switch {
	case len(groups) != n:
		return nil, fmt.Errorf("groups has %d entries for %d samples", len(groups), n)
	case k < 1:
		return nil, errors.New("the number of clusters must be 1 or more")
	}
	if i := slices.IndexFunc(groups, func(g int) bool { return g < 0 || g >= k }); i >= 0 {
		return nil, fmt.Errorf("sample %d is in cluster %d; expected less than %d", i+1, groups[i], k)
	}
	u, err := newUnits(n, k, known)
	if err != nil {
		return nil, err
	}
	var labelled, linked []int
	placed := slices.Clone(groups)
	for i, at := range u.of {
		switch {
		case u.fixed[at] >= 0:
			placed[i] = u.fixed[at]
			labelled = append(labelled, i)
		case len(u.members[at]) > 1 || len(u.apart[at]) > 0:
			linked = append(linked, i)
		}
	}
	t := &turns{
		Corrected: c, u: u, k: k, groups: groups, lifted: make([]bool, n), directions: mat.NewDense(k, m, nil),
		shares: mat.NewDense(n, k, nil), empty: make([]bool, k), costs: make([]float64, len(u.members)*k),
	}
	t.share(groups)
	for i, g := range groups {
		row := t.shares.RawRowView(i)
		t.lifted[i] = row[g] < slices.Max(row)
	}
	if t.share(placed); len(labelled)+len(linked) > 0 {
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
	if err != nil {
		return nil, err
	}
	for i := range n {
		row := t.shares.RawRowView(i)
		for j, r := range row {
			row[j] = max(r, 0)
		}
		if sum := elementary.Sum(row); u.fixed[u.of[i]] >= 0 || sum == 0 {
			clear(row)
			row[placed[i]] = 1
		} else {
			floats.Scale(1/sum, row)
		}
	}
	return &Correction{Labels: placed, Shares: t.shares}, nil
}

// turns are the turns of a Fit.
type turns struct {
	*Corrected
	u                  *units
	k                  int
	groups             []int
	lifted             []bool     // samples that another direction is nearer to than that of their group
	directions, shares *mat.Dense // k×m and n×k
	empty              []bool     // clusters that hold no sample
	costs              []float64  // of each unit in each cluster
}

// share sets the shares to p, for the directions of these clusters.
func (t *turns) share(labels []int) {
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

// run moves samples in turn from their first clusters, and counts the given ones as labelled.
func (t *turns) run(ctx context.Context, placed, given []int) error {
	correct, err := t.covariance(given)
	if err != nil {
		return err
	}
	for range correctedTurns {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.share(placed)
		correct(t.shares, placed)
		clear(t.costs)
		for i, at := range t.u.of {
			for j, r := range t.shares.RawRowView(i) {
				if t.empty[j] {
					r = -1e6 // more than samples can gain
				}
				t.costs[at*t.k+j] -= r
			}
		}
		next, err := t.u.place(t.k, t.costs)
		if err != nil {
			return err
		}
		t.u.lowerAll(t.k, t.costs, next)
		for i, at := range t.u.of {
			placed[i] = next[at]
		}
	}
	return nil
}

// covariance returns what corrects shares by given samples, whose clusters labels holds.
func (c *Corrected) covariance(given []int) (correct func(shares *mat.Dense, labels []int), err error) {
	if len(given) == 0 {
		return func(*mat.Dense, []int) {}, nil
	}
	n, _ := c.z.Dims()
	kernel := mat.NewDense(n, len(given), nil)
	blas.Gemm(blas.NoTrans, blas.Trans, 1, c.z.RawMatrix(), rowsOf(c.z, given).RawMatrix(), 0, kernel.RawMatrix())
	for i, s := range kernel.RawMatrix().Data {
		kernel.RawMatrix().Data[i] = covariance(s)
	}
	among := mat.NewSymDense(len(given), nil)
	for a, i := range given {
		for b := a; b < len(given); b++ {
			among.SetSym(a, b, kernel.At(i, b))
		}
		among.SetSym(a, a, 1+correctedNoise) // of a row of zeros too
	}
	raw := among.RawSymmetric()
	factor, ok := blas.Cholesky(blas.Matrix{Rows: raw.N, Cols: raw.N, Stride: raw.Stride, Data: raw.Data})
	if !ok {
		return nil, errors.New("the samples have values that cannot be compared")
	}
	return func(shares *mat.Dense, labels []int) {
		_, k := shares.Dims()
		rest := mat.NewDense(len(given), k, nil)
		for at, i := range given {
			row := rest.RawRowView(at)
			floats.Sub(row, shares.RawRowView(i))
			row[labels[i]]++
		}
		blas.Trsm(blas.Left, blas.Trans, factor, rest.RawMatrix())
		blas.Trsm(blas.Left, blas.NoTrans, factor, rest.RawMatrix())
		blas.Gemm(blas.NoTrans, blas.NoTrans, 1, kernel.RawMatrix(), rest.RawMatrix(), 1, shares.RawMatrix())
	}, nil
}
