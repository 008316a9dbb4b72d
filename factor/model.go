package factor

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Basis says which basis vectors U can have.
type Basis int

const (
	BasisFree Basis = iota // vectors may hold any values ≥ 0
	// BasisConcept vectors are combinations of the samples with weights ≥ 0, U = X·W (Xu and Gong 2004).
	// The data may then be of any sign.
	BasisConcept
	// BasisRankOne vectors are images of rank one, u_r = a_r ⊗ b_r, for samples that are images (Shashua
	// and Hazan 2005).
	BasisRankOne
)

type basisInfo struct {
	name       string
	parameters []parameter
	// from returns the parameters, none 0, nearest to factors u (k×m) and v (k×n) of the data, which it overwrites.
	from func(u, v *mat.Dense, image Image) []*mat.Dense
	// new returns the basis of u, k×m, which is the parameter of a free basis.
	new    func(p Parts, x view.Data, parameters []*mat.Dense, u *mat.Dense) basis
	signed bool // says that the basis takes data of any sign under the Frobenius cost
}

type parameter struct {
	name, stream string // in messages, and of random numbers
	size         func(n, m int, image Image) int
	given        func(*Start) *mat.Dense
}

// bases is the list of bases, in the order of their values: one entry each.
var bases = []basisInfo{
	{
		name:       "free",
		parameters: []parameter{{"basis vectors", "basis", func(_, m int, _ Image) int { return m }, func(s *Start) *mat.Dense { return s.Basis }}},
		from: func(u, _ *mat.Dense, _ Image) []*mat.Dense {
			lift(u)
			return []*mat.Dense{u}
		},
		new: func(p Parts, _ view.Data, _ []*mat.Dense, u *mat.Dense) basis { return freeBasis{u, p.UnitNorm} },
	},
	{
		name:       "concept",
		parameters: []parameter{{"weights", "weights", func(n, _ int, _ Image) int { return n }, func(s *Start) *mat.Dense { return s.Weights }}},
		from: func(_, v *mat.Dense, _ Image) []*mat.Dense {
			k, _ := v.Dims()
			sums := make([]float64, k)
			algebra.RowSums(sums, v)
			for r, s := range sums {
				if s < algebra.Floor {
					sums[r] = 1
				}
			}
			algebra.DivideRows(v, sums)
			lift(v)
			return []*mat.Dense{v}
		},
		new: func(_ Parts, x view.Data, parameters []*mat.Dense, u *mat.Dense) basis {
			return conceptBasis{x, parameters[0], u}
		},
		signed: true,
	},
	{
		name: "rank-one",
		parameters: []parameter{
			{"rows", "rows", func(_, m int, i Image) int { return i.of(m).rows() }, func(s *Start) *mat.Dense { return s.Rows }},
			{"columns", "columns", func(_, m int, i Image) int { return i.of(m).Width }, func(s *Start) *mat.Dense { return s.Columns }},
		},
		from: func(u, _ *mat.Dense, image Image) []*mat.Dense {
			lift(u)
			a, b := marginals(u, image)
			return []*mat.Dense{a, b}
		},
		new: func(_ Parts, _ view.Data, parameters []*mat.Dense, u *mat.Dense) basis {
			return rankOneBasis{parameters[0], parameters[1], u}
		},
	},
}

func (b Basis) names() enum.Names[Basis] {
	var names []string
	for _, i := range bases {
		names = append(names, i.name)
	}
	return enum.Of[Basis]("basis", names...)
}

func (b Basis) String() string                   { return b.names().String(b) }
func (b *Basis) UnmarshalText(name []byte) error { return b.names().UnmarshalText(b, name) }
func (b Basis) MarshalText() ([]byte, error)     { return b.names().MarshalText(b) }
func (b Basis) Values() []string                 { return b.names().Values() }

// A basis holds the parameters that U, k×m, is a function of, linear in each of them.
type basis interface {
	// moved brings U up to date with parameter i.
	moved(i int)
	// pullBack writes a part of the gradient in U, k×m, as one in parameter i.
	pullBack(dst, g *mat.Dense, i int)
}

// freeBasis is its own parameter. With unit its vectors get unit length whenever they move.
type freeBasis struct {
	u    *mat.Dense
	unit bool
}

func (b freeBasis) moved(int) {
	if b.unit {
		algebra.DivideRows(b.u, algebra.Lengths(b.u))
	}
}

func (b freeBasis) pullBack(dst, g *mat.Dense, _ int) { dst.Copy(g) }

// conceptBasis is u = w·X, for any cost; conceptModel is faster under the Frobenius cost.
type conceptBasis struct {
	x    view.Data
	w, u *mat.Dense // k×n, k×m
}

