package factor

import (
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

// A block is the problem in one factor θ (k×p, θ ≥ 0) while the other one is
// held: the gradient of the cost at θ, split into its parts (for the Frobenius
// cost half of it: the factor 2 is left out everywhere).
//
// A block of the Frobenius cost on a free basis is quadratic. It has h, and
// each column v of θ minimises ½vᵀhv − linᵀv over v ≥ 0, which is what a solver
// that minimises by coordinates needs; for the multiplicative rule h·θ is the
// positive part. Every other block has pos instead of h.
type block struct {
	lin *mat.Dense // the negative part; for signed data the linear term, of any sign
	h   *mat.Dense // k×k, or nil
	pos *mat.Dense // the positive part where h is nil
	// neg is nil but for signed data: the part that the square-root rule
	// keeps from lin. negH is the same for a quadratic block.
	neg, negH *mat.Dense
}

// A solver moves a factor towards the minimum of its block.
type solver interface {
	// step changes theta in place. The terms are what penalties add to the
	// two parts of the gradient, or nil.
	step(theta *mat.Dense, b block, terms *terms)
}

// terms are the parts that penalties add to the gradient, both ≥ 0. With root
// the factor moves by the square root of its ratio.
type terms struct {
	neg, pos *mat.Dense
	root     bool
}

// multiplicative is the papers' rule: θ ← θ∘(negative part/positive part). For
// signed data it is θ ← θ∘(ℓ + √(ℓ² + 4P⁺P⁻))/(2P⁺) (Sha et al.; CCF paper,
// eqs 23 and 27, with the misprints mended).
type multiplicative struct{ buf, buf2 *mat.Dense }

func (s *multiplicative) step(theta *mat.Dense, b block, t *terms) {
	pos := b.pos
	if b.h != nil {
		s.buf = sized(s.buf, theta)
		gemm(s.buf, b.h, noTrans, theta, noTrans)
		pos = s.buf
	}
	neg := b.neg
	if b.negH != nil {
		s.buf2 = sized(s.buf2, theta)
		gemm(s.buf2, b.negH, noTrans, theta, noTrans)
		neg = s.buf2
	}
	k, _ := theta.Dims()
	for r := range k {
		th, lin, p := theta.RawRowView(r), b.lin.RawRowView(r), pos.RawRowView(r)
		var tn, tp, n []float64
		if t != nil {
			tn, tp = t.neg.RawRowView(r), t.pos.RawRowView(r)
		}
		switch {
		case neg != nil:
			n = neg.RawRowView(r)
			multiplySigned(th, lin, p, n, tn, tp)
		case t != nil && t.root:
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

// sized returns a matrix of the shape of like, buf itself where it has it.
func sized(buf, as *mat.Dense) *mat.Dense {
	if buf != nil {
		r, c := buf.Dims()
		if ar, ac := as.Dims(); r == ar && c == ac {
			return buf
		}
	}
	return like(as)
}
