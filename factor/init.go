package factor

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/enum"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// Init says how the factors start.
type Init string

const (
	// Random draws every entry uniformly from (0, 1]; the default. The
	// coefficients drawn for a seed are the same for every method.
	Random Init = "random"
	// NNDSVDa starts from the non-negative parts of the leading singular
	// vectors, with the data's mean in place of zeros (Boutsidis and
	// Gallopoulos 2008). It does not depend on the seed.
	NNDSVDa Init = "nndsvda"
	// FromNMF starts from the factors of NMF on the same data, with the same
	// seed. The CCF paper starts so without saying how; here Z is the class
	// means of NMF's V, and W is V with columns that sum to 1, each plus a
	// fifth of its mean so that nothing starts at 0, where it would stay.
	FromNMF Init = "nmf"
)

// UnmarshalText reads the name that settings use.
func (i *Init) UnmarshalText(name []byte) error {
	_, err := enum.Index("init", string(name), i.Values())
	*i = Init(name)
	return err
}

// Values returns the names of all initialisations.
func (Init) Values() []string { return []string{string(Random), string(NNDSVDa), string(FromNMF)} }

// Start holds initial factors, ≥ 0. What is nil is made as Options.Init says.
type Start struct {
	// Basis is U, m×k, for a free basis.
	Basis *mat.Dense
	// Weights is W, n×k, for a concept basis.
	Weights *mat.Dense
	// Rows and Columns are A, h×k, and B, w×k, for a rank-one basis of images
	// of h×w pixels.
	Rows, Columns *mat.Dense
	// Coefficients is V, n×k; with a tie the mean over samples that share
	// coefficients is taken.
	Coefficients *mat.Dense
}

// initialFactors lie down: u k×m, w k×n, or a k×h and b k×w, as the basis needs,
// and v k×ñ, condensed.
type initialFactors struct{ u, w, a, b, v *mat.Dense }

func (p Parts) initial(ctx context.Context, x mat.Matrix, d data, ch *change, opt Options) (*initialFactors, error) {
	var f *initialFactors
	var err error
	switch opt.Init {
	case Random, "":
		f = p.random(d, ch, opt)
	case NNDSVDa:
		f, err = p.fromSVD(ctx, d, ch, opt)
	case FromNMF:
		f, err = p.fromNMF(ctx, x, ch, opt)
	default:
		err = fmt.Errorf("there is no initialisation %q; there are %s, %s and %s", opt.Init, Random, NNDSVDa, FromNMF)
	}
	if err != nil {
		return nil, err
	}
	if opt.Start == nil {
		return f, nil
	}
	n, m := d.dims()
	h, w := opt.shape(m)
	given := func(a *mat.Dense, what string, rows int) (*mat.Dense, error) {
		if r, c := a.Dims(); r != rows || c != opt.Rank {
			return nil, fmt.Errorf("the initial %s are %d×%d, want %d×%d", what, r, c, rows, opt.Rank)
		}
		for i := range rows {
			for j, x := range a.RawRowView(i) {
				if !(x >= 0 && x <= largestValue) {
					return nil, fmt.Errorf("the initial %s hold %v at row %d, column %d; they must be numbers from 0 to %g", what, x, i+1, j+1, largestValue)
				}
			}
		}
		lying := stand(a)
		lying.Apply(func(_, _ int, x float64) float64 { return moved(x, 1) }, lying)
		return lying, nil
	}
	if a := opt.Start.Basis; a != nil && p.Basis == Free {
		if f.u, err = given(a, "basis vectors", m); err != nil {
			return nil, err
		}
	}
	if a := opt.Start.Weights; a != nil && p.Basis == Concept {
		if f.w, err = given(a, "weights", n); err != nil {
			return nil, err
		}
	}
	if a := opt.Start.Rows; a != nil && p.Basis == RankOne {
		if f.a, err = given(a, "rows", h); err != nil {
			return nil, err
		}
	}
	if a := opt.Start.Columns; a != nil && p.Basis == RankOne {
		if f.b, err = given(a, "columns", w); err != nil {
			return nil, err
		}
	}
	if a := opt.Start.Coefficients; a != nil {
		v, err := given(a, "coefficients", n)
		if err != nil {
			return nil, err
		}
		f.v = ch.condensed(v, false)
	}
	return f, nil
}

