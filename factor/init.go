package factor

import (
	"cmp"
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
	// InitRandom, the default, draws every entry uniformly from (0, 1], the same coefficients for every method.
	InitRandom Init = "random"
	// InitNNDSVDa starts from the non-negative parts of the leading singular vectors, with the data's mean in
	// place of zeros (Boutsidis and Gallopoulos 2008), whatever the seed.
	InitNNDSVDa Init = "nndsvda"
	// InitNMF starts from the factors of NMF on the same data with the same seed: by Options.Solver to the
	// same tolerance if that is Fast, else by DefaultIterations of Multiplicative. The CCF paper starts so
	// without details; here Z is the class means of NMF's V, and W is V with columns that sum to 1, each plus
	// a fifth of its mean so that nothing starts at 0, where it would stay.
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
	Basis   *mat.Dense // U, m×k, for a free basis
	Weights *mat.Dense // W, n×k, for a concept basis
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

func (p Parts) initial(ctx context.Context, x mat.Matrix, d view.Data, ties *view.Condensation, opt Options) (f *initialFactors, err error) {
	n, m := d.Dims()
	switch opt.Init {
	case InitRandom, "":
		f = &initialFactors{v: ties.Condensed(drawn(opt, "coefficients", n), true)}
		for _, parameter := range bases[p.Basis].parameters {
			f.parameters = append(f.parameters, drawn(opt, parameter.stream, parameter.size(n, m, p.Image)))
		}
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
	start := cmp.Or(opt.Start, &Start{})
	for i, parameter := range bases[p.Basis].parameters {
		if a := parameter.given(start); a != nil {
			if f.parameters[i], err = given(a, parameter.name, parameter.size(n, m, p.Image), opt.Rank); err != nil {
				return nil, err
			}
		}
	}
	if a := start.Coefficients; a != nil {
		v, err := given(a, "coefficients", n, opt.Rank)
		if err != nil {
			return nil, err
		}
		f.v = ties.Condensed(v, false)
	}
	return f, nil
}

// checkGiven reports that a, called what, is not rows×columns, or holds values below least or too large.
func checkGiven(a *mat.Dense, what string, rows, columns int, least float64) error {
	if r, c := a.Dims(); r != rows || c != columns {
		return fmt.Errorf("%s are %d×%d; expected %d×%d", what, r, c, rows, columns)
	}
	for i := range rows {
		for j, x := range a.RawRowView(i) {
			if !(x >= least && x <= view.LargestValue) {
				return fmt.Errorf("%s: value %v at row %d, column %d; expected %g to %g", what, x, i+1, j+1, least, view.LargestValue)
			}
		}
	}
	return nil
}

// given returns an initial factor, rows×rank, transposed; what names it.
func given(a *mat.Dense, what string, rows, rank int) (*mat.Dense, error) {
	if err := checkGiven(a, "the initial "+what, rows, rank, 0); err != nil {
		return nil, err
	}
	out := algebra.Transpose(a)
	out.Apply(func(_, _ int, x float64) float64 { return algebra.Moved(x, 1) }, out)
	return out, nil
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

func (p Parts) fromNMF(ctx context.Context, x mat.Matrix, ties *view.Condensation, opt Options) (*initialFactors, error) {
	first := Options{Rank: opt.Rank, Seed: opt.Seed, Solver: Multiplicative{}, Trace: opt.Trace}
	if _, fast := opt.Solver.(Fast); fast {
		first.Solver, first.Tolerance = opt.Solver, opt.Tolerance
	}
	res, err := NMF{}.Fit(ctx, x, Known{}, first)
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

func lift(a *mat.Dense) {
	k, n := a.Dims()
	add := 0.2 * mat.Sum(a) / float64(k*n)
	a.Apply(func(_, _ int, x float64) float64 { return x + add }, a)
}

// fromSVD is InitNNDSVDa: of each singular triplet the pair of positive or of negative parts of its vectors,
// whichever is larger, becomes a pair of factors.
func (p Parts) fromSVD(ctx context.Context, d view.Data, ties *view.Condensation, opt Options) (*initialFactors, error) {
	n, m := d.Dims()
	rank := opt.Rank
	if rank > min(n, m) {
		return nil, fmt.Errorf("nndsvda supports at most min(n, m) = %d basis vectors, got %d", min(n, m), rank)
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
		na, an := partNorms(a)
		nb, bn := partNorms(b)
		sign := 1.0
		if an*bn > na*nb {
			sign, na, nb = -1, an, bn
		}
		scale := math.Sqrt(sigma[r] * (na * nb))
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

// leadingSVD returns the k leading singular triplets of x: left vectors k×n, singular values, right vectors
// k×m. It iterates a subspace a little larger than k by products with x until the values change no more;
// those below 1e-7 of the largest, which rounding leaves of 0, always do.
func leadingSVD(ctx context.Context, x view.Data, k int) (left *mat.Dense, sigma []float64, right *mat.Dense, err error) {
	n, m := x.Dims()
	size := min(k+10, n, m)
	src := rng.New(0, "subspace")
	q := mat.NewDense(size, n, nil)
	for i := range q.RawMatrix().Data {
		q.RawMatrix().Data[i] = src.NormFloat64()
	}
	b := mat.NewDense(size, m, nil)
	before := make([]float64, size)
	for round := range 300 {
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		if round > 0 {
			eigen.Orthonormalise(b)
			x.TimesBasis(q, b)
		}
		eigen.Orthonormalise(q)
		x.TimesCoefficients(b, q) // qX
		if sigma, err = singularValues(ctx, b); err != nil {
			return nil, nil, nil, err
		}
		done := true
		for r := range k {
			done = done && (math.Abs(sigma[r]-before[r]) <= 1e-12*sigma[0] || max(sigma[r], before[r]) <= 1e-7*sigma[0])
		}
		if before = sigma; done {
			break
		}
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
	values, _, err := eigen.Symmetric(ctx, mat.NewSymDense(k, algebra.SelfGram(a).RawMatrix().Data), false)
	if err != nil {
		return nil, fmt.Errorf("the leading singular values: %w", err)
	}
	out := make([]float64, k)
	for i, x := range values {
		out[k-1-i] = math.Sqrt(max(x, 0))
	}
	return out, nil
}
