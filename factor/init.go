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
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// Init is the initialisation of the factors.
type Init string

const (
	// InitRandom, the default, draws every entry uniformly from (0, 1]; all methods draw the same coefficients.
	InitRandom Init = "random"
	// InitNNDSVDa uses the non-negative parts of the leading singular vectors, with zeros replaced by the
	// data's mean (Boutsidis and Gallopoulos 2008). It does not depend on the seed.
	InitNNDSVDa Init = "nndsvda"
	// InitNMF uses the factors of NMF with the same data and seed, as the CCF paper does without details. NMF
	// runs to the same tolerance if Options.Solver is Fast, else for DefaultIterations of Multiplicative. Z is
	// the class means of NMF's V, and W is V with columns scaled to sum 1. A fifth of its mean is added to each
	// factor, because multiplicative updates cannot leave 0.
	InitNMF Init = "nmf"
)

// UnmarshalText parses a name, ignoring case. Unknown names are an error.
func (i *Init) UnmarshalText(name []byte) error {
	_, err := enum.Index("init", string(name), i.Values())
	*i = Init(enum.Fold(string(name), i.Values()))
	return err
}

// Values returns the names of all initialisations.
func (Init) Values() []string {
	return []string{string(InitRandom), string(InitNNDSVDa), string(InitNMF)}
}

// Start holds initial factors, ≥ 0. Options.Init initialises the factors that are nil.
type Start struct {
	Basis   *mat.Dense // U, m×k, for a free basis
	Weights *mat.Dense // W, n×k, for a concept basis
	// Rows and Columns are A, h×k, and B, w×k, for a rank-one basis of images of h×w pixels.
	Rows, Columns *mat.Dense
	// Coefficients is V, n×k. Tied samples start at the mean of their coefficients.
	Coefficients *mat.Dense
}

// initialFactors are the parameters of the basis, k rows each, and the condensed coefficients v, k×ñ.
type initialFactors struct {
	parameters []*mat.Dense
	v          *mat.Dense
}

// initial calls guard.Fail.
func (p Parts) initial(ctx context.Context, x mat.Matrix, d view.Data, ties *view.Condensation, opt Options) (f *initialFactors) {
	n, m := d.Dims()
	switch opt.Init {
	case InitRandom, "":
		f = &initialFactors{v: ties.Condensed(randomFactor(opt, "coefficients", n), true)}
		for _, parameter := range bases[p.Basis].parameters {
			of := opt
			if parameter.byFeature {
				of.Rank = p.FeatureRank
			}
			f.parameters = append(f.parameters, randomFactor(of, parameter.stream, parameter.size(n, m, p)))
		}
	case InitNNDSVDa:
		f = p.fromSVD(ctx, d, ties, opt)
	case InitNMF:
		f = p.fromNMF(ctx, x, ties, opt)
	default:
		guard.Check(opt.Init.UnmarshalText([]byte(opt.Init))) // names the unknown initialisation
	}
	start := cmp.Or(opt.Start, &Start{})
	for i, parameter := range bases[p.Basis].parameters {
		if parameter.inStart == nil {
			continue
		}
		if a := parameter.inStart(start); a != nil {
			f.parameters[i] = initialFactor(a, parameter.name, parameter.size(n, m, p), opt.Rank)
		}
	}
	if a := start.Coefficients; a != nil {
		f.v = ties.Condensed(initialFactor(a, "coefficients", n, opt.Rank), false)
	}
	return f
}

