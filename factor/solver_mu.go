package factor

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Multiplicative is the papers' rule: θ ← θ∘(negative part/positive part) for one
// factor after another. For signed data it is θ ← θ∘(ℓ + √(ℓ² + 4P⁺P⁻))/(2P⁺) (Sha et
// al.; CCF paper, eqs 23 and 27, with the misprints mended). It serves all parts.
type Multiplicative struct{}

// Serves implements [Solver].
func (Multiplicative) Serves(Parts) error { return nil }

// Start implements [Solver].
func (Multiplicative) Start(f *Factorisation) (func(context.Context) error, error) {
	steps := make([]multiplicative, len(f.Factors()))
	return func(context.Context) error {
		for i, theta := range f.Factors() {
			steps[i].step(theta, f.Block(i), f.Terms(i))
			f.Moved(i)
		}
		return nil
	}, nil
}

// multiplicative does the steps of one factor. It holds what the step under way is made
// of, so that none allocates.
type multiplicative struct {
	buf, buf2       *mat.Dense
	theta, pos, neg *mat.Dense
	linear          *mat.Dense
	terms           *Terms
	row             func(r int)
}

// step changes theta in place. The terms may be nil.
func (s *multiplicative) step(theta *mat.Dense, b Block, t *Terms) {
	s.theta, s.linear, s.pos, s.neg, s.terms = theta, b.Linear, b.Positive, b.Negative, t
	if b.Quadratic != nil {
		s.buf = algebra.Sized(s.buf, theta)
		algebra.Gemm(s.buf, b.Quadratic, algebra.NoTrans, theta, algebra.NoTrans)
		s.pos = s.buf
	}
	if b.NegativeQuadratic != nil {
		s.buf2 = algebra.Sized(s.buf2, theta)
		algebra.Gemm(s.buf2, b.NegativeQuadratic, algebra.NoTrans, theta, algebra.NoTrans)
		s.neg = s.buf2
	}
	if s.row == nil {
		s.row = s.stepRow
	}
	k, n := theta.Dims()
	parallel.DoWork(divisionWork*k*n, k, s.row)
}

// divisionWork is how many multiplications take as long as a division and what goes with it.
const divisionWork = 32

// stepRow changes row r of theta.
func (s *multiplicative) stepRow(r int) {
	th, lin, pos := s.theta.RawRowView(r), s.linear.RawRowView(r), s.pos.RawRowView(r)
	var tn, tp []float64
	if s.terms != nil {
		tn, tp = s.terms.Negative.RawRowView(r), s.terms.Positive.RawRowView(r)
	}
	switch {
	case s.neg != nil:
		multiplySigned(th, lin, pos, s.neg.RawRowView(r), tn, tp)
	case s.terms != nil && s.terms.Root:
		multiplyRoot(th, lin, pos, tn, tp)
	default:
		multiply(th, lin, pos, tn, tp)
	}
}

// multiply is θ ← θ∘(lin + tn)/(pos + tp).
func multiply(th, lin, pos, tn, tp []float64) {
	if tn == nil {
		simd.Step(th, lin, pos, algebra.LeastDenominator, algebra.Floor)
		return
	}
	var above, below [64]float64
	for from := 0; from < len(th); from += len(below) {
		part := th[from:min(from+len(below), len(th))]
		l, n, p, d := lin[from:][:len(part)], tn[from:][:len(part)], pos[from:][:len(part)], tp[from:][:len(part)]
		for i := range part {
			above[i], below[i] = l[i]+n[i], p[i]+d[i]
		}
		simd.Step(part, above[:], below[:], algebra.LeastDenominator, algebra.Floor)
	}
}

// multiplyRoot is θ ← θ∘√((lin + tn)/(pos + tp)).
func multiplyRoot(th, lin, pos, tn, tp []float64) {
	for i, x := range th {
		th[i] = algebra.Moved(x, math.Sqrt((lin[i]+tn[i])/max(pos[i]+tp[i], algebra.LeastDenominator)))
	}
}

// multiplySigned is θ ← θ∘(ℓ + √(ℓ² + 4P⁺P⁻))/(2P⁺), for ℓ < 0 in the form that
// does not cancel.
func multiplySigned(th, lin, pos, neg, tn, tp []float64) {
	for i, x := range th {
		l, p, n := lin[i], pos[i], neg[i]
		if tn != nil {
			p, n = p+tp[i], n+tn[i]
		}
		root := math.Sqrt(l*l + 4*p*n)
		if l >= 0 {
			th[i] = algebra.Moved(x, (l+root)/max(2*p, algebra.LeastDenominator))
		} else {
			th[i] = algebra.Moved(x, 2*n/max(root-l, algebra.LeastDenominator))
		}
	}
}
