package factor

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Basis says what the basis vectors are made of.
type Basis int

const (
	// Free basis vectors may hold any values ≥ 0.
	Free Basis = iota
	// Concept basis vectors are combinations of the samples with weights ≥ 0,
	// U = X·W (Xu and Gong 2004). The data may then be of any sign.
	Concept
	// RankOne basis vectors are images of rank one, u_r = a_r ⊗ b_r, for
	// samples that are images (Shashua and Hazan 2005).
	RankOne
)

var basisNames = names[Basis]{"basis", []string{"free", "concept", "rank-one"}}

// String returns the name that settings use.
func (b Basis) String() string { return basisNames.name(b) }

// UnmarshalText reads the name that settings use.
func (b *Basis) UnmarshalText(text []byte) error { return basisNames.read(b, text) }

// A basis holds the parameters that U, k×m, is made of.
type basis interface {
	// step moves the parameters one step and brings U up to date.
	step(c cost, s solver)
	// rescale divides basis vector r by scale[r].
	rescale(scale []float64)
	// weights returns W, k×n, or nil.
	weights() *mat.Dense
}

// freeBasis is its own parameter. With unit its vectors are brought to unit
// length after each step, without the coefficients following.
type freeBasis struct {
	u    *mat.Dense
	unit bool
}

func (b freeBasis) step(c cost, s solver) {
	s.step(b.u, c.basisBlock(), nil)
	if b.unit {
		divideRows(b.u, lengths(b.u))
	}
}

func (b freeBasis) rescale(scale []float64) { divideRows(b.u, scale) }

func (b freeBasis) weights() *mat.Dense { return nil }

// conceptBasis is u = w·X, for any cost: the parts of the gradient in u are
// pulled back to w by Xᵀ. For the Frobenius cost conceptModel does the same
// through the samples' inner products.
type conceptBasis struct {
	x        data
	w, u     *mat.Dense // k×n, k×m
	lin, pos *mat.Dense // k×n
	full     *mat.Dense // k×m
}

func newConceptBasis(x data, w, u *mat.Dense) *conceptBasis {
	x.timesCoefficients(u, w)
	return &conceptBasis{x: x, w: w, u: u, lin: like(w), pos: like(w), full: like(u)}
}

func (b *conceptBasis) step(c cost, s solver) {
	bl := c.basisBlock()
	pos := bl.pos
	if bl.h != nil {
		gemm(b.full, bl.h, noTrans, b.u, noTrans)
		pos = b.full
	}
	b.x.timesBasis(b.lin, bl.lin)
	b.x.timesBasis(b.pos, pos)
	s.step(b.w, block{lin: b.lin, pos: b.pos}, nil)
	b.x.timesCoefficients(b.u, b.w)
}

func (b *conceptBasis) rescale(scale []float64) {
	divideRows(b.w, scale)
	divideRows(b.u, scale)
}

func (b *conceptBasis) weights() *mat.Dense { return b.w }

// rankOneBasis is u_r = a_r ⊗ b_r, images of h×w pixels row by row.
type rankOneBasis struct {
	a, b, u *mat.Dense // k×h, k×w, k×hw
	full    *mat.Dense // k×hw
}

func newRankOneBasis(a, b, u *mat.Dense) *rankOneBasis {
	r := &rankOneBasis{a: a, b: b, u: u, full: like(u)}
	r.compose()
	return r
}

func (b *rankOneBasis) compose() {
	k, h := b.a.Dims()
	_, w := b.b.Dims()
	for r := range k {
		row, br := b.u.RawRowView(r), b.b.RawRowView(r)
		for i, a := range b.a.RawRowView(r)[:h] {
			for j, x := range br {
				row[i*w+j] = a * x
			}
		}
	}
}

// step moves a, then b with the new a.
func (b *rankOneBasis) step(c cost, s solver) {
	for _, first := range []bool{true, false} {
		bl := c.basisBlock()
		pos := bl.pos
		if bl.h != nil {
			gemm(b.full, bl.h, noTrans, b.u, noTrans)
			pos = b.full
		}
		theta := b.b
		if first {
			theta = b.a
		}
		s.step(theta, block{lin: b.pull(bl.lin, first), pos: b.pull(pos, first)}, nil)
		b.compose()
	}
}

// pull pulls a part of the gradient in u back to a or to b.
func (b *rankOneBasis) pull(g *mat.Dense, first bool) *mat.Dense {
	k, h := b.a.Dims()
	_, w := b.b.Dims()
	outA, outB := mat.NewDense(k, h, nil), mat.NewDense(k, w, nil)
	for r := range k {
		row, ar, br := g.RawRowView(r), b.a.RawRowView(r), b.b.RawRowView(r)
		for i := range h {
			line := row[i*w : (i+1)*w]
			if first {
				outA.Set(r, i, dot(line, br))
			} else {
				axpy(ar[i], line, outB.RawRowView(r))
			}
		}
	}
	if first {
		return outA
	}
	return outB
}

func (b *rankOneBasis) rescale(scale []float64) {
	divideRows(b.a, scale)
	divideRows(b.u, scale)
}

func (b *rankOneBasis) weights() *mat.Dense { return nil }

// lengths returns the lengths of a's rows, 1 for those of zeros.
func lengths(a *mat.Dense) []float64 {
	k, _ := a.Dims()
	out := make([]float64, k)
	for r := range k {
		row := a.RawRowView(r)
		if out[r] = math.Sqrt(dot(row, row)); out[r] < floor {
			out[r] = 1
		}
	}
	return out
}

func divideRows(a *mat.Dense, scale []float64) {
	for r, s := range scale {
		row := a.RawRowView(r)
		for i := range row {
			row[i] /= s
		}
	}
}
