package factor

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// Init says how the factors start.
type Init string

const (
	// InitRandom draws every entry uniformly from (0, 1]; the default. The coefficients drawn for a seed
	// are the same for every method.
	InitRandom Init = "random"
	// InitNNDSVDa starts from the non-negative parts of the leading singular vectors, with the data's
	// mean in place of zeros (Boutsidis and Gallopoulos 2008). It does not depend on the seed.
	InitNNDSVDa Init = "nndsvda"
	// InitNMF starts from the factors of NMF on the same data, with the same seed: where Options.Solver
	// is Fast by that and to the same tolerance, else by DefaultIterations of Multiplicative. The CCF
	// paper starts so without saying how; here Z is the class means of NMF's V, and W is V with columns
	// that sum to 1, each plus a fifth of its mean so that nothing starts at 0, where it would stay.
	InitNMF Init = "nmf"
)

// UnmarshalText reads the name that settings use.
func (i *Init) UnmarshalText(name []byte) error {
	_, err := enum.Index("init", string(name), i.Values())
	*i = Init(enum.Fold(string(name), i.Values()))
	return err
}

// Values returns the names of all initialisations.
func (Init) Values() []string {
	return []string{string(InitRandom), string(InitNNDSVDa), string(InitNMF)}
}

// Start holds initial factors, ≥ 0. What is nil is made as Options.Init says.
type Start struct {
	// Basis is U, m×k, for a free basis.
	Basis *mat.Dense
	// Weights is W, n×k, for a concept basis.
	Weights *mat.Dense
	// Rows and Columns are A, h×k, and B, w×k, for a rank-one basis of images of h×w pixels.
	Rows, Columns *mat.Dense
	// Coefficients is V, n×k; with a tie the mean over samples that share coefficients is taken.
	Coefficients *mat.Dense
}

// initialFactors are the parameters of the basis, k rows each, and v k×ñ, condensed.
type initialFactors struct {
	parameters []*mat.Dense
	v          *mat.Dense
}

func (p Parts) initial(ctx context.Context, x mat.Matrix, d view.Data, ties *view.Condensation, opt Options) (*initialFactors, error) {
	var f *initialFactors
	var err error
	switch opt.Init {
	case InitRandom, "":
		f = p.random(d, ties, opt)
	case InitNNDSVDa:
		f, err = p.fromSVD(ctx, d, ties, opt)
	case InitNMF:
		f, err = p.fromNMF(ctx, x, ties, opt)
	default:
		err = opt.Init.UnmarshalText([]byte(opt.Init)) // that there is none of the name
	}
	if err != nil {
		return nil, err
	}
	if opt.Start == nil {
		return f, nil
	}
	n, m := d.Dims()
	for i, parameter := range bases[p.Basis].parameters {
		if a := parameter.given(opt.Start); a != nil {
			if f.parameters[i], err = given(a, parameter.name, parameter.size(n, m, p.Image), opt.Rank); err != nil {
				return nil, err
			}
		}
	}
	if a := opt.Start.Coefficients; a != nil {
		v, err := given(a, "coefficients", n, opt.Rank)
		if err != nil {
			return nil, err
		}
		f.v = ties.Condensed(v, false)
	}
	return f, nil
}

// given returns an initial factor, rows×rank, transposed. what is what it is called.
func given(a *mat.Dense, what string, rows, rank int) (*mat.Dense, error) {
	if r, c := a.Dims(); r != rows || c != rank {
		return nil, fmt.Errorf("the initial %s are %d×%d, want %d×%d", what, r, c, rows, rank)
	}
	for i := range rows {
		for j, x := range a.RawRowView(i) {
			if !(x >= 0 && x <= view.LargestValue) {
				return nil, fmt.Errorf("the initial %s hold %v at row %d, column %d; they must be numbers from 0 to %g", what, x, i+1, j+1, view.LargestValue)
			}
		}
	}
	out := algebra.Transpose(a)
	out.Apply(func(_, _ int, x float64) float64 { return algebra.Moved(x, 1) }, out)
	return out, nil
}

func (p Parts) random(d view.Data, ties *view.Condensation, opt Options) *initialFactors {
	n, m := d.Dims()
	f := &initialFactors{v: ties.Condensed(drawn(opt, "coefficients", n), true)}
	for _, parameter := range bases[p.Basis].parameters {
		f.parameters = append(f.parameters, drawn(opt, parameter.stream, parameter.size(n, m, p.Image)))
	}
	return f
}

// drawn returns a random factor, k×columns, of numbers in (0, 1].
func drawn(opt Options, what string, columns int) *mat.Dense {
	src := rng.New(opt.Seed, what)
	out := mat.NewDense(opt.Rank, columns, nil)
	for i := range columns {
		for r := range opt.Rank {
			out.Set(r, i, 1-src.Float64())
		}
	}
	return out
}

