package factor

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// Kernel is the inner product φ(x)ᵀφ(y) of a concept factorisation, min ‖φ(X) − φ(X)WVᵀ‖². Its zero value is the linear
// kernel xᵀy. Other kernels hold n² values and have no basis vectors among the features: [Result].Basis is nil.
// Neighbours and initial factors are still computed from the samples.
type Kernel struct {
	// Function is the kernel function.
	Function KernelFunction `setting:"kernel" help:"kernel function"`
	// KernelWidth is t of KernelRBF; 0 means the mean of the n² pairwise distances, or 1 if all samples are the same.
	KernelWidth float64 `setting:"kernel-width" default:"mean distance" help:"width t of the rbf kernel exp(-d²/2t²)"`
	// Degree is d of KernelPolynomial; 0 means 2.
	Degree int `setting:"degree" default:"2" help:"degree d of the polynomial kernel (xᵀy + c)^d"`
	// Offset is c of KernelPolynomial; 0 means 1, WeightNone means 0.
	Offset float64 `setting:"offset" default:"1" help:"offset c of the polynomial kernel (xᵀy + c)^d"`
}

// KernelFunction is a positive semi-definite kernel function.
type KernelFunction int

const (
	KernelLinear       KernelFunction = iota // xᵀy
	KernelRBF                                // exp(−‖x − y‖²/2t²)
	KernelPolynomial                         // (xᵀy + c)^d, c ≥ 0
	KernelIntersection                       // Σ min(x_j, y_j), for histograms: values ≥ 0
)

var kernelNames = enum.Of[KernelFunction]("kernel", "linear", "rbf", "polynomial", "intersection")

// String returns the name of the kernel function in settings.
func (f KernelFunction) String() string                   { return kernelNames.String(f) }
func (f *KernelFunction) UnmarshalText(name []byte) error { return kernelNames.UnmarshalText(f, name) }
func (k KernelFunction) MarshalText() ([]byte, error)     { return kernelNames.MarshalText(k) }
func (KernelFunction) Values() []string                   { return kernelNames.Values() }

// isLinear reports whether φ(x) = x, so that the basis has features.
func (k Kernel) isLinear() bool { return k.Function == KernelLinear }

// withDefaults validates the kernel and fills in the defaults, except the width.
func (k Kernel) withDefaults() (Kernel, error) {
	if err := checkEnums(k.Function); err != nil {
		return k, err
	}
	if k.KernelWidth != 0 && !(k.KernelWidth >= view.SmallestNumber && k.KernelWidth <= view.LargestNumber) {
		return k, fmt.Errorf("the width of the rbf kernel is %v; expected %g to %g", orDefault(k.KernelWidth, 0), view.SmallestNumber, view.LargestNumber)
	}
	if k.Degree = cmp.Or(k.Degree, 2); k.Degree < 1 || k.Degree > math.MaxInt32 {
		return k, fmt.Errorf("the degree of the polynomial kernel is %d; expected 1 to %d", k.Degree, math.MaxInt32)
	}
	offset := orDefault(k.Offset, 1)
	k.Offset = cmp.Or(offset, WeightNone)
	return k, view.CheckWeight("the offset of the polynomial kernel", offset)
}

type boundKernel struct {
	Kernel
	values  *mat.Dense // K
	samples mat.Matrix
}

