package spec

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Methods are the methods of an experiment. An entry of a file whose settings are lists is a sweep: {name: gnmf,
// lambda: [1, 10, 100]} stands for one method with each combination of the values.
type Methods []Method

// DecodeSetting reads a list of methods.
func (m *Methods) DecodeSetting(v *settings.Value) (err error) {
	defer guard.Catch(&err)
	*m = nil
	failIf(v.Kind != settings.KindList, v.Want, "a list of methods")
	for _, one := range v.Items {
		guard.Check(m.addMethod(one))
	}
	return nil
}

// Setting is one value of a swept setting, as written in the file.
type Setting struct{ Name, Value string }

// Sweep is the methods that one entry of an experiment file stands for.
type Sweep struct {
	// Name is their common name, and Settings are the settings in which they differ.
	Name     string   `json:"name"`
	Settings []string `json:"settings"`
	// Methods are the labels. Values[i] holds the values of Settings in method i, as written in the file.
	Methods []string   `json:"methods"`
	Values  [][]string `json:"values"`
}

// Sweeps returns the sweeps among the methods.
func (m Methods) Sweeps() []Sweep {
	var out []Sweep
	for _, method := range m {
		if len(method.Swept) == 0 {
			continue
		}
		var settings, values []string
		for _, s := range method.Swept {
			settings, values = append(settings, s.Name), append(values, s.Value)
		}
		at := slices.IndexFunc(out, func(s Sweep) bool { return s.Name == method.title() && slices.Equal(s.Settings, settings) })
		if at < 0 {
			at = len(out)
			out = append(out, Sweep{Name: method.title(), Settings: settings})
		}
		out[at].Methods = append(out[at].Methods, method.Label())
		out[at].Values = append(out[at].Values, values)
	}
	return out
}

// String describes the values in words.
func (s Sweep) String() string {
	words := make([]string, len(s.Settings))
	for i, name := range s.Settings {
		values := lists.Unique(lists.Map(s.Values, func(v []string) string { return v[i] }))
		words[i] = name + " " + strings.Join(values, ", ")
	}
	return strings.Join(words, " and ")
}

// SettingText returns the name and settings of a method. The first method of a sweep describes the whole sweep; ok is
// false for its others.
func (m Method) SettingText(sweeps []Sweep) (words [2]string, ok bool) {
	for _, s := range sweeps {
		switch slices.Index(s.Methods, m.Label()) {
		case -1:
		case 0:
			return [2]string{s.Name, m.describe(s.Settings) + ", with " + s.String()}, true
		default:
			return words, false
		}
	}
	return [2]string{m.Label(), m.String()}, true
}

const maxMethods = 10_000

func (m *Methods) addMethod(v *settings.Value) (err error) {
	defer guard.Catch(&err)
	var swept []int // fields with lists
	total := 1
	for i, f := range v.Fields {
		if f.Value.Kind != settings.KindList {
			continue
		}
		guard.Check(checkSwept(f))
		swept = append(swept, i)
		if total *= len(f.Value.Items); total > maxMethods {
			return f.Value.Errorf("the lists of values combine to more than %d methods", maxMethods)
		}
	}
	if len(*m)+total > maxMethods {
		return v.Errorf("more than %d methods", maxMethods)
	}
	for number := range total {
		chosen := *v
		chosen.Fields = slices.Clone(v.Fields)
		var values []Setting
		for _, i := range slices.Backward(swept) { // the last setting changes fastest
			f := &chosen.Fields[i]
			items := f.Value.Items
			f.Value = items[number%len(items)]
			number /= len(items)
			values = append(values, Setting{f.Key.Text, f.Value.Text})
		}
		slices.Reverse(values)
		var one Method
		guard.Check(one.DecodeSetting(&chosen))
		one.Swept = values
		*m = append(*m, one)
	}
	return nil
}

// checkSwept returns an error for a field that is not a list of different values.
func checkSwept(f settings.Field) (err error) {
	defer guard.Catch(&err)
	name, list := f.Key.Text, f.Value
	failIf(name == "name" || name == "as", list.Errorf, "expected a single name; only other settings can be lists")
	failIf(len(list.Items) == 0, list.Errorf, "%s has no values", name)
	seen := map[any]bool{}
	for _, v := range list.Items {
		failIf(v.Kind != settings.KindText, v.Errorf, "%s: expected a list of single values", name)
		var value any = v.Text
		if x, err := strconv.ParseFloat(v.Text, 64); err == nil {
			value = x
		}
		failIf(seen[value], v.Errorf, "%s: duplicate value %s", name, v.Text)
		seen[value] = true
	}
	return nil
}

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

func (m *Method) decodeTuned(v *settings.Value, tune settings.Field) (err error) {
	defer guard.Catch(&err)
	failIf(tune.Value.Kind != settings.KindMapping,
		tune.Value.Want, "lists of values and a criterion, such as {lambda: [1, 10, 100], by: labelled}")
	by, lists := tune.Value.Split([]string{"by"})
	rule := Tune{}
	failIf(len(by.Fields) == 0 || len(lists.Fields) == 0,
		tune.Value.Want, "lists of values, and by: held-out, stability or labelled")
	guard.Check(settings.Decode(by, &rule))
	all := *v
	_, rest := v.Split([]string{"tune"})
	all.Fields = append(rest.Fields, lists.Fields...)
	for _, f := range lists.Fields {
		failIf(f.Value.Kind != settings.KindList, f.Value.Want, "a list of values")
		failIf(rest.Get(f.Key.Text).Value != nil || f.Key.Text == "tune", f.Key.Errorf, "%s is already set", f.Key.Text)
	}
	guard.Check(rule.Candidates.addMethod(&all))
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
