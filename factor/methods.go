// Package factor implements non-negative matrix factorisation and related methods: it approximates n samples of
// m features, the rows of X, by k basis vectors and k coefficients per sample.
//
// Most methods find a basis U, m×k, and coefficients V, n×k, with X ≈ V·Uᵀ. They differ in four [Parts]: the cost, the
// constraint on the basis, the ties between coefficients, and the penalties. The named methods ([NMF], [CNMF],
// [CCF], …) are combinations of these parts. The examples of [NMF] and [CNMF] show how to fit a method.
//
// The other methods are the linear embeddings [PCA], [LDA], [MFA] and [SDA], [SparseCoding], and [SSNMF] and [SymNMF],
// which factorise similarities. [MiniBatch] is NMF for samples that do not fit into memory.
//
// A sample is a row here and a column in the papers:
//
//	papers           here
//	X  m×n           x, n×m (its transpose)
//	U, F  m×k        Result.Basis, m×k
//	V, G  n×k        Result.Coefficients, n×k
//	W  n×k           Result.Weights, n×k, for the basis U = X·W
//	A, Z             Known.Labels; V = A·Z gives each class one row of Z
//	K = XᵀX          the Gram matrix of the samples, n×n, or the values of a Kernel
//	S, D, L = D − S  the weights of a Graph over the samples, its degrees, its Laplacian
//	λ                Lambda
//
// Solvers and penalties see transposed factors, U as k×m and V as k×n, so that updates run along long rows.
package factor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Method computes a low-dimensional representation of samples. Methods are structs of hyper-parameters; a zero value
// means the paper's default.
type Method interface {
	// Fit represents the rows of x, n×m, a *CSR or any other matrix, by n×k coefficients, with k = opt.Rank. It
	// does not modify x or known. Methods ignore the parts of known that they cannot use.
	Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error)
}

// Options are the settings of a fit that do not depend on the method. Only Rank is required.
type Options struct {
	Rank       int // k, the number of basis vectors, from 1 to n
	Iterations int // the maximum number of iterations; 0 means DefaultIterations
	// Tolerance stops the fit when an iteration lowers the objective by at most this fraction of it; 0 means never.
	Tolerance float64
	Init      Init   // the initialisation of the factors
	Start     *Start // initial factors, which override Init
	// Solver is the algorithm for methods made of Parts; nil means Fast, or Multiplicative, the papers' rule, if
	// Fast does not support the method.
	Solver Solver
	Seed   uint64  // the seed of random initial factors
	Shared *Shared // a cache for linear embeddings of the same samples, or nil
	// KeepScale skips the rescaling on exit, which selects one of the equivalent pairs of factors.
	KeepScale bool
	// OnIteration, if set, is called after every iteration.
	OnIteration func(iteration int, objective float64)
	// Trace, if set, selects the iterations whose objective is computed, besides the last one. Tolerance and
	// OnIteration require all iterations and override it.
	Trace func(iteration int) bool
}

// DefaultIterations is the number of iterations if Options.Iterations is 0.
const DefaultIterations = 200

func (o Options) validate(n int) (err error) {
	defer guard.Catch(&err)
	guard.FailIf(o.Rank < 1, "rank %d: expected 1 or more", o.Rank)
	guard.FailIf(o.Rank > n, "rank %d is above the number of samples, %d", o.Rank, n)
	guard.FailIf(o.Iterations < 0, "iterations %d: expected 1 or more", o.Iterations)
	guard.FailIf(!(o.Tolerance >= 0), "tolerance %v: expected 0 or more", o.Tolerance)
	return nil
}

// newOwnRuleData validates known and opt and returns the data of a method that is not made of Parts. It calls guard.Fail.
func newOwnRuleData(x mat.Matrix, known Known, opt Options) view.Data {
	d := guard.Must(view.New(x))
	n, _ := d.Dims()
	guard.Check(known.Check(n))
	if opt.Solver != nil {
		guard.Check(errOwnRule)
	}
	guard.Check(opt.validate(n))
	return d
}

// Known holds labels and links, the supervision of n samples: Labels, the class of each sample from 0, or -1 if it is
// unlabelled, and MustLink and CannotLink, pairs of rows that must, and must not, be in the same class.
type Known = links.Known

// CSR is a sparse matrix in compressed row storage. Methods with a free basis never convert it to a dense matrix.
type CSR = sparse.CSR

// NewCSR returns an n×m sparse matrix. Row i holds values[rowStart[i]:rowStart[i+1]] in the columns of the same range of
// columns, which must be increasing. The matrix shares the slices. Malformed slices are an error.
func NewCSR(n, m int, rowStart, columns []int, values []float64) (*CSR, error) {
	return sparse.New(n, m, rowStart, columns, values)
}

