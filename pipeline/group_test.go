package pipeline

import (
	"testing"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// TestSolverOfGroups: groups are found with the solver fast, until little changes, where
// it serves the method; what the method says, and what it needs, goes before.
func TestSolverOfGroups(t *testing.T) {
	in := newPlan(t, `{name: a, methods: [nmf]}`, testkit.CSV(t, 9, 10, 11)).Inputs
	for _, c := range []struct {
		method spec.Method
		stop   factor.Stop
	}{
		{spec.Method{Name: "nmf"}, factor.StopTolerance}, {spec.Method{Name: "nmf", Solver: "mu", Iterations: 5}, factor.StopIterations},
		{spec.Method{Name: "nmf", Solver: "fast", Iterations: 5}, factor.StopIterations}, {spec.Method{Name: "gnmf"}, factor.StopIterations},
	} {
		found, err := grouping.Groups{K: 3, Method: c.method}.Find(t.Context(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if found.Result.Stop != c.stop {
			t.Errorf("%v: ended by %s after %d iterations, want %s", c.method, found.Result.Stop, found.Result.Iterations(), c.stop)
		}
	}
}