func (b conceptBasis) moved(int)                         { b.x.TimesCoefficients(b.u, b.w) }
func (b conceptBasis) pullBack(dst, g *mat.Dense, _ int) { b.x.TimesBasis(dst, g) }

// rankOneBasis is u_r = a_r ⊗ b_r, images of h×w pixels row by row.
type rankOneBasis struct {
	a, b, u *mat.Dense // k×h, k×w, k×hw
}

func (b rankOneBasis) moved(int) {
	k, h := b.a.Dims()
	_, w := b.b.Dims()
	for r := range k {
		row, br := b.u.RawRowView(r), b.b.RawRowView(r)
		for i, a := range b.a.RawRowView(r)[:h] {
			floats.ScaleTo(row[i*w:][:w], a, br)
		}
	}
}

func (b rankOneBasis) pullBack(dst, g *mat.Dense, parameter int) {
	k, h := b.a.Dims()
	_, w := b.b.Dims()
	lines := make([]int, h)
	for i := range lines {
		lines[i] = i
	}
	dst.Zero()
	for r := range k {
		row, to, ar, br := g.RawRowView(r), dst.RawRowView(r), b.a.RawRowView(r), b.b.RawRowView(r)
		switch {
		case w%algebra.GramLanes == 0 && parameter == 0:
			simd.Dots(to, br, row, lines)
		case w%algebra.GramLanes == 0:
			simd.AddRows(to, ar, row, lines)
		default:
			for i := range h {
				if line := row[i*w : (i+1)*w]; parameter == 0 {
					to[i] = algebra.Dot(line, br)
				} else {
					algebra.Axpy(ar[i], line, to)
				}
			}
		}
	}
}

// pullBackQuadratic returns the quadratic of a block in U, k×k, as that of one in a parameter: Σ q_rs·⟨u_r, u_s⟩ is a
// quadratic form in the a_r with q_rs·⟨b_r, b_s⟩, and vice versa.
func (b rankOneBasis) pullBackQuadratic(q *mat.Dense, parameter int) *mat.Dense {
	form := algebra.SelfGram([]*mat.Dense{b.b, b.a}[parameter])
	form.MulElem(form, q)
	return form
}

// marginals returns the rank-one images a ⊗ b with the sums of u's images over their rows and their columns.
func marginals(u *mat.Dense, image Image) (a, b *mat.Dense) {
	k, m := u.Dims()
	image = image.of(m)
	h, w := image.rows(), image.Width
	a, b = mat.NewDense(k, h, nil), mat.NewDense(k, w, nil)
	for r := range k {
		row, ar, br := u.RawRowView(r), a.RawRowView(r), b.RawRowView(r)
		var total float64
		for i := range h {
			for j := range w {
				x := row[i*w+j]
				ar[i] += x
				br[j] += x
				total += x
			}
		}
		for j := range br {
			br[j] /= max(total, algebra.Floor)
		}
	}
	return a, b
}

// Image is the size of the images that samples are. An image is stored row by row, one channel after
// another. The zero value stands for square images of one channel.
type Image struct {
	Height, Width, Channels int // Channels is how many there are; 0 means 1
}

// ForImages returns the method for samples that are images of the size. Methods that are not made of
// parts do not see samples as images.
func ForImages(m Method, size Image) Method {
	c, ok := m.(Composition)
	if !ok || size == (Image{}) {
		return m
	}
	p := c.AsParts()
	p.Image = size
	return p
}

// of returns the size of images of m values: a square for none. It is 0×0 where there is no such image.
func (i Image) of(m int) Image {
	if i == (Image{}) {
		side := int(math.Round(math.Sqrt(float64(m))))
		i = Image{Height: side, Width: side}
	}
	if i.Height < 1 || i.Width < 1 || i.Channels < 0 || i.rows()*i.Width != m {
		return Image{}
	}
	return i
}

// rows is how many rows of Width values an image has.
func (i Image) rows() int { return i.Height * max(i.Channels, 1) }

// check reports that samples of m values are no images, which what is for.
func (i Image) check(m int, what string) error {
	if i.of(m) != (Image{}) {
		return nil
	}
	size := "square"
	if i != (Image{}) {
		size = fmt.Sprintf("%d×%d", i.rows(), i.Width)
	}
	return fmt.Errorf("%s needs images, but samples of %d features are not %s images", what, m, size)
}

// A model is a cost at a basis and coefficients. Its factors are the parameters of the basis, then v.
type model interface {
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
	// vectors returns the basis vectors, k×m, or nil where there are none among the features.
	vectors() *mat.Dense
	// pullBack writes a part of the gradient in the basis vectors as one in parameter i.
	pullBack(dst, g *mat.Dense, i int)
}

