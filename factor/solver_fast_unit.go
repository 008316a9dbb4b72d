package factor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
)

// fastUnit lowers the Frobenius cost of a free basis of unit norm with penalties on the
// coefficients. Basis vectors move exactly: of the vectors u ≥ 0 of length 1 the one that
// lowers the cost most is the positive part of X·v_r − Σ_{s≠r} u_s·v_sᵀv_r, at length 1.
// Penalised coefficients move one by one. Nothing begins ahead of where it is: penalties
// are no products with the data.
type fastUnit struct {
	f     *Factorisation
	order []int // of the condensed coefficients
	// What the penalties add to the second derivatives in a row of V.
	diagonal []float64
	turned   *mat.Dense // 1×m
	gradient *mat.Dense // 1×ñ
}

func startFastUnit(f *Factorisation) (func(context.Context) error, error) {
	for _, p := range f.onCoefficients {
		if _, learns := p.(LearningPenalty); learns {
			return nil, errors.New("fast does not serve penalties that learn")
		}
		if _, ok := p.(CoordinatePenalty); !ok {
			return nil, fmt.Errorf("fast does not serve a penalty that is no CoordinatePenalty, as %T is none", p)
		}
	}
	u, v := f.Factors()[0], f.Factors()[1]
	k, m := u.Dims()
	_, n := v.Dims()
	for r := range k {
		if row := u.RawRowView(r); slices.Max(row) < algebra.Floor {
			for j := range row {
				row[j] = 1 / math.Sqrt(float64(m))
			}
		}
	}
	scaleStart(f)
	s := &fastUnit{f: f, order: f.groupOrder(), turned: mat.NewDense(1, m, nil), gradient: mat.NewDense(1, n, nil)}
	if t := f.Terms(1); t != nil {
		s.diagonal = slices.Clone(t.Diagonal)
	}
	return s.iterate, nil
}

func (s *fastUnit) iterate(ctx context.Context) error {
	f := s.f
	before := f.Objective()
	f.Keep()
	u, v := f.Factors()[0], f.Factors()[1]
	s.turn(ctx, u, f.Block(0))
	f.Moved(0)
	if b := f.Block(1); s.diagonal == nil {
		if err := descent.MinimiseRows(ctx, v, v, b.Linear, b.Quadratic, descent.MostSweeps); err != nil {
			return err
		}
	} else {
		s.sweepEntries(ctx, v, b)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	f.Moved(1)
	if !(f.Objective() <= before) { // by rounding, or beyond what numbers can hold
		f.Restore()
	}
	return nil
}

// rowGradient writes (Hθ − B)_r to buf and returns it.
func rowGradient(buf, theta *mat.Dense, b Block, r int) []float64 {
	k, _ := theta.Dims()
	algebra.Gemm(buf, b.Quadratic.Slice(r, r+1, 0, k).(*mat.Dense), algebra.NoTrans, theta, algebra.NoTrans)
	g := buf.RawRowView(0)
	for j, x := range b.Linear.RawRowView(r) {
		g[j] -= x
	}
	return g
}

// turn moves basis vectors of unit norm.
func (s *fastUnit) turn(ctx context.Context, u *mat.Dense, b Block) {
	k, _ := u.Dims()
	var first float64
	for t := range descent.MostSweeps {
		var lowered float64
		for r := range k {
			if ctx.Err() != nil {
				return
			}
			h := b.Quadratic.At(r, r)
			if h < algebra.LeastDenominator { // no coefficients: all vectors are as good
				continue
			}
			row, c := u.RawRowView(r), rowGradient(s.turned, u, b, r)
			for j, x := range row {
				c[j] = h*x - c[j]
			}
			was := algebra.Dot(c, row)
			peak := slices.Max(c)
			if peak <= 0 { // the least bad single feature
				if peak > was {
					lowered += peak - was
					clear(row)
					row[slices.Index(c, peak)] = 1
				}
				continue
			}
			var square float64
			for j, x := range c {
				c[j] = max(x, 0) / peak
				square += c[j] * c[j]
			}
			length := math.Sqrt(square)
			if gain := peak*length - was; gain > 0 {
				lowered += gain
				for j, x := range c {
					if row[j] = x / length; row[j] < algebra.Floor {
						row[j] = 0
					}
				}
			}
		}
		if t == 0 {
			first = lowered
		}
		if lowered <= descent.StillShare*first {
			return
		}
	}
}

// sweepEntries moves one coefficient after another to its minimum.
func (s *fastUnit) sweepEntries(ctx context.Context, v *mat.Dense, b Block) {
	k, _ := v.Dims()
	var first float64
	for t := range descent.MostSweeps {
		var step float64
		for r := range k {
			if ctx.Err() != nil {
				return
			}
			h, row, g, penalty := b.Quadratic.At(r, r), v.RawRowView(r), rowGradient(s.gradient, v, b, r), s.f.coefficientPenalty(r)
			for _, j := range s.order {
				x, curvature := row[j], h+s.diagonal[j]
				if curvature < algebra.LeastDenominator {
					continue
				}
				y := max(0, x-(g[j]+penalty.Gradient(j))/curvature)
				if y < algebra.Floor {
					y = 0
				}
				if y != x {
					row[j] = y
					penalty.Moved(j, y-x)
					step += curvature * (y - x) * (y - x)
				}
			}
		}
		if t == 0 {
			first = step
		}
		if step <= descent.StillShare*first {
			return
		}
	}
}

// groupOrder orders the condensed coefficients by what their samples are.
func (f *Factorisation) groupOrder() []int {
	var order []int
	seen := make([]bool, f.ties.groups)
	for _, i := range f.sampleOrder() {
		if g := f.ties.group[i]; !seen[g] {
			seen[g] = true
			order = append(order, g)
		}
	}
	return order
}
