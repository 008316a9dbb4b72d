package factor

import "gonum.org/v1/gonum/mat"

// Result is what a method found.
type Result struct {
	// Model holds the basis.
	Model
	// Coefficients represents sample i by its row i of k numbers: V, n×k.
	Coefficients *mat.Dense
	// Weights is W, n×k, where the basis is U = X·W, and nil elsewhere.
	Weights *mat.Dense
	// Objective holds the objective at the initial factors and after each
	// iteration, before the rescaling on exit.
	Objective []float64
	// Stop says why the iterations ended.
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
