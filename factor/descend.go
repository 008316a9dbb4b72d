package factor

import (
	"context"
	"fmt"
	"math"
	"time"
)

// descend repeats step, which returns the objective that it leaves where that is wanted,
// until opt's iterations, tolerance or time end it. The history begins with first.
func descend(ctx context.Context, opt Options, first float64, step func(wanted bool) (float64, error)) (history []float64, stop Stop, err error) {
	begin := time.Now()
	iterations := opt.Iterations
	if iterations == 0 {
		iterations = DefaultIterations
	}
	if !finiteNumber(first) {
		return nil, "", fmt.Errorf("the objective is %v at the initial factors, beyond what numbers can hold", first)
	}
	history = []float64{first}
	for t := 1; t <= iterations; t++ {
		if err := ctx.Err(); err != nil {
			return nil, "", fmt.Errorf("stopped at iteration %d: %w", t, err)
		}
		wanted := t == iterations || opt.wants(t)
		now, err := step(wanted)
		if err != nil {
			return nil, "", fmt.Errorf("iteration %d: %w", t, err)
		}
		if !wanted {
			history = append(history, math.NaN())
			continue
		}
		if !finiteNumber(now) {
			return nil, "", fmt.Errorf("the objective is %v after %d iterations: the factors have outgrown what numbers can hold", now, t)
		}
		before := history[t-1]
		history = append(history, now)
		if opt.OnIteration != nil {
			opt.OnIteration(t, now)
		}
		if opt.Tolerance > 0 && before-now <= opt.Tolerance*math.Abs(before) {
			return history, StopTolerance, nil
		}
		if opt.MaxTime > 0 && time.Since(begin) >= opt.MaxTime && t < iterations {
			return history, StopTime, nil
		}
	}
	return history, StopIterations, nil
}

func finiteNumber(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
