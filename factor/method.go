// Package factor finds parts: it factorises n samples of m features, the rows
// of X, into k basis vectors and, for every sample, k coefficients.
//
// The methods of a dozen papers are one algorithm here. Each looks for a basis U (m×k) and coefficients V
// (n×k) with X ≈ V·Uᵀ, and [Parts] puts together what differs: the cost, what the basis can be, what ties
// coefficients together, and penalties. The named methods ([NMF], [CNMF], [CCF], …) are one line each.
//
// Other methods are the linear embeddings [PCA], [LDA], [MFA] and [SDA], [SparseCoding], and [SSNMF], which
// factorises similarities. [MiniBatch] is NMF of samples that do not fit into memory.
//
// A sample is a row here, where the papers write a column:
//
//	papers           here
//	X  m×n           x, n×m (its transpose)
//	U, F  m×k        Result.Basis, m×k
//	V, G  n×k        Result.Coefficients, n×k
//	W  n×k           Result.Weights, n×k, where the basis is U = X·W
//	A, Z             Known.Labels; V = A·Z gives one row of Z to each class
//	K = XᵀX          the inner products of the samples, n×n, or a Kernel's values
//	S, D, L = D − S  a Graph over the samples, its degrees, its Laplacian
//	λ                Lambda
//
// Inside the package factors are transposed, U is k×m and V k×n, so that updates run along long rows.
package factor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Method finds a low-dimensional representation of samples. The methods are small structs of
// hyper-parameters whose zero values mean the papers' defaults.
type Method interface {
	// Fit represents the rows of x, n×m, dense or a *CSR, by n×k coefficients, k = opt.Rank. It changes
	// neither x nor what known refers to; a method uses of known what it can.
	Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error)
}

// Options say how a method runs; its zero value needs only a Rank.
type Options struct {
	// Rank is k, the number of basis vectors, from 1 to n.
	Rank int
	// Iterations bounds the iterations; 0 means DefaultIterations.
	Iterations int
	// Tolerance stops the run when an iteration lowers the objective by less than this share of it; 0
	// means never.
	Tolerance float64
	// MaxTime stops the run, keeping its factors, after so long; 0 means never. Such a run is not repeatable.
	MaxTime time.Duration
	// Init says how the factors start.
	Init Init
	// Start holds initial factors, which go before Init.
	Start *Start
	// Solver lowers the objective of methods made of parts; nil means Fast, or Multiplicative, the papers'
	// rule, where Fast does not serve.
	Solver Solver
	// Seed makes random initial factors repeatable.
	Seed uint64
	// Shared, if set, is common to all linear embeddings of the same samples.
	Shared *Shared
	// KeepScale leaves out the rescaling on exit, which fixes one of the equivalent pairs of factors.
	KeepScale bool
	// OnIteration, if set, is called after every iteration.
	OnIteration func(iteration int, objective float64)
	// Trace, if set, selects the iterations whose objective is computed, beside the last one. Tolerance,
	// MaxTime and OnIteration need all of them.
	Trace func(iteration int) bool
}

// DefaultIterations is the number of iterations unless Options give one.
const DefaultIterations = 200

func (o Options) check(n int) error {
	switch {
	case o.Rank < 1:
		return fmt.Errorf("rank %d; it must be 1 or more", o.Rank)
	case o.Rank > n:
		return fmt.Errorf("rank %d is above the number of samples, %d", o.Rank, n)
	case o.Iterations < 0:
		return fmt.Errorf("%d iterations; there must be 1 or more", o.Iterations)
	case !(o.Tolerance >= 0):
		return fmt.Errorf("tolerance %v; it must be 0 or more", o.Tolerance)
	case o.MaxTime < 0:
		return fmt.Errorf("a time limit of %v", o.MaxTime)
	}
	return nil
}

// newOwnRuleData returns the data of a method that is not made of parts, and checks known and the options.
func newOwnRuleData(x mat.Matrix, known Known, opt Options) (view.Data, error) {
	d, err := view.New(x)
	if err != nil {
		return nil, err
	}
	n, _ := d.Dims()
	if err = known.Check(n); err == nil && opt.Solver != nil {
		err = errOwnRule
	}
	return d, cmp.Or(err, opt.check(n))
}

// Known is what is known about n samples beside their features. Its zero value says nothing.
type Known struct {
	// Labels holds each sample's class, numbered from 0, or -1 where it is not known; n elements or none.
	Labels []int
	// MustLink and CannotLink hold pairs of samples, by row, that belong together and that do not.
	MustLink, CannotLink [][2]int
}

// Check returns an error if labels and links do not fit n samples or contradict each other.
func (k Known) Check(n int) error { return links.Known(k).Check(n) }

// CSR is a sparse matrix in compressed rows; methods with a free basis never make it dense.
type CSR = sparse.CSR

// NewCSR returns the n×m sparse matrix whose row i holds values[rowStart[i]:rowStart[i+1]] in the columns
// of the same range, rising. It keeps the slices. Malformed ones are an error.
func NewCSR(n, m int, rowStart, columns []int, values []float64) (*CSR, error) {
	return sparse.New(n, m, rowStart, columns, values)
}

// SampleError says that a sample cannot be used: its row, from 0, in Sample, and why in Problem.
type SampleError = view.SampleError

