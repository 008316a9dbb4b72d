package logistic

import (
	"context"
	"math"

	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// remembered is the number of steps in the memory of L-BFGS.
const remembered = 10

// step holds the changes of the point and of the gradient, and 1/(point·gradient).
type step struct {
	point, gradient []float64
	scale           float64
}

// descend minimises l from x, in place, by L-BFGS (Nocedal 1980) with a weak Wolfe line search (Lewis and Overton 2013). It
// stops when no component of the gradient exceeds tolerance, when the line search fails, or after most iterations.
func descend(ctx context.Context, l *loss, x []float64, tolerance float64, most int) error {
	var steps []step
	gradient, value := append([]float64(nil), l.evaluate(x).gradient...), l.value
	direction, trial := make([]float64, len(x)), make([]float64, len(x))
	for iteration := 0; iteration < most && elementary.Largest(gradient) > tolerance; iteration++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		newton(direction, gradient, steps)
		slope := elementary.Dot(direction, gradient)
		length, low, high := 1.0, 0.0, math.Inf(1)
		if len(steps) == 0 {
			length = 1 / elementary.Norm(gradient)
		}
		const decrease, curvature, tries = 1e-4, 0.9, 60
		found := false
		for try := 0; try < tries && !found; try++ {
			add(trial, x, length, direction)
			switch l.evaluate(trial); {
			case !(l.value <= value+decrease*length*slope):
				high = length
			case elementary.Dot(l.gradient, direction) < curvature*slope:
				low = length
			default:
				found = true
				continue
			}
			if length = 2 * low; !math.IsInf(high, 1) {
				length = (low + high) / 2
			}
		}
		if !found {
			return nil
		}
		if len(steps) == remembered {
			steps = append(steps[:0], steps[1:]...)
		}
		s := step{make([]float64, len(x)), make([]float64, len(x)), 0}
		add(s.point, trial, -1, x)
		add(s.gradient, l.gradient, -1, gradient)
		s.scale = 1 / elementary.Dot(s.point, s.gradient)
		steps = append(steps, s)
		copy(x, trial)
		copy(gradient, l.gradient)
		value = l.value
	}
	return nil
}

// newton writes the search direction to d: minus the inverse Hessian approximation times the gradient.
func newton(d, gradient []float64, steps []step) {
	for i, g := range gradient {
		d[i] = -g
	}
	along := make([]float64, len(steps))
	for i := len(steps) - 1; i >= 0; i-- {
		along[i] = steps[i].scale * elementary.Dot(steps[i].point, d)
		add(d, d, -along[i], steps[i].gradient)
	}
	if len(steps) > 0 {
		last := steps[len(steps)-1]
		scale := 1 / (last.scale * elementary.Dot(last.gradient, last.gradient))
		for i := range d {
			d[i] *= scale
		}
	}
	for i, s := range steps {
		add(d, d, along[i]-s.scale*elementary.Dot(s.gradient, d), s.point)
	}
}

// add writes x + by·y to dst.
func add(dst, x []float64, by float64, y []float64) {
	for i, v := range x {
		dst[i] = v + float64(by*y[i])
	}
}
