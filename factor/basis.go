package factor

import (
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
	// BasisFree vectors may hold any values ≥ 0.
	BasisFree Basis = iota
	// BasisConcept vectors are combinations of the samples with weights ≥ 0,
	// U = X·W (Xu and Gong 2004). The data may then be of any sign.
	BasisConcept
	// BasisRankOne vectors are images of rank one, u_r = a_r ⊗ b_r, for
	// samples that are images (Shashua and Hazan 2005).
	BasisRankOne
)

var basisNames = enum.Of[Basis]("basis", "free", "concept", "rank-one")

// String, UnmarshalText, MarshalText and Values use the names that settings have.
func (b Basis) String() string                   { return basisNames.String(b) }
func (b *Basis) UnmarshalText(name []byte) error { return basisNames.UnmarshalText(b, name) }
func (b Basis) MarshalText() ([]byte, error)     { return basisNames.MarshalText(b) }
func (Basis) Values() []string                   { return basisNames.Values() }

// A basis holds the parameters that U, k×m, is a function of: linear in each of
// them while the others are held.
type basis interface {
	parameters() []*mat.Dense
	// moved brings U up to date with parameter i.
	moved(i int)
	// pullBack writes a part of the gradient in U, k×m, as one in parameter i.
	pullBack(dst, g *mat.Dense, i int)
	// pullBackQuadratic writes the quadratic of a block in U, k×k, as that of one in parameter i,
	// or returns false where it is none of k×k numbers.
	pullBackQuadratic(dst, q *mat.Dense, i int) bool
	// rescale divides basis vector r by scale[r].
	rescale(scale []float64)
	// weights returns W, k×n, or nil.
	weights() *mat.Dense
}

// freeBasis is its own parameter. With unit its vectors are brought to unit
// length whenever they move, without the coefficients following.
type freeBasis struct {
	u    *mat.Dense
	unit bool
}

func (b freeBasis) parameters() []*mat.Dense { return []*mat.Dense{b.u} }

func (b freeBasis) moved(int) {
	if b.unit {
		algebra.DivideRows(b.u, algebra.Lengths(b.u))
	}
}

func (b freeBasis) pullBack(dst, g *mat.Dense, _ int) { dst.Copy(g) }

func (b freeBasis) pullBackQuadratic(dst, q *mat.Dense, _ int) bool {
	dst.Copy(q)
	return true
}

func (b freeBasis) rescale(scale []float64) { algebra.DivideRows(b.u, scale) }

func (b freeBasis) weights() *mat.Dense { return nil }

// conceptBasis is u = w·X, for any cost. For the Frobenius cost conceptModel does
// the same through the samples' inner products.
type conceptBasis struct {
	x    view.Data
	w, u *mat.Dense // k×n, k×m
}

func newConceptBasis(x view.Data, w, u *mat.Dense) conceptBasis {
	b := conceptBasis{x, w, u}
	b.moved(0)
	return b
}

func (b conceptBasis) parameters() []*mat.Dense { return []*mat.Dense{b.w} }

func (b conceptBasis) moved(int) { b.x.TimesCoefficients(b.u, b.w) }

func (b conceptBasis) pullBack(dst, g *mat.Dense, _ int) { b.x.TimesBasis(dst, g) }

func (b conceptBasis) pullBackQuadratic(_, _ *mat.Dense, _ int) bool { return false }

func (b conceptBasis) rescale(scale []float64) {
	algebra.DivideRows(b.w, scale)
	algebra.DivideRows(b.u, scale)
}

func (b conceptBasis) weights() *mat.Dense { return b.w }

// rankOneBasis is u_r = a_r ⊗ b_r, images of h×w pixels row by row.
type rankOneBasis struct {
	a, b, u *mat.Dense // k×h, k×w, k×hw
	lines   []int      // of an image
}

func newRankOneBasis(a, b, u *mat.Dense) rankOneBasis {
	_, h := a.Dims()
	r := rankOneBasis{a, b, u, make([]int, h)}
	for i := range r.lines {
		r.lines[i] = i
	}
	r.moved(0)
	return r
}

func (b rankOneBasis) parameters() []*mat.Dense { return []*mat.Dense{b.a, b.b} }

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
	dst.Zero()
	for r := range k {
		row, to, ar, br := g.RawRowView(r), dst.RawRowView(r), b.a.RawRowView(r), b.b.RawRowView(r)
		if w%algebra.GramLanes == 0 {
			if parameter == 0 {
				simd.Dots(to, br, row, b.lines)
			} else {
				simd.AddRows(to, ar, row, b.lines)
			}
			continue
		}
		for i := range h {
			line := row[i*w : (i+1)*w]
			if parameter == 0 {
				to[i] = algebra.Dot(line, br)
			} else {
				algebra.Axpy(ar[i], line, to)
			}
		}
	}
}

// pullBackQuadratic: Σ q_rs·⟨u_r, u_s⟩ is a quadratic form in the a_r with q_rs·⟨b_r, b_s⟩, and the
// other way round.
func (b rankOneBasis) pullBackQuadratic(dst, q *mat.Dense, parameter int) bool {
	other := b.b
	if parameter == 1 {
		other = b.a
	}
	algebra.GramOf(dst, other)
	dst.MulElem(dst, q)
	return true
}

func (b rankOneBasis) rescale(scale []float64) {
	algebra.DivideRows(b.a, scale)
	algebra.DivideRows(b.u, scale)
}

func (b rankOneBasis) weights() *mat.Dense { return nil }

// Image is the size of the images that samples are. An image is stored row by row, one
// channel after another. The zero value stands for square images of one channel.
type Image struct {
	// Channels is how many there are; 0 means 1.
	Height, Width, Channels int
}

// ForImages returns the method for samples that are images of the size. Methods that are
// not made of parts do not see samples as images.
func ForImages(m Method, size Image) Method {
	c, ok := m.(Composition)
	if !ok || size == (Image{}) {
		return m
	}
	p := c.AsParts()
	p.Image = size
	return p
}

// of returns the size of images of m values: a square for none. It is 0×0 where there
// is no such image.
func (i Image) of(m int) Image {
	if i == (Image{}) {
		side := int(math.Round(math.Sqrt(float64(m))))
		i = Image{Height: side, Width: side}
	}
	if i.Height < 1 || i.Width < 1 || i.Channels < 0 || i.Rows()*i.Width != m {
		return Image{}
	}
	return i
}

// rows is how many rows of Width values an image has.
func (i Image) Rows() int { return i.Height * max(i.Channels, 1) }

// check reports that samples of m values are no images, which what is for.
func (i Image) check(m int, what string) error {
	if i.of(m) != (Image{}) {
		return nil
	}
	size := "square"
	if i != (Image{}) {
		size = fmt.Sprintf("%d×%d", i.Rows(), i.Width)
	}
	return fmt.Errorf("%s is for images, and samples of %d features are no %s images", what, m, size)
}
