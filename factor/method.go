package factor

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// Method finds a low-dimensional representation of samples. The methods are
// small structs of hyper-parameters whose zero values mean the defaults of the
// papers that propose them.
type Method interface {
	// Fit represents the rows of x, n×m, dense or a *CSR, by n×k
	// coefficients, k = opt.Rank. What is known about the samples is used by
	// the methods that can. Fit changes neither x nor what known refers to.
	Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error)
}

// Options say how a method runs; its zero value needs only a Rank.
type Options struct {
	// Rank is k, the number of basis vectors, from 1 to n.
	Rank int
	// Iterations bounds the iterations; 0 means DefaultIterations.
	Iterations int
	// Tolerance stops the run when an iteration lowers the objective by less
	// than this share of it; 0 means never.
	Tolerance float64
	// MaxTime stops the run, keeping what it has, after so long; 0 means
	// never. A run so stopped is not repeatable.
	MaxTime time.Duration
	// Init says how the factors start.
	Init Init
	// Start holds initial factors, which go before Init where they are given.
	Start *Start
	// Solver lowers the objective of methods made of parts; nil means Fast where
	// that serves, and elsewhere Multiplicative, which is the papers'.
	Solver Solver
	// Seed makes random initial factors repeatable.
	Seed uint64
	// KeepScale leaves the factors as the last iteration left them, without
	// the rescaling on exit that fixes which of the equivalent pairs of
	// factors is returned.
	KeepScale bool
	// OnIteration, if set, is called after every iteration.
	OnIteration func(iteration int, objective float64)
	// Trace, if set, says after which iterations the objective is wanted, beside the last
	// one. It is computed after each where Tolerance, MaxTime or OnIteration take it.
	Trace func(iteration int) bool
}

// wants tells whether the objective is wanted after an iteration.
func (o Options) wants(iteration int) bool {
	return o.Trace == nil || o.Tolerance > 0 || o.MaxTime > 0 || o.OnIteration != nil || o.Trace(iteration)
}

// DefaultIterations is how many iterations there are unless Options say.
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

// newOwnRuleData returns the data of a method that is not made of parts, with what is
// known of them and the options checked.
func newOwnRuleData(x mat.Matrix, known Known, opt Options) (view.Data, error) {
	d, err := view.New(x)
	if err != nil {
		return nil, err
	}
	n, _ := d.Dims()
	return d, cmp.Or(known.Check(n), opt.checkOwnRule(n))
}

// checkOwnRule is check for methods that are not made of parts.
func (o Options) checkOwnRule(n int) error {
	if o.Solver != nil {
		return errOwnRule
	}
	return o.check(n)
}