// SampleError reports an unusable sample: its row Sample, counted from 0, and the Problem.
type SampleError = view.SampleError

// Result is the result of a fit.
type Result struct {
	Model Model // represents new samples; nil if the method factorises similarities
	// Basis holds the basis vectors, directions or atoms as columns: U, m×k. It is nil if Model is nil or a
	// [KernelModel].
	Basis        *mat.Dense
	Coefficients *mat.Dense // V, n×k; row i represents sample i
	Stored       Stored     // V instead of Coefficients, from MiniBatch.Coefficients, else nil
	Weights      *mat.Dense // W, n×k, if the basis is U = X·W, else nil
	// Association is S, k×k, if similarities are factorised as V·S·Vᵀ, or k×l if the basis is U = G·Sᵀ with the groups of
	// features G, m×l; else nil.
	Association, FeatureGroups *mat.Dense
	// Objective holds the objective at the initial factors and after each iteration, before the rescaling on
	// exit. It is nil for a direct method, and NaN for iterations that Options.Trace leaves out. If the method
	// guarantees that the objective never rises, an entry J is at most
	//
	//	(√J₀ + 1e-14·√P)² + 1e-12·J₀ + 1e-13·S
	//
	// after the entry J₀, which is the limit of double precision. S is the size of the data: ‖X‖², Σx under the
	// divergence, Σ x^β under another, or the trace of a kernel, each with the weights of the samples and of the fit, or ‖Ã‖² for
	// similarities. If K has negative values, K = K⁺ − K⁻, S also includes tr(Wᵀ(K⁺ + K⁻)W·VᵀV). P is the size
	// of a graph penalty, λ·n·‖V‖², plus βnc for a learned graph, λ·m·‖U‖² for smooth basis images, or
	// 1e14·λ·k·(‖U‖²/δ + 1) for a volume. The objective can rise more if [L1] or [L1Basis] shrinks values below
	// 1e-150, which become 0.
	Objective []float64
	Penalty   []float64 // the penalties' part of each entry of Objective; nil without penalties
	Stop      Stop      // the reason the iterations ended; empty for a direct method
}

// Iterations returns the number of iterations that the fit took.
func (r *Result) Iterations() int { return max(len(r.Objective)-1, 0) }

// Stop is the reason a fit ended.
type Stop string

const (
	StopIterations Stop = "iterations" // Options.Iterations was reached
	StopTolerance  Stop = "tolerance"  // the objective converged to Options.Tolerance
)

// Info describes a method of the registry.
type Info struct {
	Name   string // name in settings, such as "cnmf-kl"
	Title  string // full name
	Family string // heading for methods of the same kind
	Parts  string // description of the method's parts
	// Objective and Update are formulas in the papers' orientation: X is m×n and a sample is a column.
	Objective, Update string
	Paper             string // reference

	zero Method
}

// Register adds a method to the registry, so that settings can select it by name. defaults is the method with default
// settings. Call Register from an init function. It panics if the name is taken.
func Register(i Info, defaults Method) {
	if _, taken := Lookup(i.Name); taken {
		panic("factor: a method " + i.Name + " is already registered")
	}
	i.zero = defaults
	registry = append(registry, i)
}

// Methods returns the registered methods in display order.
func Methods() []Info { return slices.Clone(registry) }

// Lookup returns the registered method with the given name.
func Lookup(name string) (Info, bool) {
	return lists.Find(registry, func(m Info) bool { return m.Name == name })
}

// Needs returns the requirements of the method with its default settings; see [NeedsOf].
func (i Info) Needs() Needs { return NeedsOf(i.zero) }

// Setting describes a setting: its name, default, help, values and range.
type Setting = settings.Setting

// Settings returns the method's hyper-parameters: the fields of its struct, and of embedded structs, that have a setting
// tag.
func (i Info) Settings() []Setting {
	if own, ok := i.zero.(interface{ Settings() []Setting }); ok {
		return own.Settings()
	}
	return settings.List(i.zero)
}

// New returns the method with the given hyper-parameters. Values are numbers, strings or booleans. An explicit 0 is set
// to WeightNone if the zero value of the field means the default.
func (i Info) New(params map[string]any) (Method, error) {
	method, err := settings.New(settings.Of(params), i.zero)
	if c, ok := method.(Composition); ok && err == nil {
		err = c.AsParts().validate()
	}
	if err != nil {
		var e *settings.Error
		if errors.As(err, &e) && e.Key != "" {
			return nil, fmt.Errorf("%s: %s: %w", i.Name, e.Key, err)
		}
		return nil, fmt.Errorf("%s: %w", i.Name, err)
	}
	return method, nil
}

