package factor

import "gonum.org/v1/gonum/mat"

// Result is what a method found.
type Result struct {
	// Model represents new samples. It is nil where a method factorises
	// similarities of the samples and knows nothing of features.
	Model Model
	// Basis holds as columns what the coefficients are of: basis vectors, U,
	// m×k, or the directions or atoms that take their place. It is nil where
	// there are none among the features: where the model is, and of a
	// [KernelModel].
	Basis *mat.Dense
	// Coefficients represents sample i by its row i of k numbers: V, n×k.
	Coefficients *mat.Dense
	// Weights is W, n×k, where the basis is U = X·W, and nil elsewhere.
	Weights *mat.Dense
	// Association is S, k×k, where similarities are factorised as V·S·Vᵀ, and
	// nil elsewhere.
	Association *mat.Dense
	// Objective holds the objective at the initial factors and after each
	// iteration, before the rescaling on exit; nil where nothing is iterated, and NaN after
	// iterations that Options.Trace leaves out. Where
	// a method promises that it never rises, an entry J is at most
	//
	//	(√J₀ + 1e-14·√P)² + 1e-12·J₀ + 1e-13·S
	//
	// after the entry J₀: what double precision can tell apart. S is the size of
	// the data that the fit is a difference from: ‖X‖², Σx under the divergence,
	// the trace of a kernel, each with the weights of the samples and of the fit,
	// and ‖Ã‖² of similarities; where K has negative values, K = K⁺ − K⁻, also
	// tr(Wᵀ(K⁺ + K⁻)W·VᵀV), which is large only where the initial factors are. P is
	// the size of the differences that a graph penalises, λ·n·‖V‖², for a learned
	// graph βnc more, and λ·m·‖U‖² for smooth basis images, and 0 without these.
	// Beyond that it can rise where [L1] shrinks coefficients below 1e-150, which are
	// then set to 0.
	Objective []float64
	// Penalty is the penalties' part of each entry of Objective, whose rest is
	// the fit; nil where there are none.
	Penalty []float64
	// Stop says why the iterations ended; empty where there are none.
	Stop Stop
}

// Iterations returns how many iterations there were.
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