type plainModel struct {
	cost
	basis
	u          *mat.Dense
	parameters []*mat.Dense
}

func (p *plainModel) block(i int) Block {
	if i == len(p.parameters) {
		return p.coefficientBlock()
	}
	b := p.basisBlock()
	if p.u == p.parameters[0] {
		return b
	}
	out := Block{Linear: algebra.Like(p.parameters[i])}
	p.pullBack(out.Linear, b.Linear, i)
	if b.Quadratic != nil {
		if r, ok := p.basis.(rankOneBasis); ok {
			out.Quadratic = r.pullBackQuadratic(b.Quadratic, i)
			return out
		}
		b.Positive = algebra.Times(b.Quadratic, p.u)
	}
	out.Positive = algebra.Like(p.parameters[i])
	p.pullBack(out.Positive, b.Positive, i)
	return out
}

func (p *plainModel) moved(i int) {
	v := i == len(p.parameters)
	if !v {
		p.basis.moved(i)
	}
	p.cost.moved(v)
}

func (p *plainModel) lengths() []float64 { return algebra.Lengths(p.u) }

func (p *plainModel) rescale(scale []float64) {
	algebra.DivideRows(p.u, scale)
	if p.u != p.parameters[0] {
		algebra.DivideRows(p.parameters[0], scale)
	}
}

func (p *plainModel) vectors() *mat.Dense { return p.u }

// conceptModel is the Frobenius cost at a concept basis, ‖X̃ − vᵀ(w·X)‖². Of the data it needs only the inner
// products K = X·Xᵀ of the samples, or those of a kernel, and X·X̃ᵀ where X̃ is the condensed data:
//
//	W ← W∘(K·V)/(K·W·M),  V ← V∘(K·W)/(V·WᵀKW),  M = VᵀV   (CF; CCF with X̃)
//
// An iteration takes four products with X, or two with K, where plainModel takes five.
type conceptModel struct {
	w, v  *mat.Dense // k×n, k×ñ
	x     view.Data  // the samples; nil of a kernel
	xt    view.Data  // the condensed samples; nil of a kernel
	ties  *view.Condensation
	u     *mat.Dense // k×m, w·X or a buffer; nil of a kernel
	haveU bool       // u is w·X
	// The inner products, formed where there are few samples for their features, where the data has
	// signs, or of a kernel; nil elsewhere.
	k, kt        *mat.Dense // n×n, ñ×n
	kPos, kNeg   *mat.Dense // n×n, the parts of k where k has signs, or nil
	kw           *mat.Dense // w·K, k×n, padded
	haveKW       bool       // kw is of the present w, with its parts
	kwPos, kwNeg *mat.Dense
	kv           *mat.Dense // v·X̃·Xᵀ, k×n
	vv           *mat.Dense // k×k; nil where v has changed since
	lin          *mat.Dense // kw condensed, k×ñ
	h            *mat.Dense // w·K·wᵀ, k×k; nil where w has changed since
	sumSq        float64    // ‖X̃‖², or of a kernel ‖X‖²: the cost is then that of X
}

// The number of samples up to which their inner products are formed: if there are few for their features,
// and for the solver fast. Neither depends on the machine's memory, since results must not.
const (
	mostFormed        = 11000
	mostFormedForFast = 4096
)

func formsProducts(n, m int, fast bool) bool {
	return n <= 2*m && n <= mostFormed || fast && n <= mostFormedForFast
}

// newConceptModel: signed data has negative values, and a fast solver may need the inner products.
func newConceptModel(ctx context.Context, x, xt view.Data, ties *view.Condensation, w, v *mat.Dense, signed, fast bool) (*conceptModel, error) {
	n, m := x.Dims()
	k, _ := w.Dims()
	c := &conceptModel{w: w, v: v, x: x, xt: xt, ties: ties, u: mat.NewDense(k, m, nil), sumSq: view.SumSquares(xt)}
	var err error
	if signed { // the inner products and their two parts are needed
		err = view.CheckMemory(ctx, fmt.Sprintf("the Gram matrix of %d samples with negative values", n), 3, n, n)
	}
	if err == nil && (signed || formsProducts(n, m, fast)) {
		c.k, err = view.InnerProducts(ctx, x)
	}
	if err != nil {
		return nil, err
	}
	c.prepare(signed)
	return c, nil
}

func newKernelModel(k *mat.Dense, ties *view.Condensation, w, v *mat.Dense) *conceptModel {
	c := &conceptModel{w: w, v: v, k: k, ties: ties}
	n, _ := k.Dims()
	for i := range n {
		c.sumSq += ties.Weight[i] * k.At(i, i)
	}
	c.prepare(true)
	return c
}