// Needs describes the requirements of a method on the samples and on their labels.
type Needs struct {
	// Labels reports that the method requires some labels; if Links is also set, links are enough.
	Labels, Links bool
	// TiesLabels reports that labels act only through pairs of samples of one class, so that a single labelled
	// sample of a class has no effect.
	TiesLabels bool
	Images     bool // samples must be images
	Signed     bool // samples may have negative values
	Concept    bool // the basis consists of combinations of samples, U = X·W
	Direct     bool // the method has a closed solution, without iterations or initial factors
	Unseeded   bool // the result depends on no random number
	NoModel    bool // the method cannot represent new samples
	// Memberships reports that the coefficients are memberships in clusters, one for each basis vector.
	Memberships bool
	// Classes, if set, returns an error if the method cannot learn from labelled classes of these sizes, each 1
	// or more.
	Classes func(sizes []int) error
}

// NeedsOf returns the requirements of a method or a penalty: from its method Needs() Needs, or else from its [Parts].
func NeedsOf(m any) Needs {
	switch m := m.(type) {
	case interface{ Needs() Needs }:
		return m.Needs()
	case Composition:
		return m.AsParts().Needs()
	}
	return Needs{}
}

// Composition is a method that is a combination of [Parts].
type Composition interface {
	Method
	AsParts() Parts
}

// Serves returns nil if the solver supports the method, or an error with the reason it does not.
func Serves(s Solver, m Method) error {
	if c, ok := m.(Composition); ok {
		return s.Serves(c.AsParts())
	}
	return errOwnRule
}

var errOwnRule = errors.New("the method has its own update rule and supports no solver")

// NMF is non-negative matrix factorisation, min ‖X − UVᵀ‖² (Lee and Seung 1999, 2001), or with another cost, such as a
// β-divergence (Févotte and Idier 2011).
type NMF struct {
	Cost      Cost    `setting:"cost" help:"cost: divergence between data and reconstruction"`
	Exponent  float64 `setting:"exponent" default:"0.5" range:"[0,4]" help:"exponent β of cost beta"`
	Threshold float64 `setting:"threshold" default:"a tenth of the mean value" range:"[1e-60,1e60]" help:"threshold δ of cost huber; larger errors count less than their squares"`
}

// AsParts returns the combination of parts.
func (n NMF) AsParts() Parts {
	return Parts{Cost: n.Cost, Exponent: n.Exponent, Threshold: n.Threshold}
}

// NMFKL is NMF under the generalised Kullback-Leibler divergence, min D(X‖UVᵀ) (Lee and Seung 2001). The D-SNMF paper
// calls it D-NMF.
type NMFKL struct{}

// AsParts returns the combination of parts.
func (NMFKL) AsParts() Parts { return Parts{Cost: CostKL} }

// NMFNCW is NMF with normalised-cut sample weights, min Σ γ_i‖x_i − U·v_i‖² with γ_i = 1/Σ_j x_iᵀx_j (Xu, Liu and Gong
// 2003). The CNMF paper calls it NMF.
type NMFNCW struct{}

// AsParts returns the combination of parts.
func (NMFNCW) AsParts() Parts { return Parts{Weighting: WeightingNormalisedCut} }

// GNMF is graph regularised NMF, min ‖X − UVᵀ‖² + λ·tr(VᵀLV) (Cai et al. 2011, eqs 14 and 15). The objective has no
// minimum, so the result depends on the number of iterations; see [Graph].
type GNMF struct {
	// Lambda is the weight of the graph; 0 means 100, WeightNone means 0.
	Lambda float64 `setting:"lambda" default:"100" help:"weight λ of the graph"`
	Neighbourhood
}

// AsParts returns the combination of parts.
func (g GNMF) AsParts() Parts {
	return Parts{Penalties: []Penalty{Graph{Lambda: g.Lambda, Neighbourhood: g.Neighbourhood}}}
}

// SemiGNMF is GNMF with labels in the graph: an edge of weight 1 between labelled samples of the same class, none
// between labelled samples of different classes (Cai et al. 2011, section 6).
type SemiGNMF struct {
	// Lambda is the weight of the graph; 0 means 100, WeightNone means 0.
	Lambda float64 `setting:"lambda" default:"100" help:"weight λ of the graph"`
	Neighbourhood
}

