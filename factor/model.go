package factor

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Basis is the constraint on the basis vectors U.
type Basis int

const (
	BasisFree Basis = iota // any values ≥ 0
	// BasisConcept restricts basis vectors to combinations of samples with weights ≥ 0, U = X·W (Xu and Gong
	// 2004). The data may then be of any sign.
	BasisConcept
	// BasisRankOne restricts basis vectors to images of rank one, u_r = a_r ⊗ b_r, for samples that are images
	// (Shashua and Hazan 2005).
	BasisRankOne
	// BasisSemi allows basis vectors and data of any sign under the Frobenius cost; coefficients are ≥ 0 (semi-NMF: Ding, Li
	// and Jordan 2010). Their first step does not depend on the initial basis vectors.
	BasisSemi
	// BasisTri makes basis vectors of Parts.FeatureRank groups of features, U = G·Sᵀ (Ding, Li, Peng and Park 2006).
	BasisTri
)

// free reports whether the parameter of the basis is U itself.
func (b Basis) free() bool { return b == BasisFree || b == BasisSemi }

type basisInfo struct {
	name       string
	parameters []parameter
	// fromFactors returns parameters, none 0, that approximate the factors u, k×m, and v, k×n, which it may overwrite.
	fromFactors func(u, v *mat.Dense, p Parts) []*mat.Dense
	// new returns the basis that computes u, k×m; for a free basis u is the parameter.
	new    func(p Parts, x view.Data, parameters []*mat.Dense, u *mat.Dense) basis
	signed bool // the basis supports data of any sign under the Frobenius cost
}

type parameter struct {
	name, stream string // names in messages and of the random stream
	size         func(n, m int, p Parts) int
	inStart      func(*Start) *mat.Dense // nil if initial values cannot be given
	byFeature    bool                    // the parameter has Parts.FeatureRank rows, not k
}

var basisVectors = []parameter{{name: "basis vectors", stream: "basis", size: features, inStart: func(s *Start) *mat.Dense { return s.Basis }}}

func features(_, m int, _ Parts) int { return m }

func freeFromFactors(u, _ *mat.Dense, _ Parts) []*mat.Dense {
	addFifthOfMean(u)
	return []*mat.Dense{u}
}

func newFreeBasis(p Parts, _ view.Data, _ []*mat.Dense, u *mat.Dense) basis {
	return freeBasis{u, p}
}

// bases is indexed by Basis.
var bases = []basisInfo{
	{name: "free", parameters: basisVectors, fromFactors: freeFromFactors, new: newFreeBasis},
	{
		name:       "concept",
		parameters: []parameter{{name: "weights", stream: "weights", size: func(n, _ int, _ Parts) int { return n }, inStart: func(s *Start) *mat.Dense { return s.Weights }}},
		fromFactors: func(_, v *mat.Dense, _ Parts) []*mat.Dense {
			k, _ := v.Dims()
			sums := make([]float64, k)
			algebra.RowSums(sums, v)
			for r, s := range sums {
				if s < algebra.Floor {
					sums[r] = 1
				}
			}
			algebra.DivideRows(v, sums)
			addFifthOfMean(v)
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
			{name: "rows", stream: "rows", size: func(_, m int, p Parts) int { return p.Image.resolve(m).rows() }, inStart: func(s *Start) *mat.Dense { return s.Rows }},
			{name: "columns", stream: "columns", size: func(_, m int, p Parts) int { return p.Image.resolve(m).Width }, inStart: func(s *Start) *mat.Dense { return s.Columns }},
		},
		fromFactors: func(u, _ *mat.Dense, p Parts) []*mat.Dense {
			addFifthOfMean(u)
			a, b := marginals(u, p.Image)
			return []*mat.Dense{a, b}
		},
		new: func(_ Parts, _ view.Data, parameters []*mat.Dense, u *mat.Dense) basis {
			return rankOneBasis{parameters[0], parameters[1], u}
		},
	},
	{name: "semi", parameters: basisVectors, fromFactors: freeFromFactors, new: newFreeBasis, signed: true},
	{name: "tri", fromFactors: triFromFactors, new: newTriBasis, parameters: []parameter{
		{name: "association", stream: "association", size: func(_, _ int, p Parts) int { return p.FeatureRank }},
		{name: "groups of features", stream: "groups of features", size: features, byFeature: true},
	}},
}

