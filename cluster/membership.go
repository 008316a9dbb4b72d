package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// Membership describes how well a sample fits its group.
type Membership struct {
	Group         int     // the sample's group
	Distance      float64 // distance from its centre, ‖x − c‖ or 1 − cos
	Other         int     // the nearest other group, −1 if there is none
	OtherDistance float64 // distance from that group's centre, 0 if there is none
	// Confidence is the simplified silhouette max(0, (b−a)/max(a, b)) of the two distances a and b (Hruschka,
	// Campello and de Castro 2006). It is 1 if there is no other group, and 0 if the other group is as near.
	Confidence float64
}

// Centres are the centres of groups.
type Centres struct {
	Distance Distance // the distance between samples and centres
	// Points holds the centres as rows, k×m: the mean of each group's samples. Under the cosine distance, samples are
	// first scaled to unit length.
	Points *mat.Dense
	Sizes  []int // number of samples of each group; a group of size 0 has no centre and is ignored
}

// NewCentres returns the centres of the groups of the rows of x, n×m, dense or a *sparse.CSR. Groups are numbered from
// 0.
func NewCentres(d Distance, x mat.Matrix, groups []int) (_ *Centres, err error) {
	defer guard.CatchWithin(&err, "centres of groups")
	s := guard.Must(readSamples(x, d))
	guard.FailIf(len(groups) != s.n, "%d samples, but groups has %d entries", s.n, len(groups))
	k := 0
	for i, g := range groups {
		guard.FailIf(g < 0 || g >= s.n, "row %d is in group %d; expected 0 to the number of samples, %d", i+1, g, s.n)
		k = max(k, g+1)
	}
	c := &Centres{Distance: d, Points: mat.NewDense(k, s.m, nil), Sizes: make([]int, k)}
	for i, g := range groups {
		c.Sizes[g]++
		s.addTo(c.Points.RawRowView(g), s.weights[i], i)
	}
	for g, size := range c.Sizes {
		for j := range s.m {
			c.Points.RawRowView(g)[j] /= float64(max(size, 1))
		}
	}
	return c, nil
}

// Memberships returns the membership of each row of x in its group. If groups is nil, a row's group is the one
// with the nearest centre, ties to the lower one. Rows are independent of each other.
func (c *Centres) Memberships(ctx context.Context, x mat.Matrix, groups []int) (out []Membership, err error) {
	defer guard.CatchWithin(&err, "memberships")
	var filled []int // the groups that have a centre
	for g, size := range c.Sizes {
		if size > 0 {
			filled = append(filled, g)
		}
	}
	guard.FailIf(len(filled) == 0, "no groups")
	rows := guard.Must(readSamples(x, c.Distance))
	centres, err := readSamples(c.Points, c.Distance)
	guard.Check(guard.Wrap(err, "centres"))
	guard.Check(c.validate(rows, groups, groups == nil))
	out = make([]Membership, rows.n)
	err = parallel.Blocks(ctx, 0, rows.n, 32, func(_, from, to int) {
		buf, costs := make([]float64, rows.m), make([]float64, len(c.Sizes))
		for i := from; i < to; i++ {
			row := rows.row(i, buf)
			own, other := -1, -1
			for _, g := range filled {
				costs[g] = c.Distance.between(row, rows.weights[i], c.Points.RawRowView(g), centres.weights[g])
				if own < 0 || costs[g] < costs[own] {
					own = g
				}
			}
			if groups != nil {
				own = groups[i]
			}
			for _, g := range filled {
				if g != own && (other < 0 || costs[g] < costs[other]) {
					other = g
				}
			}
			m := &out[i]
			*m = Membership{Group: own, Distance: c.Distance.length(costs[own]), Other: other, Confidence: 1}
			if other >= 0 {
				m.OtherDistance = c.Distance.length(costs[other])
				if m.Confidence = 0; m.OtherDistance > m.Distance {
					m.Confidence = (m.OtherDistance - m.Distance) / m.OtherDistance
				}
			}
		}
	})
	return out, err
}

// validate returns an error if the samples do not fit the centres or a group has no centre.
func (c *Centres) validate(s *samples, groups []int, optional bool) error {
	if _, m := c.Points.Dims(); s.m != m || len(groups) != s.n && !optional {
		return fmt.Errorf("%d×%d samples do not match groups of %d samples and centres of %d columns", s.n, s.m, len(groups), m)
	}
	if i := slices.IndexFunc(groups, func(g int) bool { return g < 0 || g >= len(c.Sizes) || c.Sizes[g] == 0 }); i >= 0 {
		return fmt.Errorf("row %d is in group %d, which has no centre", i+1, groups[i])
	}
	return nil
}

// Memberships returns the membership of each row of x, n×m, with the centres computed from the groups.
func Memberships(ctx context.Context, d Distance, x mat.Matrix, groups []int) ([]Membership, error) {
	c, err := NewCentres(d, x, groups)
	if err != nil {
		return nil, err
	}
	return c.Memberships(ctx, x, groups)
}

// SpreadLevels is the number of quantiles of Spread.
const SpreadLevels = 101

// Spread returns, for each group, the quantiles of its samples' distances from the centre of the group's other
// samples: k×SpreadLevels, the minimum to the maximum. x and groups must be the arguments of NewCentres. A group of
// one sample gets the quantiles over all groups; if no group has two samples, all values are math.MaxFloat64.
func (c *Centres) Spread(x mat.Matrix, groups []int) (_ *mat.Dense, err error) {
	defer guard.CatchWithin(&err, "spread of groups")
	s := guard.Must(readSamples(x, c.Distance))
	guard.Check(c.validate(s, groups, false))
	k, m := c.Points.Dims()
	far := make([][]float64, k)
	var all []float64
	buf, others := make([]float64, m), make([]float64, m)
	for i, g := range groups {
		if c.Sizes[g] < 2 {
			continue
		}
		row, size := s.row(i, buf), float64(c.Sizes[g])
		for j, v := range c.Points.RawRowView(g) {
			others[j] = (size*v - s.weights[i]*row[j]) / (size - 1)
		}
		weight := 1.0
		if c.Distance == DistanceCosine {
			if weight = 0; norm(others) >= 1/largestNorm {
				weight = 1 / norm(others)
			}
		}
		cost := c.Distance.length(c.Distance.between(row, s.weights[i], others, weight))
		far[g], all = append(far[g], cost), append(all, cost)
	}
	if all == nil {
		all = []float64{math.MaxFloat64}
	}
	out := mat.NewDense(k, SpreadLevels, nil)
	slices.Sort(all)
	for g, sorted := range far {
		if slices.Sort(sorted); sorted == nil {
			sorted = all
		}
		for level := range SpreadLevels {
			// Linear interpolation between two values.
			at := float64(level) / (SpreadLevels - 1) * float64(len(sorted)-1)
			low := min(int(at), len(sorted)-1)
			high := min(low+1, len(sorted)-1)
			out.Set(g, level, sorted[low]+(at-float64(low))*(sorted[high]-sorted[low]))
		}
	}
	return out, nil
}