// Result is what a method found.
type Result struct {
	// Model represents new samples. It is nil where a method factorises similarities.
	Model Model
	// Basis holds as columns the basis vectors, U, m×k, or directions or atoms. It is nil where there are
	// none among the features: where Model is nil or a [KernelModel].
	Basis *mat.Dense
	// Coefficients represents sample i by its row i of k numbers: V, n×k.
	Coefficients *mat.Dense
	// Weights is W, n×k, where the basis is U = X·W, and nil elsewhere.
	Weights *mat.Dense
	// Association is S, k×k, where similarities are factorised as V·S·Vᵀ, and nil elsewhere.
	Association *mat.Dense
	// Objective holds the objective at the initial factors and after each iteration, before the rescaling on
	// exit: nil where nothing is iterated, NaN where Options.Trace leaves an iteration out. Where a method
	// promises that it never rises, an entry J is at most
	//
	//	(√J₀ + 1e-14·√P)² + 1e-12·J₀ + 1e-13·S
	//
	// after the entry J₀: the limit of double precision. S is the size of the data that the fit is a
	// difference from: ‖X‖², Σx under the divergence, the trace of a kernel, each with the weights of the
	// samples and of the fit, and ‖Ã‖² of similarities; where K has negative values, K = K⁺ − K⁻, also
	// tr(Wᵀ(K⁺ + K⁻)W·VᵀV). P is the size of the differences that a graph penalises, λ·n·‖V‖², for a
	// learned graph βnc more, and λ·m·‖U‖² for smooth basis images. It can rise further where [L1] shrinks
	// coefficients below 1e-150, which become 0.
	Objective []float64
	// Penalty is the penalties' part of each entry of Objective; nil where there are none.
	Penalty []float64
	// Stop says why the iterations ended; empty where there are none.
	Stop Stop
}

// Iterations returns the number of iterations.
func (r *Result) Iterations() int { return max(len(r.Objective)-1, 0) }

// Stop is a reason to end the iterations.
type Stop string

const (
	// StopIterations is the end of the number of iterations asked for.
	StopIterations Stop = "iterations"
	// StopTolerance is an iteration that lowered the objective too little.
	StopTolerance Stop = "tolerance"
	// StopTime is the end of the time allowed.
	StopTime Stop = "time"
)

// Info describes a method of the registry.
type Info struct {
	// Name is what settings call it, such as "cnmf-kl".
	Name string
	// Title is its full name.
	Title string
	// Family groups methods that find the same kind of thing.
	Family string
	// Parts says what it is put together from.
	Parts string
	// Objective and Update are its formulas, in the papers' orientation: X is m×n, a sample a column.
	Objective, Update string
	// Paper is where it comes from.
	Paper string

	zero Method
}

// Register adds a method of the program's own to the registry, by whose name settings find it. Call it from
// an init function. It panics if the name is taken.
func Register(i Info, defaults Method) {
	if _, taken := Lookup(i.Name); taken {
		panic("factor: a method " + i.Name + " is registered already")
	}
	i.zero = defaults
	registry = append(registry, i)
}

// Methods returns the methods of the registry, in the order to show them.
func Methods() []Info { return slices.Clone(registry) }

// Lookup returns the method of the name.
func Lookup(name string) (Info, bool) {
	i := slices.IndexFunc(registry, func(m Info) bool { return m.Name == name })
	if i < 0 {
		return Info{}, false
	}
	return registry[i], true
}

// Needs says what the method needs with the paper's settings; see [NeedsOf].
func (i Info) Needs() Needs { return NeedsOf(i.zero) }

// Setting describes a setting: its name, default, help, values and range in words.
type Setting = settings.Setting

// Settings returns the method's hyper-parameters: the fields with a setting tag of its struct and of
// embedded ones.
func (i Info) Settings() []Setting {
	if own, ok := i.zero.(interface{ Settings() []Setting }); ok {
		return own.Settings()
	}
	return settings.List(i.zero)
}

// New returns the method with the given hyper-parameters, whose values are numbers, strings or booleans.
// A 0 becomes WeightNone where the zero value stands for a default.
func (i Info) New(params map[string]any) (Method, error) {
	method, err := settings.New(settings.Of(params), i.zero)
	if err != nil {
		var e *settings.Error
		if errors.As(err, &e) && e.Key != "" {
			return nil, fmt.Errorf("%s: %s: %w", i.Name, e.Key, err)
		}
		return nil, fmt.Errorf("%s: %w", i.Name, err)
	}
	return method, nil
}

// Needs says what a method needs of the samples, and what it makes of them.
type Needs struct {
	// Labels tells whether the labels of some samples must be known; with Links, links will do as well.
	Labels, Links bool
	// TiesLabels tells whether samples of one class are tied to each other, so that the only labelled one
	// of a class has no effect.
	TiesLabels bool
	// Images tells whether samples must be images.
	Images bool
	// Signed tells whether samples may have negative values.
	Signed bool
	// Concept tells whether the basis is made of the samples, U = X·W.
	Concept bool
	// Direct methods are solved at once, without iterations or initial factors.
	Direct bool
	// Classes reports why the method cannot learn from classes of these sizes, each 1 or more; nil where it
	// always can.
	Classes func(sizes []int) error
}

// NeedsOf returns what the method needs: by its method Needs() Needs, or by its [Parts].
func NeedsOf(m Method) Needs {
	switch m := m.(type) {
	case interface{ Needs() Needs }:
		return m.Needs()
	case Composition:
		return m.AsParts().Needs()
	}
	return Needs{}
}

// Composition is a method that is put together from [Parts].
type Composition interface {
	Method
	AsParts() Parts
}

// Serves reports that the solver does not serve the method, and why.
func Serves(s Solver, m Method) error {
	if c, ok := m.(Composition); ok {
		return s.Serves(c.AsParts())
	}
	return errOwnRule
}

var errOwnRule = errors.New("a solver is for methods that are made of parts, and this one has a rule of its own")