// checkFactor returns an error unless a is rows×columns with values from least to view.LargestValue. what names a.
func checkFactor(a *mat.Dense, what string, rows, columns int, least float64) error {
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

// initialFactor validates the initial factor a, rows×rank, and returns it transposed. what names it in errors.
// It calls guard.Fail.
func initialFactor(a *mat.Dense, what string, rows, rank int) *mat.Dense {
	guard.Check(checkFactor(a, "the initial "+what, rows, rank, 0))
	out := algebra.Transpose(a)
	out.Apply(func(_, _ int, x float64) float64 { return algebra.FlooredProduct(x, 1) }, out)
	return out
}

// randomFactor returns a random factor, k×columns, with entries in (0, 1]. what names its random stream.
func randomFactor(opt Options, what string, columns int) *mat.Dense {
	src := rng.New(opt.Seed, what)
	out := mat.NewDense(opt.Rank, columns, nil)
	for i := range columns {
		for r := range opt.Rank {
			out.Set(r, i, 1-src.Float64())
		}
	}
	return out
}

// fromNMF calls guard.Fail.
func (p Parts) fromNMF(ctx context.Context, x mat.Matrix, ties *view.Condensation, opt Options) *initialFactors {
	first := Options{Rank: opt.Rank, Seed: opt.Seed, Solver: Multiplicative{}, Trace: opt.Trace}
	if _, fast := opt.Solver.(Fast); fast {
		first.Solver, first.Tolerance = opt.Solver, opt.Tolerance
	}
	res, err := Parts{}.Fit(ctx, x, Known{}, first)
	guard.Check(guard.Wrap(err, "initialisation by NMF"))
	return p.fromFactors(algebra.Transpose(res.Basis), algebra.Transpose(res.Coefficients), ties)
}

// fromFactors converts factors u, k×m, and v, k×n, into initial factors of p.
func (p Parts) fromFactors(u, v *mat.Dense, ties *view.Condensation) *initialFactors {
	z := ties.Condensed(v, false)
	addFifthOfMean(z)
	return &initialFactors{bases[p.Basis].fromFactors(u, v, p), z}
}

func addFifthOfMean(a *mat.Dense) {
	k, n := a.Dims()
	add := 0.2 * mat.Sum(a) / float64(k*n)
	a.Apply(func(_, _ int, x float64) float64 { return x + add }, a)
}

// fromSVD is InitNNDSVDa: each singular triplet gives one basis vector and its coefficients, from the positive or the
// negative parts of its vectors, whichever pair has the larger product of norms. It calls guard.Fail.
func (p Parts) fromSVD(ctx context.Context, d view.Data, ties *view.Condensation, opt Options) *initialFactors {
	n, m := d.Dims()
	rank := opt.Rank
	guard.FailIf(rank > min(n, m), "nndsvda supports at most min(n, m) = %d basis vectors, got %d", min(n, m), rank)
	left, sigma, right, err := leadingSVD(ctx, d, rank)
	guard.Check(guard.Wrap(err, "initialisation by nndsvda"))
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
	if p.Basis.free() {
		return &initialFactors{[]*mat.Dense{u}, ties.Condensed(v, false)}
	}
	return p.fromFactors(u, v, ties)
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

// leadingSVD returns the k leading singular triplets of x: left vectors k×n, singular values, right vectors k×m. It
// uses subspace iteration with 10 extra dimensions until the singular values converge. Values below 1e-7 of the largest
// are rounding noise and are not tested for convergence.
func leadingSVD(ctx context.Context, x view.Data, k int) (left *mat.Dense, sigma []float64, right *mat.Dense, err error) {
	defer guard.Catch(&err)
	n, m := x.Dims()
	size := min(k+10, n, m)
	src := rng.New(0, "subspace")
	q := mat.NewDense(size, n, nil)
	for i := range q.RawMatrix().Data {
		q.RawMatrix().Data[i] = src.NormFloat64()
	}
	b := mat.NewDense(size, m, nil)
	var p *mat.Dense // eigenvectors of qX·(qX)ᵀ
	before := make([]float64, size)
	for round := range 300 {
		guard.Check(ctx.Err())
		if round > 0 {
			eigen.Orthonormalise(b)
			x.TimesBasis(q, b)
		}
		eigen.Orthonormalise(q)
		x.TimesCoefficients(b, q) // qX
		gram := mat.NewSymDense(size, algebra.SelfGram(b).RawMatrix().Data)
		squares, vectors, err := eigen.Largest(ctx, gram, size)
		guard.Check(guard.Wrap(err, "the leading singular values"))
		p, sigma = vectors, lists.Map(squares, func(x float64) float64 { return math.Sqrt(max(x, 0)) })
		done := true
		for r := range k {
			done = done && (math.Abs(sigma[r]-before[r]) <= 1e-12*sigma[0] || max(sigma[r], before[r]) <= 1e-7*sigma[0])
		}
		if before = sigma; done {
			break
		}
	}
	// qX = P·Σ·Rᵀ, so X ≈ qᵀP·Σ·Rᵀ.
	left, right = mat.NewDense(k, n, nil), mat.NewDense(k, m, nil)
	leading := mat.DenseCopyOf(p.Slice(0, size, 0, k))
	algebra.Gemm(left, leading, algebra.Trans, q, algebra.NoTrans)
	algebra.Gemm(right, leading, algebra.Trans, b, algebra.NoTrans)
	eigen.Orthonormalise(right) // divides by Σ, and replaces directions of negligible values
	return left, sigma[:k], right, nil
}