func (b Basis) enumNames() enum.Names[Basis] {
	return enum.Of[Basis]("basis", lists.Map(bases, func(i basisInfo) string { return i.name })...)
}

// String returns the name of the basis in settings.
func (b Basis) String() string                   { return b.enumNames().String(b) }
func (b *Basis) UnmarshalText(name []byte) error { return b.enumNames().UnmarshalText(b, name) }
func (b Basis) MarshalText() ([]byte, error)     { return b.enumNames().MarshalText(b) }
func (b Basis) Values() []string                 { return b.enumNames().Values() }

// A basis computes U, k×m, from parameters. U is linear in each of them.
type basis interface {
	// moved updates U after a change of parameter i.
	moved(i int)
	// pullBack writes to dst the gradient in parameter i for a gradient g in U, k×m.
	pullBack(dst, g *mat.Dense, i int)
}

// freeBasis has U as its parameter. moved restores fixed vectors and, with Parts.UnitNorm, scales the others to unit length.
type freeBasis struct {
	u     *mat.Dense
	parts Parts
}

func (b freeBasis) moved(int) {
	for r := range b.parts.fixed() {
		mat.Col(b.u.RawRowView(r), r, b.parts.Fixed)
	}
	if b.parts.UnitNorm {
		algebra.DivideRows(b.u, b.lengths())
	}
}

// lengths returns the lengths of the basis vectors, 1 for fixed ones.
func (b freeBasis) lengths() []float64 {
	out := algebra.Lengths(b.u)
	for r := range b.parts.fixed() {
		out[r] = 1
	}
	return out
}

func (b freeBasis) pullBack(dst, g *mat.Dense, _ int) { dst.Copy(g) }

// conceptBasis is u = w·X for any cost. conceptModel is faster under the Frobenius cost.
type conceptBasis struct {
	x    view.Data
	w, u *mat.Dense // k×n, k×m
}

func (b conceptBasis) moved(int)                         { b.x.TimesCoefficients(b.u, b.w) }
func (b conceptBasis) pullBack(dst, g *mat.Dense, _ int) { b.x.TimesBasis(dst, g) }

// rankOneBasis is u_r = a_r ⊗ b_r, images of h×w pixels stored by rows.
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

// pullBackQuadratic turns the quadratic term q, k×k, of a block in U into the term of a block in a parameter:
// Σ q_rs·⟨u_r, u_s⟩ is a quadratic form in the a_r with coefficients q_rs·⟨b_r, b_s⟩, and vice versa.
func (b rankOneBasis) pullBackQuadratic(q *mat.Dense, parameter int) *mat.Dense {
	form := algebra.SelfGram([]*mat.Dense{b.b, b.a}[parameter])
	form.MulElem(form, q)
	return form
}

