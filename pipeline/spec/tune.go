package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// The rules of a choice of settings, in words.
var tuneRules = map[string]string{
	TuneHeldOut:   "the error of held-out entries",
	TuneStability: "the stability of restarts",
	TuneLabelled:  "cross-validation on labelled samples",
}

const (
	TuneHeldOut   = "held-out"
	TuneStability = "stability"
	TuneLabelled  = "labelled"
)

// Tune chooses settings of a method in each draw, without the classes of unlabelled and test samples. In a file it is
// {lambda: [1, 10, 100], by: labelled}.
type Tune struct {
	By string `json:"by" setting:"by" values:"held-out,stability,labelled" help:"criterion: error of held-out entries, stability of the clusters of restarts, or accuracy of cross-validation on labelled samples"`
	// Candidates are the method with each combination of the listed values.
	Candidates Methods `json:"candidates"`
}

// Folds is the largest number of folds of the rule labelled, and the number of fits of the others.
const Folds = 5

// Tuned is the choice of a draw.
type Tuned struct {
	By     string            `json:"by"`
	Values map[string]string `json:"values"` // the chosen values of the settings
	Scores []float64         `json:"scores"` // of the combinations in order: a misfit, correlation or accuracy
}

// Rule describes the rule in words.
func (t *Tuned) Rule() string { return tuneRules[t.By] }

// String describes the chosen values, such as init=nmf lambda=10.
func (t *Tuned) String() string {
	words := lists.Map(slices.Sorted(maps.Keys(t.Values)), func(name string) string { return name + "=" + t.Values[name] })
	return strings.Join(words, " ")
}

// decodeTuned reads a method with the key tune.
func (m *Method) decodeTuned(v *settings.Value, tune settings.Field) error {
	if tune.Value.Kind != settings.KindMapping {
		return tune.Value.Want("lists of values and a criterion, such as {lambda: [1, 10, 100], by: labelled}")
	}
	by, lists := tune.Value.Split([]string{"by"})
	rule := Tune{}
	if len(by.Fields) == 0 || len(lists.Fields) == 0 {
		return tune.Value.Want("lists of values, and by: held-out, stability or labelled")
	}
	if err := settings.Decode(by, &rule); err != nil {
		return err
	}
	all := *v
	_, rest := v.Split([]string{"tune"})
	all.Fields = append(rest.Fields, lists.Fields...)
	for _, f := range lists.Fields {
		switch {
		case f.Value.Kind != settings.KindList:
			return f.Value.Want("a list of values")
		case rest.Get(f.Key.Text).Value != nil || f.Key.Text == "tune":
			return f.Key.Errorf("%s is already set", f.Key.Text)
		}
	}
	if err := rule.Candidates.addMethod(&all); err != nil {
		return err
	}
	for _, c := range rule.Candidates {
		if err := c.servesRule(rule.By); err != nil {
			return by.Fields[0].Value.Errorf("by %s: %v", rule.By, err)
		}
	}
	*m = rule.Candidates[0]
	m.Swept, m.Tune = nil, &rule
	return nil
}

// servesRule returns an error if the method cannot be rated by the rule.
func (m Method) servesRule(by string) error {
	method, err := m.Build()
	if err != nil {
		return err
	}
	switch by {
	case TuneStability:
		m.Restarts = max(m.Restarts, 2)
		return m.checkRestarts(func(string) settings.Field { return settings.Field{Value: &settings.Value{}} })
	case TuneHeldOut:
		if method, err = factor.ForWeights(method, true); err != nil {
			return fmt.Errorf("%s supports no missing values: %w", m.Label(), err)
		}
		if s := m.Solver.Solver(); s != nil {
			return factor.Serves(s, method)
		}
	}
	return nil
}