func (p Parts) random(d data, ch *change, opt Options) *initialFactors {
	n, m := d.dims()
	draw := func(what string, columns int) *mat.Dense {
		src := rng.New(opt.Seed, what)
		out := mat.NewDense(opt.Rank, columns, nil)
		for i := range columns {
			for r := range opt.Rank {
				out.Set(r, i, 1-src.Float64())
			}
		}
		return out
	}
	f := &initialFactors{v: ch.condensed(draw("coefficients", n), true)}
	switch p.Basis {
	case Concept:
		f.w = draw("weights", n)
	case RankOne:
		h, w := opt.shape(m)
		f.a, f.b = draw("rows", h), draw("columns", w)
	default:
		f.u = draw("basis", m)
	}
	return f
}

func (p Parts) fromNMF(ctx context.Context, x mat.Matrix, ch *change, opt Options) (*initialFactors, error) {
	res, err := NMF{}.Fit(ctx, x, Known{}, Options{Rank: opt.Rank, Seed: opt.Seed})
	if err != nil {
		return nil, fmt.Errorf("initialisation by NMF: %w", err)
	}
	return p.from(mat.DenseCopyOf(res.Basis.T()), mat.DenseCopyOf(res.Coefficients.T()), ch, opt), nil
}

// from turns a pair of factors, u k×m and v k×n, into the parameters of p.
func (p Parts) from(u, v *mat.Dense, ch *change, opt Options) *initialFactors {
	f := &initialFactors{}
	z := ch.condensed(v, false)
	lift(z)
	f.v = z
	switch p.Basis {
	case Free:
		lift(u)
		f.u = u
		return f
	case RankOne:
		lift(u)
		f.a, f.b = marginals(u, opt)
		return f
	}
	k, _ := v.Dims()
	sums := make([]float64, k)
	rowSums(sums, v)
	for r, s := range sums {
		if s < floor {
			sums[r] = 1
		}
	}
	divideRows(v, sums)
	lift(v)
	f.w = v
	return f
}

// marginals returns the rank-one images a ⊗ b with the sums of u's images over
// their rows and their columns.
func marginals(u *mat.Dense, opt Options) (a, b *mat.Dense) {
	k, m := u.Dims()
	h, w := opt.shape(m)
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
			br[j] /= max(total, floor)
		}
	}
	return a, b
}

// lift adds a fifth of the mean to every entry.
func lift(a *mat.Dense) {
	k, n := a.Dims()
	add := 0.2 * mat.Sum(a) / float64(k*n)
	for r := range k {
		row := a.RawRowView(r)
		for i := range row {
			row[i] += add
		}
	}
}

// fromSVD is NNDSVDa. For each singular triplet the pair of positive parts or
// that of negative parts of its vectors, whichever is the larger, becomes a
// pair of factors; where entries are then 0 they get the data's mean.
func (p Parts) fromSVD(ctx context.Context, d data, ch *change, opt Options) (*initialFactors, error) {
	n, m := d.dims()
	rank := opt.Rank
	if rank > min(n, m) {
		return nil, fmt.Errorf("nndsvda starts at most min(n, m) = %d basis vectors, not %d", min(n, m), rank)
	}
	left, sigma, right, err := leadingSVD(ctx, d, rank)
	if err != nil {
		return nil, fmt.Errorf("initialisation by nndsvda: %w", err)
	}
	var mean float64
	d.each(func(_, _ int, x float64) { mean += x })
	mean = math.Abs(mean) / float64(n) / float64(m)

	u, v := mat.NewDense(rank, m, nil), mat.NewDense(rank, n, nil)
	for r := range rank {
		a, b := right.RawRowView(r), left.RawRowView(r) // over features, over samples
		ap, an := partNorms(a)
		bp, bn := partNorms(b)
		sign, size := 1.0, ap*bp
		na, nb := ap, bp
		if an*bn > ap*bp {
			sign, size, na, nb = -1, an*bn, an, bn
		}
		scale := math.Sqrt(sigma[r] * size)
		fill := func(dst, from []float64, norm float64) {
			for i, x := range from {
				if x *= sign; x > 0 && norm > 0 {
					dst[i] = scale * x / norm
				}
				if dst[i] < floor {
					dst[i] = mean
				}
			}
		}
		fill(u.RawRowView(r), a, na)
		fill(v.RawRowView(r), b, nb)
	}
	if p.Basis == Free {
		return &initialFactors{u: u, v: ch.condensed(v, false)}, nil
	}
	return p.from(u, v, ch, opt), nil
}

// partNorms returns the lengths of the positive and the negative part of a.
func partNorms(a []float64) (pos, neg float64) {
	for _, x := range a {
		if x > 0 {
			pos += x * x
		} else {
			neg += x * x
		}
	}
	return math.Sqrt(pos), math.Sqrt(neg)
}