// ofInitNMF returns the options of the fit of NMF that InitNMF starts from.
func (o Options) ofInitNMF() Options {
	first := Options{Rank: o.Rank, Seed: o.Seed, Solver: Multiplicative{}, Trace: o.Trace}
	if _, fast := o.Solver.(Fast); fast {
		first.Solver, first.Tolerance = o.Solver, o.Tolerance
	}
	return first
}

func (p Parts) fromNMF(ctx context.Context, x mat.Matrix, ties *view.Condensation, opt Options) (*initialFactors, error) {
	res, err := NMF{}.Fit(ctx, x, Known{}, opt.ofInitNMF())
	if err != nil {
		return nil, fmt.Errorf("initialisation by NMF: %w", err)
	}
	return p.from(algebra.Transpose(res.Basis), algebra.Transpose(res.Coefficients), ties), nil
}

// from turns a pair of factors, u k×m and v k×n, into the parameters of p.
func (p Parts) from(u, v *mat.Dense, ties *view.Condensation) *initialFactors {
	z := ties.Condensed(v, false)
	lift(z)
	return &initialFactors{bases[p.Basis].from(u, v, p.Image), z}
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

// fromSVD is InitNNDSVDa. For each singular triplet the pair of positive parts or that of negative parts
// of its vectors, whichever is the larger, becomes a pair of factors; where entries are then 0 they get
// the data's mean.
func (p Parts) fromSVD(ctx context.Context, d view.Data, ties *view.Condensation, opt Options) (*initialFactors, error) {
	n, m := d.Dims()
	rank := opt.Rank
	if rank > min(n, m) {
		return nil, fmt.Errorf("nndsvda starts at most min(n, m) = %d basis vectors, not %d", min(n, m), rank)
	}
	left, sigma, right, err := leadingSVD(ctx, d, rank)
	if err != nil {
		return nil, fmt.Errorf("initialisation by nndsvda: %w", err)
	}
	var mean float64
	d.Each(func(_, _ int, x float64) { mean += x })
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
				if dst[i] < algebra.Floor {
					dst[i] = mean
				}
			}
		}
		fill(u.RawRowView(r), a, na)
		fill(v.RawRowView(r), b, nb)
	}
	if p.Basis == BasisFree {
		return &initialFactors{[]*mat.Dense{u}, ties.Condensed(v, false)}, nil
	}
	return p.from(u, v, ties), nil
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

// leadingSVD returns the k leading singular triplets of x: left vectors k×n, singular values, right
// vectors k×m, both transposed. It iterates a subspace a little larger than k, which takes products with
// x only, so that sparse data stays sparse, until the values change no more. Those below 1e-7 of the
// largest always do: they are roots of what rounding leaves of 0.
func leadingSVD(ctx context.Context, x view.Data, k int) (left *mat.Dense, sigma []float64, right *mat.Dense, err error) {
	n, m := x.Dims()
	size := min(k+10, n, m)
	src := rng.New(0, "subspace")
	q := mat.NewDense(size, n, nil)
	for r := range size {
		row := q.RawRowView(r)
		for i := range row {
			row[i] = src.NormFloat64()
		}
	}
	b := mat.NewDense(size, m, nil)
	before := make([]float64, size)
	for range 300 {
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		eigen.Orthonormalise(q)
		x.TimesCoefficients(b, q) // qX
		if sigma, err = singularValues(ctx, b); err != nil {
			return nil, nil, nil, err
		}
		still := true
		for r := range k {
			still = still && (math.Abs(sigma[r]-before[r]) <= 1e-12*sigma[0] || max(sigma[r], before[r]) <= 1e-7*sigma[0])
		}
		copy(before, sigma)
		if still {
			break
		}
		eigen.Orthonormalise(b)
		x.TimesBasis(q, b)
	}
	// qX = P·Σ·Rᵀ, so X ≈ qᵀP·Σ·Rᵀ.
	sigma, p, rt, err := eigen.Singular(ctx, b)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("the leading singular vectors: %w", err)
	}
	left, right = mat.NewDense(k, n, nil), mat.NewDense(k, m, nil)
	algebra.Gemm(left, mat.DenseCopyOf(p.Slice(0, size, 0, k)), algebra.Trans, q, algebra.NoTrans)
	right.Copy(rt.Slice(0, m, 0, k).T())
	return left, sigma[:k], right, nil
}

// singularValues returns the singular values of a, falling, from its k×k inner products.
func singularValues(ctx context.Context, a *mat.Dense) ([]float64, error) {
	k, _ := a.Dims()
	g := algebra.SelfGram(a)
	sym := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			sym.SetSym(i, j, g.At(i, j))
		}
	}
	values, _, err := eigen.Symmetric(ctx, sym, false)
	if err != nil {
		return nil, fmt.Errorf("the leading singular values: %w", err)
	}
	out := make([]float64, k)
	for i, x := range values {
		out[k-1-i] = math.Sqrt(max(x, 0))
	}
	return out, nil
}
