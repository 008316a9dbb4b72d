package pipeline

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// ownMethod is a library user's method, which brings a solver of its own.
type ownMethod struct {
	Sweeps int `setting:"sweeps" default:"1" help:"how often"`
}

func (m ownMethod) Fit(ctx context.Context, x mat.Matrix, known factor.Known, opt factor.Options) (*factor.Result, error) {
	opt.Solver = ownSolver{}
	return factor.NMF{}.Fit(ctx, x, known, opt)
}

type ownSolver struct{ factor.Multiplicative }

type ownPenalty struct{ factor.L1 }

// TestRegistered: a method, a solver, a penalty and a score that a program registers are usable in
// an experiment by their names.
func TestRegistered(t *testing.T) {
	factor.Register(factor.Info{Name: "own-method", Title: "Own", Family: "NMF"}, ownMethod{})
	factor.RegisterSolver(factor.SolverInfo{Name: "own-solver", Title: "Own", Solver: ownSolver{}})
	factor.RegisterPenalty(factor.PenaltyInfo{Name: "own-penalty", Title: "Own"}, ownPenalty{})
	eval.Register(eval.Score{Name: "own-score", Title: "Own", Task: eval.Clustering, Max: 1, Optional: true, Value: func(o *eval.Outcome) (float64, bool, error) {
		return eval.Accuracy(o.Truth, o.Found), true, nil
	}})
	text := `{name: x, scores: [own-score], methods: [{name: own-method, sweeps: 2}, {name: nmf, solver: own-solver}, {name: parts, penalty: own-penalty}], classes: 2, repeats: 1}`
	records, err := newPlan(t, text, testkit.CSV(t, 12, 10, 11)).Run(t.Context(), nil, RunOptions{})
	if err != nil || len(records) != 3 {
		t.Fatalf("%d records, error %v", len(records), err)
	}
	if _, ok := records[0].Scores["own-score"]; !ok {
		t.Errorf("scores %v", records[0].Scores)
	}
	defer func() {
		if recover() == nil {
			t.Error("a name is registered twice")
		}
	}()
	factor.Register(factor.Info{Name: "nmf"}, ownMethod{})
}