// AsParts returns the combination of parts.
func (g SemiGNMF) AsParts() Parts {
	return Parts{Penalties: []Penalty{Graph{Lambda: g.Lambda, Neighbourhood: g.Neighbourhood, LabelEdges: true}}}
}

// CNMF is constrained NMF, min ‖X − U(AZ)ᵀ‖²: labelled samples of one class share their coefficients (Liu
// et al. 2012, eqs 9 and 10).
type CNMF struct{}

// AsParts returns the combination of parts.
func (CNMF) AsParts() Parts { return Parts{Tie: TieLabels} }

// CNMFKL is constrained NMF under the divergence, min D(X‖U(AZ)ᵀ) (Liu et al. 2012, section 5).
type CNMFKL struct{}

// AsParts returns the combination of parts.
func (CNMFKL) AsParts() Parts { return Parts{Cost: CostKL, Tie: TieLabels} }

// L2SNMF is supervised NMF, min ‖X − UVᵀ‖² + tr(VᵀCV), with the basis vectors scaled to unit norm in every iteration
// (Ambai, Utama and Yoshida 2011, section 3.1); see [Links] for C.
type L2SNMF struct {
	// Must and Cannot are the weights of links, ≥ 0; 0 means 0.005 for both, WeightNone means 0.
	Must   float64 `setting:"must" default:"0.005" help:"weight of a must-link, −C_ij"`
	Cannot float64 `setting:"cannot" default:"0.005" help:"weight of a cannot-link, C_ij"`
}

// AsParts returns the combination of parts.
func (l L2SNMF) AsParts() Parts {
	l.Cannot = cmp.Or(l.Cannot, 0.005)
	return Parts{UnitNorm: true, Penalties: []Penalty{Links(l)}}
}

// DSNMF is supervised NMF under the divergence, min D(X‖UVᵀ) + tr(VᵀCV), with the basis vectors scaled to unit norm in
// every iteration (Ambai, Utama and Yoshida 2011, section 3.2); see [Links] for C.
type DSNMF struct {
	// Must and Cannot are the weights of links, ≥ 0; 0 means 0.005 and 1, WeightNone means 0.
	Must   float64 `setting:"must" default:"0.005" help:"weight of a must-link, −C_ij"`
	Cannot float64 `setting:"cannot" default:"1" help:"weight of a cannot-link, C_ij"`
}

// AsParts returns the combination of parts.
func (d DSNMF) AsParts() Parts {
	return Parts{Cost: CostKL, UnitNorm: true, Penalties: []Penalty{Links(d)}}
}

// NTF is non-negative tensor factorisation of images, min Σ_i ‖X_i − Σ_r v_ir·a_r·b_rᵀ‖² (Shashua and Hazan 2005): NMF
// with basis images of rank one.
type NTF struct {
	Image Image // size of the sample images
}

// AsParts returns the combination of parts.
func (n NTF) AsParts() Parts { return Parts{Basis: BasisRankOne, Image: n.Image} }

// SemiNMF is semi-NMF, min ‖X − UVᵀ‖² over V ≥ 0 and U of any sign (Ding, Li and Jordan 2010). The data may be of any sign.
type SemiNMF struct{}

// AsParts returns the combination of parts.
func (SemiNMF) AsParts() Parts { return Parts{Basis: BasisSemi} }

// ONMF is orthogonal NMF, min ‖X − UVᵀ‖² with orthogonal coefficients, VᵀV = I, or basis vectors (Ding, Li, Peng and Park
// 2006). With orthogonal coefficients it is a relaxed k-means.
type ONMF struct {
	// Orthogonal is the constraint; OrthogonalityNone means OrthogonalityCoefficients.
	Orthogonal Orthogonality `setting:"orthogonal" default:"coefficients" values:"coefficients,basis" help:"factor with orthogonal columns"`
}

// AsParts returns the combination of parts.
func (o ONMF) AsParts() Parts {
	return Parts{Orthogonal: cmp.Or(o.Orthogonal, OrthogonalityCoefficients)}
}

// CF is concept factorisation, min ‖X − XWVᵀ‖² (Xu and Gong 2004). The data may be of any sign.
type CF struct {
	Kernel // replaces XᵀX
}

// AsParts returns the combination of parts.
func (c CF) AsParts() Parts { return Parts{Basis: BasisConcept, Kernel: c.Kernel} }

// LCCF is locally consistent concept factorisation, min ‖X − XWVᵀ‖² + λ·tr(VᵀLV) (Cai, He and Han 2011). The data may be
// of any sign. The objective has no minimum; see [Graph].
type LCCF struct {
	// Lambda is the weight of the graph; 0 means 100, WeightNone means 0.
	Lambda float64 `setting:"lambda" default:"100" help:"weight λ of the graph"`
	Neighbourhood
	Kernel // replaces XᵀX
}

