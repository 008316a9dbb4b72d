package factor

import "gonum.org/v1/gonum/mat"

// Basis says what the basis vectors are made of.
type Basis int

const (
	// Free basis vectors may hold any values ≥ 0.
	Free Basis = iota
	// Concept basis vectors are combinations of the samples with weights ≥ 0,
	// U = X·W (Xu and Gong 2004). The data may then be of any sign.
	Concept
)

var basisNames = names[Basis]{"basis", []string{"free", "concept"}}

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

// freeBasis is its own parameter.
type freeBasis struct{ u *mat.Dense }

func (b freeBasis) step(c cost, s solver) { s.step(b.u, c.basisBlock(), nil) }

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

func divideRows(a *mat.Dense, scale []float64) {
	for r, s := range scale {
		row := a.RawRowView(r)
		for i := range row {
			row[i] /= s
		}
	}
}
