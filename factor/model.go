package factor

import (
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
)

// A model is a cost at a basis and coefficients. Its factors are the parameters
// of the basis, then v.
type model interface {
	parameters() []*mat.Dense // of the basis
	// block is the block of the cost in factor i. It holds until moved is called.
	block(i int) Block
	// moved says that factor i has changed.
	moved(i int)
	// value is the cost.
	value() float64
	// lengths returns those of the basis vectors, 1 for vectors of zeros.
	lengths() []float64
	// rescale divides basis vector r by scale[r]. v is not touched.
	rescale(scale []float64)
	// vectors returns the basis vectors, k×m, or nil where there are none among
	// the features.
	vectors() *mat.Dense
	// weights returns W, k×n, or nil where the basis is no concept.
	weights() *mat.Dense
	// pullBack writes a part of the gradient in the basis vectors as one in
	// parameter i.
	pullBack(dst, g *mat.Dense, i int)
}

// plainModel puts any cost and any basis together.
type plainModel struct {
	cost
	basis
	u        *mat.Dense
	last     int          // the factor v, after the parameters
	full     *mat.Dense   // k×m
	lin, pos []*mat.Dense // pulled back to each parameter
	form     *mat.Dense   // k×k, the quadratic pulled back
}

func newPlainModel(c cost, b basis, u *mat.Dense) *plainModel {
	p := &plainModel{cost: c, basis: b, u: u, last: len(b.parameters())}
	if _, free := b.(freeBasis); free {
		return p
	}
	k, _ := u.Dims()
	p.full, p.form = algebra.Like(u), mat.NewDense(k, k, nil)
	for _, theta := range b.parameters() {
		p.lin, p.pos = append(p.lin, algebra.Like(theta)), append(p.pos, algebra.Like(theta))
	}
	return p
}

func (p *plainModel) block(i int) Block {
	if i == p.last {
		return p.coefficientBlock()
	}
	b := p.basisBlock()
	if p.full == nil {
		return b
	}
	pos := b.Positive
	p.pullBack(p.lin[i], b.Linear, i)
	if b.Quadratic != nil {
		if p.pullBackQuadratic(p.form, b.Quadratic, i) {
			return Block{Linear: p.lin[i], Quadratic: p.form}
		}
		algebra.Gemm(p.full, b.Quadratic, algebra.NoTrans, p.u, algebra.NoTrans)
		pos = p.full
	}
	p.pullBack(p.pos[i], pos, i)
	return Block{Linear: p.lin[i], Positive: p.pos[i]}
}

func (p *plainModel) moved(i int) {
	v := i == p.last
	if !v {
		p.basis.moved(i)
	}
	p.cost.moved(v)
}

func (p *plainModel) lengths() []float64 { return algebra.Lengths(p.u) }

func (p *plainModel) vectors() *mat.Dense { return p.u }
