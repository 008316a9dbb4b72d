package factor

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// A factor below floor is set to 0: it contributes nothing, and numbers that shrink
// further, iteration after iteration, end as denormals, on which processors are slow.
// A denominator of a step, which multiplies two factors and more, is taken for leastDenominator
// at least: above it a float64 has all its digits.
const (
	floor            = 1e-150
	leastDenominator = 1e-300
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

// multiplicative does the steps of one factor.
type multiplicative struct{ buf, buf2 *mat.Dense }

// step changes theta in place. The terms may be nil.
func (s *multiplicative) step(theta *mat.Dense, b Block, t *Terms) {
	pos := b.Positive
	if b.Quadratic != nil {
		s.buf = sized(s.buf, theta)
		gemm(s.buf, b.Quadratic, noTrans, theta, noTrans)
		pos = s.buf
	}
	neg := b.Negative
	if b.NegativeQuadratic != nil {
		s.buf2 = sized(s.buf2, theta)
		gemm(s.buf2, b.NegativeQuadratic, noTrans, theta, noTrans)
		neg = s.buf2
	}
	k, _ := theta.Dims()
	for r := range k {
		th, lin, p := theta.RawRowView(r), b.Linear.RawRowView(r), pos.RawRowView(r)
		var tn, tp, n []float64
		if t != nil {
			tn, tp = t.Negative.RawRowView(r), t.Positive.RawRowView(r)
		}
		switch {
		case neg != nil:
			n = neg.RawRowView(r)
			multiplySigned(th, lin, p, n, tn, tp)
		case t != nil && t.Root:
			multiplyRoot(th, lin, p, tn, tp)
		default:
			multiply(th, lin, p, tn, tp)
		}
	}
}

// multiply is θ ← θ∘(lin + tn)/(pos + tp).
func multiply(th, lin, pos, tn, tp []float64) {
	lin, pos = lin[:len(th)], pos[:len(th)]
	if tn == nil {
		for i, x := range th {
			th[i] = moved(x, lin[i]/max(pos[i], leastDenominator))
		}
		return
	}
	tn, tp = tn[:len(th)], tp[:len(th)]
	for i, x := range th {
		th[i] = moved(x, (lin[i]+tn[i])/max(pos[i]+tp[i], leastDenominator))
	}
}

// multiplyRoot is θ ← θ∘√((lin + tn)/(pos + tp)).
func multiplyRoot(th, lin, pos, tn, tp []float64) {
	for i, x := range th {
		th[i] = moved(x, math.Sqrt((lin[i]+tn[i])/max(pos[i]+tp[i], leastDenominator)))
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
			th[i] = moved(x, (l+root)/max(2*p, leastDenominator))
		} else {
			th[i] = moved(x, 2*n/max(root-l, leastDenominator))
		}
	}
}

// moved returns x·by, or 0 for less than floor. What is 0 stays so.
func moved(x, by float64) float64 {
	if y := x * by; x > 0 && !(y < floor) {
		return y
	}
	return 0
}