// prepare condenses K, and splits it, K = K⁺ − K⁻, if it has negative values.
func (c *conceptModel) prepare(signed bool) {
	c.kw, c.kv, c.lin = algebra.Padded(c.w.Dims()), algebra.Like(c.w), algebra.Like(c.v)
	if c.k == nil {
		return
	}
	n, _ := c.k.Dims()
	if c.kt = c.k; !c.ties.None {
		c.kt = mat.NewDense(c.ties.Groups, n, nil)
		c.ties.Rows(c.kt, c.k)
	}
	if !signed || mat.Min(c.k) >= 0 {
		return
	}
	c.kPos, c.kNeg = algebra.Like(c.k), algebra.Like(c.k)
	for i := range n {
		p, q := c.kPos.RawRowView(i), c.kNeg.RawRowView(i)
		for j, x := range c.k.RawRowView(i) {
			p[j], q[j] = max(x, 0), max(-x, 0)
		}
	}
}

// product brings w·K up to date.
func (c *conceptModel) product() {
	if c.haveKW {
		return
	}
	c.haveKW = true
	switch {
	case c.kPos != nil:
		c.kwPos, c.kwNeg = algebra.Times(c.w, c.kPos), algebra.Times(c.w, c.kNeg)
		c.kw.Sub(c.kwPos, c.kwNeg)
	case c.k != nil:
		algebra.Gemm(c.kw, c.w, algebra.NoTrans, c.k, algebra.NoTrans)
	default:
		c.x.TimesBasis(c.kw, c.vectors())
	}
}

func (c *conceptModel) moved(i int) {
	if i == 0 {
		c.h, c.haveKW, c.haveU = nil, false, false
	} else {
		c.vv = nil
	}
}

func (c *conceptModel) block(i int) Block {
	if i == 1 {
		c.condense()
		if c.kPos == nil {
			return Block{Linear: c.lin, Quadratic: c.h}
		}
		return Block{Linear: c.lin, Quadratic: algebra.CrossGram(c.kwPos, c.w), NegativeQuadratic: algebra.CrossGram(c.kwNeg, c.w)}
	}
	c.basisProducts()
	c.product()
	if c.kPos == nil {
		return Block{Linear: c.kv, Positive: algebra.Times(c.vv, c.kw)}
	}
	return Block{Linear: c.kv, Positive: algebra.Times(c.vv, c.kwPos), Negative: algebra.Times(c.vv, c.kwNeg)}
}

// basisProducts brings kv and vv up to date.
func (c *conceptModel) basisProducts() {
	if c.vv != nil {
		return
	}
	if c.kt != nil {
		algebra.Gemm(c.kv, c.v, algebra.NoTrans, c.kt, algebra.NoTrans)
	} else {
		c.xt.TimesCoefficients(c.u, c.v)
		c.haveU = false
		c.x.TimesBasis(c.kv, c.u)
	}
	c.vv = algebra.SelfGram(c.v)
}

// condense brings lin and h up to date.
func (c *conceptModel) condense() {
	if c.h == nil {
		c.product()
		c.ties.Columns(c.lin, c.kw)
		c.h = algebra.CrossGram(c.kw, c.w)
	}
}

func (c *conceptModel) value() float64 {
	c.condense()
	j := c.sumSq - 2*algebra.Inner(c.lin, c.v) + algebra.Inner(c.h, algebra.SelfGram(c.v))
	switch {
	case c.x == nil:
		return max(j, 0) // below 0 by rounding
	case j < nearZero*c.sumSq:
		return c.xt.Residual(c.vectors(), c.v)
	}
	return j
}

func (c *conceptModel) rescale(scale []float64) {
	algebra.DivideRows(c.w, scale)
	c.haveU = false
}

// lengths of a kernel are (WᵀKW)^½.
func (c *conceptModel) lengths() []float64 {
	if c.x != nil {
		return algebra.Lengths(c.vectors())
	}
	c.product()
	k, _ := c.w.Dims()
	out := make([]float64, k)
	for r := range k {
		out[r] = math.Sqrt(max(algebra.Dot(c.kw.RawRowView(r), c.w.RawRowView(r)), 0))
		if out[r] < algebra.Floor {
			out[r] = 1
		}
	}
	return out
}

func (c *conceptModel) vectors() *mat.Dense {
	if c.x != nil && !c.haveU {
		c.x.TimesCoefficients(c.u, c.w)
		c.haveU = true
	}
	return c.u
}

func (c *conceptModel) pullBack(dst, g *mat.Dense, _ int) { c.x.TimesBasis(dst, g) }