// bind computes K for the samples x, whose data is d. It calls guard.Fail.
func (k Kernel) bind(ctx context.Context, x mat.Matrix, d view.Data) *boundKernel {
	n, _ := d.Dims()
	k = guard.Must(k.withDefaults())
	// Three matrices: K and its two parts.
	guard.Check(view.CheckMemory(ctx, fmt.Sprintf("the kernel values of %d samples", n), 3, n, n))
	guard.Check(k.checkSamples(d))
	b := &boundKernel{Kernel: k, values: mat.NewDense(n, n, nil), samples: d.Matrix()}
	if dense, ok := x.(*mat.Dense); ok {
		b.samples = mat.DenseCopyOf(dense) // its owner may change it
	}
	k.eachProduct(ctx, b.samples, d, func(from int, part *mat.Dense) {
		r, _ := part.Dims()
		b.values.Slice(from, from+r, 0, n).(*mat.Dense).Copy(part)
	})
	square := make([]float64, n)
	for i := range n {
		square[i] = b.values.At(i, i)
	}
	if k.Function == KernelRBF && k.KernelWidth == 0 {
		b.KernelWidth = meanDistance(b.values, square)
	}
	algebra.EachRow(b.values, 4*divisionWork, func(i int, row []float64) { b.apply(row[i:], square[i], square[i:]) })
	for i := range n {
		for j, x := range b.values.RawRowView(i)[i:] {
			b.values.Set(i+j, i, x)
		}
	}
	checkDiagonal(b.values)
	return b
}

// meanDistance returns the mean of the n² distances, from the Gram matrix, or 1 if all are 0.
func meanDistance(products *mat.Dense, square []float64) float64 {
	n := float64(len(square))
	sums := make([]float64, len(square))
	algebra.EachRow(products, divisionWork, func(i int, row []float64) {
		for j, g := range row {
			sums[i] += math.Sqrt(squaredDistance(square[i], square[j], g))
		}
	})
	var mean float64
	for _, s := range sums {
		mean += s / n / n
	}
	if mean < view.SmallestNumber {
		return 1
	}
	return mean
}

// apply turns inner products into kernel values in place; square and others are squared lengths. k must have its defaults.
func (k Kernel) apply(products []float64, square float64, others []float64) {
	switch k.Function {
	case KernelRBF:
		for j, g := range products {
			d := math.Sqrt(squaredDistance(square, others[j], g)) / k.KernelWidth
			products[j] = elementary.Exp(-d * d / 2)
		}
	case KernelPolynomial:
		offset, degree := orDefault(k.Offset, 1), float64(k.Degree)
		for j, g := range products {
			products[j] = elementary.Pow(g+offset, degree)
		}
	}
}

// eachProduct calls f with successive panels, r×p, of the inner products, or Σ min(x_j, y_j), of samples with all rows
// of x. f may overwrite part. eachProduct calls guard.Fail.
func (k Kernel) eachProduct(ctx context.Context, samples mat.Matrix, x view.Data, f func(from int, part *mat.Dense)) {
	n, m := samples.Dims()
	p, _ := x.Dims()
	block := mat.NewDense(min(view.GramRows, n), m, nil)
	guard.Check(view.EachPanel(ctx, n, p, func(part *mat.Dense, from, to int) {
		some := block.Slice(0, to-from, 0, m).(*mat.Dense)
		for i := from; i < to; i++ {
			matrix.Row(some.RawRowView(i-from), i, samples)
		}
		if k.Function == KernelIntersection {
			intersect(part, some, x)
		} else {
			x.TimesBasis(part, some)
		}
	}, f))
}

// intersect writes Σ_j min(a_j, x_j) for all rows a of some and x of the data, r×p.
func intersect(dst, some *mat.Dense, x view.Data) {
	features, sums := algebra.Transpose(some), algebra.Transpose(dst) // the r values for one x are contiguous
	sums.Zero()
	x.Each(func(i, j int, v float64) {
		row := sums.RawRowView(i)
		for r, a := range features.RawRowView(j) {
			row[r] += min(a, v)
		}
	})
	dst.Copy(sums.T())
}

func (k Kernel) checkSamples(x view.Data) error {
	if k.Function == KernelIntersection {
		return view.NonNegative(x, "the intersection kernel")
	}
	return nil
}

// checkDiagonal calls guard.Fail for the first sample whose φ(x) has an unusable length.
func checkDiagonal(k *mat.Dense) {
	n, _ := k.Dims()
	for i := range n {
		if x := k.At(i, i); !(x >= view.SmallestValue && x <= view.LargestValue) {
			guard.Check(&view.SampleError{Sample: i, Problem: fmt.Sprintf("its kernel value with itself is %v; expected %g to %g", x, view.SmallestValue, view.LargestValue)})
		}
	}
}

