package factor

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// largestBeta bounds β, because powers of large values overflow.
const (
	defaultBeta = 0.5
	largestBeta = 4
)

// with returns the cost c, with β = exponent if it is CostBeta and with the threshold of CostHuber; an exponent of 0 means
// the default.
func (c Cost) with(exponent, threshold float64) costInfo {
	switch c {
	case CostBeta:
		return betaDivergence(costs[c].name, orDefault(exponent, defaultBeta))
	case CostHuber:
		return huberCost(threshold)
	}
	return costs[c]
}

// check returns an error unless exponent is 0, WeightNone or, with CostBeta, a β from 0 to largestBeta, and threshold is 0
// or, with CostHuber, a size of data.
func (c Cost) check(exponent, threshold float64) error {
	switch {
	case threshold != 0 && c != CostHuber:
		return fmt.Errorf("threshold is for cost %v; the cost is %v", CostHuber, c)
	case threshold != 0 && !(threshold >= view.SmallestValue && threshold <= view.LargestValue):
		return fmt.Errorf("threshold %v; expected %g to %g", threshold, view.SmallestValue, view.LargestValue)
	case exponent != 0 && c != CostBeta:
		return fmt.Errorf("exponent is for cost %v; the cost is %v", CostBeta, c)
	case exponent != WeightNone && !(exponent >= 0 && exponent <= largestBeta):
		return fmt.Errorf("exponent %v; expected a number from 0 to %v", exponent, largestBeta)
	}
	return nil
}

// samples returns d in dense storage, or an error if the cost does not support a value.
func (i costInfo) samples(d view.Data) (view.Dense, error) {
	dense := view.AsDense(d)
	if zero := view.Zero(dense); i.positive && zero != nil {
		return dense, &SampleError{Sample: zero.Sample, Problem: fmt.Sprintf("%s; the cost %q needs values above 0", zero.Problem, i.name)}
	}
	return dense, nil
}

// betaDivergence is the β-divergence for β from 0 to largestBeta, Σ (x^β + (β−1)·y^β − β·x·y^(β−1))/(β(β−1)), or its
// limit: Σ x/y − log(x/y) − 1 for β = 0, the KL divergence for β = 1. Multiplicative steps have the exponent γ(β), with
// which the divergence never rises (Févotte and Idier 2011).
func betaDivergence(name string, beta float64) costInfo {
	c := costInfo{name: name, degree: beta, positive: beta == 0, power: 1}
	switch {
	case beta < 1:
		c.power = 1 / (2 - beta)
	case beta > 2:
		c.power = 1 / (beta - 1)
	}
	powers := [3]func(float64) float64{powerOf(beta - 2), powerOf(beta - 1), powerOf(beta)}
	c.term = func(x, y float64) float64 {
		y = max(y, algebra.Floor)
		switch beta {
		case 0:
			return x/y - elementary.Log(x/y) - 1
		case 1:
			return view.DivergenceTerm(x, y)
		}
		return max((powers[2](x)+powers[1](y)*((beta-1)*y-beta*x))/(beta*(beta-1)), 0)
	}
	c.split = func(negative, y, x, w []float64) {
		for j, w := range w {
			at := max(y[j], algebra.Floor)
			by := w * powers[0](at)
			negative[j], y[j] = by*x[j], by*at
		}
	}
	c.new = func(x view.Data, u, v *mat.Dense) cost {
		return &weightedCost{costInfo: c, x: view.AsDense(x), u: u, v: v}
	}
	return c
}

// powerOf returns x^e for x ≥ 0. If 2e is an integer it multiplies, which is ten times as fast as elementary.Pow.
func powerOf(e float64) func(x float64) float64 {
	whole, part := math.Modf(math.Abs(e))
	if part != 0 && part != 0.5 {
		return func(x float64) float64 { return elementary.Pow(x, e) }
	}
	return func(x float64) float64 {
		power := 1.0
		if part != 0 {
			power = math.Sqrt(x)
		}
		for range int(whole) {
			power *= x
		}
		if e < 0 {
			return 1 / power
		}
		return power
	}
}