// AsParts returns the combination of parts.
func (l LCCF) AsParts() Parts {
	g := Graph{Lambda: l.Lambda, Neighbourhood: l.Neighbourhood}
	return Parts{Basis: BasisConcept, Kernel: l.Kernel, Penalties: []Penalty{g}}
}

// CCF is constrained concept factorisation, min ‖X − XW(AZ)ᵀ‖²: labelled samples of one class share their coefficients
// (Liu et al. 2014, eqs 10 and 11; eqs 23 and 27 for data of any sign).
type CCF struct {
	Kernel // replaces XᵀX
}

// AsParts returns the combination of parts.
func (c CCF) AsParts() Parts { return Parts{Basis: BasisConcept, Tie: TieLabels, Kernel: c.Kernel} }

// CFOGL is concept factorisation with optimal graph learning (Shu et al. 2019),
//
//	min ‖Q − W₀‖² + β·tr(FᵀL_QF) + λ·tr(VᵀL_QV) + μ·‖X − XWVᵀ‖²
//
// Each iteration updates W, V, F and Q in turn; see [LearnedGraph] for Q, W₀ and F.
type CFOGL struct {
	// Lambda, Beta and Mu are λ, β and μ; 0 means 1. WeightNone means 0 and is invalid for Mu.
	Lambda float64 `setting:"lambda" default:"1" help:"weight λ of the graph on the coefficients"`
	Beta   float64 `setting:"beta" default:"1" help:"weight β of the graph's spectral embedding"`
	Mu     float64 `setting:"mu" default:"1" help:"weight μ of the fit"`
	// Parts is c, the number of connected components that the graph is drawn towards; 0 means the rank.
	Parts int `setting:"parts" default:"rank" help:"number c of connected components that the graph approaches"`
	Neighbourhood
	Kernel // replaces XᵀX
	// Rule is the update of the graph.
	Rule GraphRule `setting:"rule" help:"update: exact (minimises the objective) or printed (eq. 17 of the paper)"`
}

// AsParts returns the combination of parts.
func (c CFOGL) AsParts() Parts {
	g := LearnedGraph{Lambda: c.Lambda, Beta: c.Beta, Parts: c.Parts, Neighbourhood: c.Neighbourhood, Rule: c.Rule}
	return Parts{Basis: BasisConcept, Kernel: c.Kernel, Penalties: []Penalty{g}, FitWeight: c.Mu}
}

// Every method is fitted as its parts.

func (m NMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m NMFKL) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m NMFNCW) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m GNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m SemiGNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m CNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m CNMFKL) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m L2SNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m DSNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m NTF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m SemiNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m ONMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m CF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m LCCF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m CCF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}
func (m CFOGL) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return m.AsParts().Fit(ctx, x, known, opt)
}