func (b *boundKernel) model(w *mat.Dense) *KernelModel {
	products := algebra.CrossGram(algebra.Times(w, b.values), w)
	return &KernelModel{Kernel: b.Kernel, Samples: b.samples, Weights: algebra.Transpose(w), Products: products}
}

// KernelModel is a [Model] that represents a sample x by argmin ‖φ(x) − φ(X)Wv‖² over v ≥ 0. The objective is
// k(x, x) − 2·vᵀWᵀk_x + vᵀWᵀKW·v, where k_x holds the n kernel values of x with the training samples X.
type KernelModel struct {
	Kernel   Kernel     // the kernel, with KernelWidth set if the function uses it
	Samples  mat.Matrix // X, n×m, a *mat.Dense or a *CSR
	Weights  *mat.Dense // W, n×k
	Products *mat.Dense // WᵀKW, k×k: the inner products of the concepts
}

// Vectors returns nil: the model has no basis vectors among the features.
func (m *KernelModel) Vectors() *mat.Dense { return nil }

// Transform returns the coefficients, p×k, of the samples x, p×m, by TransformIterations multiplicative steps from a
// uniform start.
func (m *KernelModel) Transform(ctx context.Context, x mat.Matrix) (*mat.Dense, error) {
	return m.represent(ctx, x, false)
}

func (m *KernelModel) represent(ctx context.Context, x mat.Matrix, best bool) (_ *mat.Dense, err error) {
	defer guard.Catch(&err)
	guard.Check(m.validate())
	lin := m.compare(ctx, x) // k×p
	next := func() Block { return Block{Linear: lin, Quadratic: m.Products} }
	return solve(ctx, onesMatrix(lin.Dims()), best, TransformIterations, next), nil
}

// compare returns Wᵀ·k_x, k×p, for the samples x. It calls guard.Fail.
func (m *KernelModel) compare(ctx context.Context, x mat.Matrix) *mat.Dense {
	_, features := m.Samples.Dims()
	d := dataOf(x, features, "the model")
	p, _ := d.Dims()
	kernel := guard.Must(m.Kernel.withDefaults())
	guard.Check(kernel.checkSamples(d))
	square := make([]float64, p)
	d.Each(func(i, _ int, v float64) { square[i] += v * v })
	n, k := m.Weights.Dims()
	sample := make([]float64, features)
	lin, add := mat.NewDense(k, p, nil), mat.NewDense(k, p, nil)
	kernel.eachProduct(ctx, m.Samples, d, func(from int, part *mat.Dense) {
		r, _ := part.Dims()
		for i := range r {
			matrix.Row(sample, from+i, m.Samples)
			kernel.apply(part.RawRowView(i), algebra.Dot(sample, sample), square)
		}
		algebra.Gemm(add, m.Weights.Slice(from, from+r, 0, k).(*mat.Dense), algebra.Trans, part, algebra.NoTrans)
		lin.Add(lin, add)
	})
	guard.FailIf(!algebra.Finite(lin), "the kernel values with the %d training samples overflow", n)
	return lin
}

func (m *KernelModel) validate() (err error) {
	defer guard.Catch(&err)
	n, k := m.Weights.Dims()
	r, c := m.Products.Dims()
	guard.FailIf(r != k || c != k, "the model has a %d×%d Gram matrix for %d concepts", r, c, k)
	guard.Must(m.Kernel.withDefaults())
	guard.FailIf(m.Kernel.Function == KernelRBF && m.Kernel.KernelWidth == 0, "the model's rbf kernel has no width")
	d, err := view.New(m.Samples)
	if err != nil {
		return fmt.Errorf("training %w", err)
	}
	r, _ = d.Dims()
	guard.FailIf(r != n, "the model has weights of %d training samples; expected %d", n, r)
	if err := m.Kernel.checkSamples(d); err != nil {
		return fmt.Errorf("training %w", err)
	}
	return nil
}