// marginals returns rank-one images a ⊗ b with the same row sums and column sums as the images of u.
func marginals(u *mat.Dense, image Image) (a, b *mat.Dense) {
	k, m := u.Dims()
	image = image.resolve(m)
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

// Image is the size of samples that are images. An image is stored channel by channel, each row by row. The zero value
// means square images with one channel.
type Image struct {
	Height, Width, Channels int // 0 Channels means 1
}

// ForImages returns m set up for samples that are images of the given size. Methods that are not a [Composition] ignore
// the size and are returned unchanged.
func ForImages(m Method, size Image) Method {
	c, ok := m.(Composition)
	if !ok || size == (Image{}) {
		return m
	}
	p := c.AsParts()
	p.Image = size
	return p
}

// resolve returns the size with the default for m values filled in: a square. It returns the zero Image if the size
// does not fit m values.
func (i Image) resolve(m int) Image {
	if i == (Image{}) {
		side := int(math.Round(math.Sqrt(float64(m))))
		i = Image{Height: side, Width: side}
	}
	if i.Height < 1 || i.Width < 1 || i.Channels < 0 || i.rows()*i.Width != m {
		return Image{}
	}
	return i
}

// rows returns the number of rows of Width values, over all channels.
func (i Image) rows() int { return i.Height * max(i.Channels, 1) }

// validate returns an error if samples of m values are not images of this size. what names the part that needs images.
func (i Image) validate(m int, what string) error {
	if i.resolve(m) != (Image{}) {
		return nil
	}
	size := "square"
	if i != (Image{}) {
		size = fmt.Sprintf("%d×%d", i.rows(), i.Width)
	}
	return fmt.Errorf("%s needs images, but samples of %d features are not %s images", what, m, size)
}

// A model is a cost as a function of its factors: the parameters of the basis, then the coefficients v.
type model interface {
	// block returns the block of the cost in factor i. It is valid until moved is called.
	block(i int) Block
	// moved must be called after factor i is changed.
	moved(i int)
	// value returns the cost.
	value() float64
	// lengths returns the lengths of the basis vectors, 1 for zero vectors.
	lengths() []float64
	// rescale divides basis vector r by scale[r]. It does not change v.
	rescale(scale []float64)
	// vectors returns the basis vectors, k×m, or nil with a kernel.
	vectors() *mat.Dense
	// pullBack writes to dst the gradient in parameter i for a gradient g in the basis vectors.
	pullBack(dst, g *mat.Dense, i int)
}

type plainModel struct {
	cost
	basis
	u       *mat.Dense
	factors []*mat.Dense // the parameters of the basis, then v
	parts   Parts
}

func (p *plainModel) block(i int) Block {
	b := p.freeBlock(i)
	if p.parts.Orthogonal.of(i, len(p.factors)-1) {
		return orthogonalBlock(b.Linear, p.factors[i])
	}
	return b
}

func (p *plainModel) freeBlock(i int) Block {
	if i == len(p.factors)-1 {
		b := p.coefficientBlock()
		if p.parts.Basis == BasisSemi {
			b.Quadratic, b.NegativeQuadratic = algebra.Parts(b.Quadratic)
			b.Power = 0.5
		}
		return b
	}
	b := p.basisBlock()
	if p.u == p.factors[0] {
		b.AnySign = p.parts.Basis == BasisSemi
		return b
	}
	out := Block{Linear: algebra.Like(p.factors[i]), Power: b.Power}
	p.pullBack(out.Linear, b.Linear, i)
	if b.Quadratic != nil {
		if r, ok := p.basis.(rankOneBasis); ok {
			out.Quadratic = r.pullBackQuadratic(b.Quadratic, i)
			return out
		}
		b.Positive = algebra.Times(b.Quadratic, p.u)
	}
	out.Positive = algebra.Like(p.factors[i])
	p.pullBack(out.Positive, b.Positive, i)
	return out
}

func (p *plainModel) moved(i int) {
	v := i == len(p.factors)-1
	if !v {
		p.basis.moved(i)
	}
	p.cost.moved(v)
}

func (p *plainModel) lengths() []float64 { return freeBasis{p.u, p.parts}.lengths() }

func (p *plainModel) rescale(scale []float64) {
	algebra.DivideRows(p.u, scale)
	if p.u != p.factors[0] {
		algebra.DivideRows(p.factors[0], scale)
	}
}

func (p *plainModel) vectors() *mat.Dense { return p.u }

// conceptModel is the Frobenius cost with a concept basis, ‖X̃ − vᵀ(w·X)‖², X̃ being the condensed data. It depends on
// the data only through the Gram matrix K = X·Xᵀ, or a kernel's values, and X·X̃ᵀ:
//
//	W ← W∘(K·V)/(K·W·M),  V ← V∘(K·W)/(V·WᵀKW),  M = VᵀV   (CF; CCF with X̃)
//
// An iteration takes four products with X, or two with K; plainModel takes five.
type conceptModel struct {
	w, v  *mat.Dense // k×n, k×ñ
	x     view.Data  // the samples; nil with a kernel
	xt    view.Data  // the condensed samples; nil with a kernel
	ties  *view.Condensation
	u     *mat.Dense // k×m, w·X or a buffer; nil with a kernel
	haveU bool       // u is w·X
	// The Gram matrix and its condensed form. They are nil unless formsProducts holds, the data is signed, or there
	// is a kernel.
	k, kt        *mat.Dense // n×n, ñ×n
	kPos, kNeg   *mat.Dense // n×n, k = kPos − kNeg; nil if k ≥ 0
	kw           *mat.Dense // w·K, k×n, padded
	haveKW       bool       // kw, kwPos and kwNeg are up to date
	kwPos, kwNeg *mat.Dense
	kv           *mat.Dense // v·X̃·Xᵀ, k×n
	vv           *mat.Dense // v·vᵀ, k×k; nil when out of date
	lin          *mat.Dense // condensed kw, k×ñ
	h            *mat.Dense // w·K·wᵀ, k×k; nil when out of date
	sumSq        float64    // ‖X̃‖²; with a kernel the weighted ‖φ(X)‖², so that the cost includes the offset
}

// The largest numbers of samples for which the Gram matrix is formed, in general and for solver fast. They do not depend
// on the machine's memory, because results must not.
const (
	mostFormed        = 11000
	mostFormedForFast = 4096
)

func formsProducts(n, m int, fast bool) bool {
	return n <= 2*m && n <= mostFormed || fast && n <= mostFormedForFast
}

// newConceptModel returns a model of samples x and condensed samples xt. signed means that x has negative values; fast
// that the solver is Fast, which uses the Gram matrix more often. It calls guard.Fail.
func newConceptModel(ctx context.Context, x, xt view.Data, ties *view.Condensation, w, v *mat.Dense, signed, fast bool) *conceptModel {
	n, m := x.Dims()
	k, _ := w.Dims()
	c := &conceptModel{w: w, v: v, x: x, xt: xt, ties: ties, u: mat.NewDense(k, m, nil), sumSq: view.SumSquares(xt)}
	if signed { // the Gram matrix and its two parts
		guard.Check(view.CheckMemory(ctx, fmt.Sprintf("the Gram matrix of %d samples with negative values", n), 3, n, n))
	}
	if signed || formsProducts(n, m, fast) {
		c.k = guard.Must(view.InnerProducts(ctx, x))
	}
	c.prepare(signed)
	return c
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

// prepare condenses K and, if it has negative values, splits it into K⁺ − K⁻.
func (c *conceptModel) prepare(signed bool) {
	c.kw, c.kv, c.lin = algebra.Padded(c.w.Dims()), algebra.Like(c.w), algebra.Like(c.v)
	if c.k == nil {
		return
	}
	c.kt = c.ties.Rows(c.k)
	if signed && mat.Min(c.k) < 0 {
		c.kPos, c.kNeg = algebra.Parts(c.k)
	}
}

// updateKW updates kw, w·K.
func (c *conceptModel) updateKW() {
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
		c.updateCondensed()
		if c.kPos == nil {
			return Block{Linear: c.lin, Quadratic: c.h}
		}
		return Block{Linear: c.lin, Quadratic: algebra.CrossGram(c.kwPos, c.w), NegativeQuadratic: algebra.CrossGram(c.kwNeg, c.w)}
	}
	c.updateKV()
	c.updateKW()
	if c.kPos == nil {
		return Block{Linear: c.kv, Positive: algebra.Times(c.vv, c.kw)}
	}
	return Block{Linear: c.kv, Positive: algebra.Times(c.vv, c.kwPos), Negative: algebra.Times(c.vv, c.kwNeg)}
}

// updateKV updates kv and vv.
func (c *conceptModel) updateKV() {
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

// updateCondensed updates lin and h.
func (c *conceptModel) updateCondensed() {
	if c.h == nil {
		c.updateKW()
		c.ties.Columns(c.lin, c.kw)
		c.h = algebra.CrossGram(c.kw, c.w)
	}
}

func (c *conceptModel) value() float64 {
	c.updateCondensed()
	j := c.sumSq - 2*algebra.Inner(c.lin, c.v) + algebra.Inner(c.h, algebra.SelfGram(c.v))
	switch {
	case c.x == nil:
		return max(j, 0) // rounding can make j negative
	case j < nearZero*c.sumSq:
		return c.xt.Residual(c.vectors(), c.v)
	}
	return j
}

func (c *conceptModel) rescale(scale []float64) {
	algebra.DivideRows(c.w, scale)
	c.haveU = false
}

// lengths returns (WᵀKW)^½ with a kernel.
func (c *conceptModel) lengths() []float64 {
	if c.x != nil {
		return algebra.Lengths(c.vectors())
	}
	c.updateKW()
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