var registry = []Info{
	{Name: "nmf", Title: "Non-negative matrix factorisation", Family: "NMF", zero: NMF{},
		Parts: "Frobenius cost or another, free basis", Objective: "‖X − UVᵀ‖², or D(X, UVᵀ) with another cost",
		Update: "U ← U∘(XV)/(U·VᵀV), V ← V∘(XᵀU)/(V·UᵀU); with costs is and beta θ ← θ∘ratio^γ(β), γ = 1/(2 − β) below 1, 1/(β − 1) above 2, else 1",
		Paper:  "Lee and Seung, Algorithms for non-negative matrix factorization, NIPS 2001; Févotte and Idier, Algorithms for nonnegative matrix factorization with the β-divergence, Neural Computation 23(9), 2011"},
	{Name: "nmf-kl", Title: "NMF under the Kullback-Leibler divergence", Family: "NMF", zero: NMFKL{},
		Parts: "KL cost, free basis", Objective: "D(X‖UVᵀ) = Σ x·log(x/y) − x + y, Y = UVᵀ",
		Update: "U ← U∘(RV)/(1·1ᵀV), V ← V∘(RᵀU)/(1·1ᵀU), R = X/(UVᵀ) each time",
		Paper:  "Lee and Seung, Algorithms for non-negative matrix factorization, NIPS 2001"},
	{Name: "nmf-ncw", Title: "NMF with normalised-cut weights", Family: "NMF", zero: NMFNCW{},
		Parts:     "Frobenius cost with sample weights, free basis",
		Objective: "Σ γ_i‖x_i − U·v_i‖², γ = 1/(XᵀX·1)",
		Update:    "as nmf on X·Γ^½, then V is rescaled",
		Paper:     "Xu, Liu and Gong, Document clustering based on non-negative matrix factorization, SIGIR 2003"},
	{Name: "gnmf", Title: "Graph regularised NMF", Family: "NMF", zero: GNMF{},
		Parts: "Frobenius cost, free basis, graph penalty", Objective: "‖X − UVᵀ‖² + λ·tr(VᵀLV)",
		Update: "U as nmf; V ← V∘(XᵀU + λSV)/(V·UᵀU + λDV)",
		Paper:  "Cai, He, Han and Huang, Graph regularized nonnegative matrix factorization for data representation, IEEE TPAMI 33(8), 2011"},
	{Name: "semi-gnmf", Title: "Graph regularised NMF with labels", Family: "NMF", zero: SemiGNMF{},
		Parts:     "Frobenius cost, free basis, graph penalty with label edges",
		Objective: "‖X − UVᵀ‖² + λ·tr(VᵀLV), S_ij = 1 for one label, 0 for two",
		Update:    "as gnmf",
		Paper:     "Cai, He, Han and Huang, Graph regularized nonnegative matrix factorization for data representation, IEEE TPAMI 33(8), 2011"},
	{Name: "cnmf", Title: "Constrained NMF", Family: "NMF", zero: CNMF{},
		Parts: "Frobenius cost, free basis, label ties", Objective: "‖X − U(AZ)ᵀ‖²",
		Update: "U as nmf with V = AZ; Z ← Z∘(AᵀXᵀU)/(AᵀA·Z·UᵀU)",
		Paper:  "Liu, Wu, Li, Cai and Huang, Constrained nonnegative matrix factorization for image representation, IEEE TPAMI 34(7), 2012"},
	{Name: "cnmf-kl", Title: "Constrained NMF under the Kullback-Leibler divergence", Family: "NMF", zero: CNMFKL{},
		Parts: "KL cost, free basis, label ties", Objective: "D(X‖U(AZ)ᵀ)",
		Update: "U as nmf-kl with V = AZ; Z ← Z∘(AᵀRᵀU)/(c·1ᵀU), c = diag(AᵀA)",
		Paper:  "Liu, Wu, Li, Cai and Huang, Constrained nonnegative matrix factorization for image representation, IEEE TPAMI 34(7), 2012, section 5"},
	{Name: "l2-snmf", Title: "Supervised NMF", Family: "NMF", zero: L2SNMF{},
		Parts:     "Frobenius cost, free basis of unit norm, link penalty",
		Objective: "‖X − UVᵀ‖² + tr(VᵀCV), ‖u_r‖ = 1, C_ij < 0 for must-links, > 0 for cannot-links",
		Update:    "U as nmf, then to unit norm; V ← V∘√[(XᵀU + C⁻V)/(V·UᵀU + C⁺V)]",
		Paper:     "Ambai, Utama and Yoshida, Dimensionality reduction for histogram features based on supervised non-negative matrix factorization, IEICE Trans. E94-D(10), 2011"},
	{Name: "d-snmf", Title: "Supervised NMF under the Kullback-Leibler divergence", Family: "NMF", zero: DSNMF{},
		Parts:     "KL cost, free basis of unit norm, link penalty",
		Objective: "D(X‖UVᵀ) + tr(VᵀCV), ‖u_r‖ = 1, C_ij < 0 for must-links, > 0 for cannot-links",
		Update:    "U as nmf-kl, then to unit norm; V ← V∘√[(RᵀU + 2C⁻V)/(1·1ᵀU + 2C⁺V)]",
		Paper:     "Ambai, Utama and Yoshida, Dimensionality reduction for histogram features based on supervised non-negative matrix factorization, IEICE Trans. E94-D(10), 2011"},
	{Name: "ntf", Title: "Non-negative tensor factorisation", Family: "NMF", zero: NTF{},
		Parts:     "Frobenius cost, basis of rank-one images",
		Objective: "Σ_i ‖X_i − Σ_r v_ir·a_r·b_rᵀ‖², image i is h×w",
		Update:    "A, B and V in turn, each θ ← θ∘(negative part)/(positive part)",
		Paper:     "Shashua and Hazan, Non-negative tensor factorization with applications to statistics and computer vision, ICML 2005"},
	{Name: "semi-nmf", Title: "Semi-NMF", Family: "NMF", zero: SemiNMF{},
		Parts: "Frobenius cost, basis of any sign", Objective: "‖X − UVᵀ‖², V ≥ 0",
		Update: "U ← XV(VᵀV)⁻¹; V ← V∘√[((XᵀU)⁺ + V(UᵀU)⁻)/((XᵀU)⁻ + V(UᵀU)⁺)], A = A⁺ − A⁻",
		Paper:  "Ding, Li and Jordan, Convex and semi-nonnegative matrix factorizations, IEEE TPAMI 32(1), 2010"},
	{Name: "onmf", Title: "Orthogonal NMF", Family: "NMF", zero: ONMF{},
		Parts: "Frobenius cost, free basis, orthogonal coefficients or basis vectors", Objective: "‖X − UVᵀ‖², VᵀV = I or UᵀU = I",
		Update: "one of them as nmf; V ← V∘√[(XᵀU)/(VVᵀXᵀU)], or U ← U∘√[(XV)/(UUᵀXV)]",
		Paper:  "Ding, Li, Peng and Park, Orthogonal nonnegative matrix tri-factorizations for clustering, KDD 2006"},
	{Name: "tri-nmf", Title: "Non-negative tri-factorisation", Family: "NMF", zero: TriNMF{},
		Parts: "Frobenius cost or another, basis of groups of features", Objective: "‖X − GSVᵀ‖², or D(X, GSVᵀ) with another cost",
		Update: "S, G and V in turn, each θ ← θ∘(negative part)/(positive part), to the power γ(β) as nmf; orthogonal: G and V as in onmf",
		Paper:  "Ding, Li, Peng and Park, Orthogonal nonnegative matrix tri-factorizations for clustering, KDD 2006"},
	{Name: "cf", Title: "Concept factorisation", Family: "concept factorisation", zero: CF{},
		Parts: "Frobenius cost, concept basis with any kernel", Objective: "‖X − XWVᵀ‖²",
		Update: "W ← W∘(KV)/(KW·VᵀV), V ← V∘(KW)/(V·WᵀKW); K = XᵀX, or a kernel's values",
		Paper:  "Xu and Gong, Document clustering by concept factorization, SIGIR 2004"},
	{Name: "lccf", Title: "Locally consistent concept factorisation", Family: "concept factorisation", zero: LCCF{},
		Parts:     "Frobenius cost, concept basis with any kernel, graph penalty",
		Objective: "‖X − XWVᵀ‖² + λ·tr(VᵀLV)",
		Update:    "W as cf; V ← V∘(KW + λSV)/(V·WᵀKW + λDV)",
		Paper:     "Cai, He and Han, Locally consistent concept factorization for document clustering, IEEE TKDE 23(6), 2011"},
	{Name: "ccf", Title: "Constrained concept factorisation", Family: "concept factorisation", zero: CCF{},
		Parts: "Frobenius cost, concept basis with any kernel, label ties", Objective: "‖X − XW(AZ)ᵀ‖²",
		Update: "W as cf with V = AZ; Z ← Z∘(AᵀKW)/(AᵀA·Z·WᵀKW)",
		Paper:  "Liu, Yang, Wu and Cai, Constrained concept factorization for image representation, IEEE Trans. Cybernetics 44(7), 2014"},
	{Name: "cf-ogl", Title: "Concept factorisation with optimal graph learning", Family: "concept factorisation", zero: CFOGL{},
		Parts:     "Frobenius cost, concept basis with any kernel, learned graph",
		Objective: "‖Q − W₀‖² + β·tr(FᵀL_QF) + λ·tr(VᵀL_QV) + μ·‖X − XWVᵀ‖²",
		Update:    "W as cf; V as lccf with the graph (Q + Qᵀ)/2; F the c smallest eigenvectors of L_Q; q_i the simplex projection of w_i − (β/4)·d^F_i − (λ/4)·d^V_i",
		Paper:     "Shu, Wu, Fan, You, Liu and Zhang, Concept factorization with optimal graph learning for data representation, ICIG 2019"},
	{Name: "eccf", Title: "Entropic constrained concept factorisation", Family: "concept factorisation", zero: ECCF{},
		Parts:     "memberships with entropy, concepts of unit length in the whitened samples, graph, labels fixed",
		Objective: "κ·Σ r_ic(1 − cos(φ_i, u_c)) + Σ r_ic·log(k·r_ic) + (λ/2)·(n − tr(RᵀPR)), φᵀφ = K(K + ρ·tr(K)/n·I)⁻¹ with unit diagonal",
		Update:    "r_i ← softmax((κ·φ_iᵀU + λ·(PR)_i + (λ/2)·log r_i)/(1 + λ/2)) for unlabelled samples; u_c the direction of Σ r_ic·φ_i",
		Paper:     "none: a method of this project (docs/eccf.md)"},
	{Name: "ss-nmf", Title: "Semi-supervised NMF of similarities", Family: "symmetric factorisation", zero: SSNMF{},
		Parts:     "similarity matrix with links set to its extremes",
		Objective: "‖Ã − GSGᵀ‖², Ã = XᵀX with must-links at its maximum and cannot-links at its minimum",
		Update:    "S ← S∘(GᵀÃG)/(GᵀGSGᵀG); G ← G∘[(ÃGS)/(GSGᵀGS)]^¼",
		Paper:     "Chen, Rege, Dong and Fotouhi, Deriving semantics for image clustering from accumulated user feedbacks, ACM Multimedia 2007"},
	{Name: "sym-nmf", Title: "Symmetric NMF", Family: "symmetric factorisation", zero: SymNMF{},
		Parts:     "similarities by a graph or a kernel, scaled by their row sums",
		Objective: "‖A − VVᵀ‖², A = D^-½SD^-½, S a graph or a kernel, D its row sums",
		Update:    "V ← V∘[(AV)/(VVᵀV)]^⅓",
		Paper:     "Kuang, Ding and Park, Symmetric nonnegative matrix factorization for graph clustering, SDM 2012; He, Xie, Zdunek, Zhou and Cichocki, Symmetric nonnegative matrix factorization: algorithms and applications to probabilistic clustering, IEEE Trans. Neural Networks 22(12), 2011"},
	{Name: "sparse-coding", Title: "Sparse coding", Family: "sparse coding", zero: SparseCoding{},
		Parts:     "Frobenius cost, atoms of unit length, L1 penalty on the codes",
		Objective: "‖X − BVᵀ‖² + λ·Σ|v_ij|, ‖b_j‖ ≤ 1",
		Update:    "V exactly; b_j ← b_j + (c_j − B·a_j)/a_jj, projected to ‖b_j‖ ≤ 1, A = VᵀV, C = XV",
		Paper:     "Lee, Battle, Raina and Ng, Efficient sparse coding algorithms, NIPS 2006"},
	{Name: "pca", Title: "Principal component analysis", Family: "linear embedding", zero: PCA{},
		Parts: "total scatter", Objective: "‖X̄ − PPᵀX̄‖² over PᵀP = I, X̄ = X less its mean",
		Update: "none: the leading singular vectors of X̄",
		Paper:  "Pearson, On lines and planes of closest fit to systems of points in space, Philosophical Magazine 2(11), 1901"},
	{Name: "lda", Title: "Linear discriminant analysis", Family: "linear embedding", zero: LDA{},
		Parts:     "scatter within classes and scatter of class means, after PCA",
		Objective: "tr(PᵀS_wP) relative to tr(PᵀS_bP)",
		Update:    "none: S_b·v = λ·S_w·v, the largest λ, at most c − 1",
		Paper:     "Belhumeur, Hespanha and Kriegman, Eigenfaces vs. Fisherfaces: recognition using class specific linear projection, IEEE TPAMI 19(7), 1997"},
	{Name: "mfa", Title: "Marginal Fisher analysis", Family: "linear embedding", zero: MFA{},
		Parts:     "graph within classes and graph between classes, after PCA",
		Objective: "tr(PᵀXLXᵀP) relative to tr(PᵀXL'XᵀP)",
		Update:    "none: XL'Xᵀ·v = λ·XLXᵀ·v, the largest λ",
		Paper:     "Yan, Xu, Zhang, Zhang, Yang and Lin, Graph embedding and extensions: a general framework for dimensionality reduction, IEEE TPAMI 29(1), 2007"},
	{Name: "sda", Title: "Semi-supervised discriminant analysis", Family: "linear embedding", zero: SDA{},
		Parts:     "total scatter with a graph over all samples, and scatter of class means",
		Objective: "tr(Pᵀ(S_t + αXLXᵀ + βI)P) relative to tr(PᵀS_bP)",
		Update:    "none: S_b·v = λ·(S_t + αXLXᵀ + βI)·v, the largest λ, at most c − 1",
		Paper:     "Cai, He and Han, Semi-supervised discriminant analysis, ICCV 2007"},
	{Name: "parts", Title: "Any combination of parts", Family: "combination", zero: Parts{},
		Parts:     "any cost, basis, kernel, tie, weighting and penalties",
		Objective: "cost(X, U·Vᵀ) + penalties(U, V)",
		Update:    "θ ← θ∘(negative part of the gradient)/(positive part)",
		Paper:     "none: the common engine of the methods above (docs/architecture.md)"},
}
