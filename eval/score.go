package eval

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// Task is the kind of an experiment.
type Task int

const (
	Clustering     Task = iota // clusters samples and compares the clusters with classes
	Classification             // predicts the classes of test samples
)

var tasks = enum.Of[Task]("task", "cluster", "classify")

// String returns the name of the task in settings.
func (t Task) String() string                   { return tasks.String(t) }
func (t *Task) UnmarshalText(name []byte) error { return tasks.UnmarshalText(t, name) }
func (Task) Values() []string                   { return tasks.Values() }

// Unit is the unit of a score.
type Unit string

const (
	UnitPercent Unit = "%"    // a fraction of 1, which reports show in percent
	UnitNats    Unit = "nats" // information, with the natural logarithm
	UnitNone    Unit = ""     // a plain number
)

// Prominence is the place of a score in reports.
type Prominence int

const (
	Minor    Prominence = iota // shown last
	Major                      // shown first
	Headline                   // shown first, and printed when an experiment ends
)

// Score describes a measure of quality of a trial.
type Score struct {
	Name, Title, Help string // name in result files, full name, and explanation
	// Min and Max are the bounds of values; they may be infinite.
	Min, Max      float64
	LowerIsBetter bool       // the score is a cost
	Unit          Unit       // the unit of values
	Task          Task       // the kind of trial that has the score
	Prominence    Prominence // the place in reports
	Optional      bool       // computed on request only
	// Unlabelled restricts the score to unlabelled samples; its name then ends in UnlabelledSuffix.
	Unlabelled bool
	OfSamples  bool // can be restricted to some of the samples, such as the unlabelled ones
	// Value computes the score. It returns false if the score does not apply to the outcome.
	Value func(*Outcome) (float64, bool, error)
}

// Outcome is the result of a trial together with the true classes.
type Outcome struct {
	// Found holds the clusters of n samples, or the predicted classes of n test samples; Truth holds their classes.
	Found, Truth []int
	// Labels holds the given label of each of the n samples of a clustering, or −1. It may be nil.
	Labels []int
	// Coefficients, n×k, and Basis, m×k, are the factors, or nil. Classes holds the classes of their n samples.
	Coefficients, Basis *mat.Dense
	Classes             []int
	// Stability is the agreement of the restarts of a factorisation, or nil.
	Stability *cluster.Stability

	counts *contingency
}

// UnlabelledSuffix ends the names of scores restricted to unlabelled samples.
const UnlabelledSuffix = " free"

// OverUnlabelled returns the score restricted to unlabelled samples.
func (s Score) OverUnlabelled() Score {
	s.Name, s.Title, s.Unlabelled = s.Name+UnlabelledSuffix, s.Title+" of the unlabelled samples", true
	s.Help = strings.TrimSpace(s.Help + " Only unlabelled samples count.")
	return s
}

// Holds reports whether v is within the bounds of the score.
func (s Score) Holds(v float64) bool { return !math.IsInf(v, 0) && s.Min <= v && v <= s.Max }

// tolerance is the largest difference, relative to the larger value or 1, of values that count as equal.
const tolerance = 1e-12

// Better reports whether a is better than b by more than rounding error.
func (s Score) Better(a, b float64) bool {
	if s.LowerIsBetter {
		a, b = b, a
	}
	return a > b+tolerance*max(1, math.Abs(a), math.Abs(b))
}

// Register adds a score to the registry, after the others, so that experiments can select it by name. Call it from an
// init function. It panics if the name is taken.
func Register(s Score) {
	if _, taken := FindScore(s.Name); taken || s.Name == "" || s.Value == nil {
		panic(fmt.Sprintf("eval: the score %q is already registered, or has no name or no value", s.Name))
	}
	scores = append(scores, s)
}

// Scores returns all registered scores in display order.
func Scores() []Score { return slices.Clone(scores) }

// MainScore returns the main score of a task: the first registered one.
func MainScore(task Task) Score {
	return scores[slices.IndexFunc(scores, func(s Score) bool { return s.Task == task })]
}

// allScores returns all scores, including those restricted to unlabelled samples, in display order.
func allScores() (all []Score) {
	for _, s := range scores {
		if all = append(all, s); s.OfSamples {
			all = append(all, s.OverUnlabelled())
		}
	}
	return all
}

// FindScore returns the score with this name. For an unknown name it returns a score without bounds, and false.
func FindScore(name string) (s Score, known bool) {
	for _, s := range allScores() {
		if s.Name == name {
			return s, true
		}
	}
	base, unlabelled := strings.CutSuffix(name, UnlabelledSuffix)
	if s = (Score{Name: base, Title: base, Min: math.Inf(-1), Max: math.Inf(1)}); unlabelled {
		s = s.OverUnlabelled()
	}
	return s, false
}

// CompareScores compares names in display order: registered scores, then unknown ones by name, then
// scores of unlabelled samples.
func CompareScores(a, b string) int {
	all := allScores()
	place := func(name string) int {
		at := slices.IndexFunc(all, func(s Score) bool { return s.Name == name })
		switch {
		case at >= 0:
			return at
		case strings.HasSuffix(name, UnlabelledSuffix):
			return len(all) + 1
		}
		return len(all)
	}
	return cmp.Or(place(a)-place(b), strings.Compare(a, b))
}

// CheckScores returns an error for the first name that is not a score of the task. It corrects the case of names.
func CheckScores(task Task, names []string) error {
	ofTask := slices.DeleteFunc(Scores(), func(s Score) bool { return s.Task != task })
	there := lists.Map(ofTask, func(s Score) string { return s.Name })
	for i, name := range names {
		name = enum.Fold(name, there)
		switch names[i] = name; {
		case !slices.Contains(there, name):
			return fmt.Errorf("unknown score %q of this task%s", name, phrase.Choices(name, there))
		case slices.Contains(names[:i], name):
			return fmt.Errorf("duplicate score %s", name)
		}
	}
	return nil
}

// Compute returns the scores of an outcome by name: all scores of the task, optional ones only if named. If some samples
// are labelled and others not, it adds the scores restricted to unlabelled samples.
func Compute(task Task, o Outcome, optional ...string) (map[string]float64, error) {
	out := map[string]float64{}
	rest := o.unlabelled()
	for _, s := range allScores() {
		of := &o
		if s.Unlabelled {
			of = &rest
		}
		if s.Task != task || s.Unlabelled && (len(rest.Found) == 0 || len(rest.Found) == len(o.Found)) ||
			s.Optional && !slices.Contains(optional, strings.TrimSuffix(s.Name, UnlabelledSuffix)) {
			continue
		}
		v, ok, err := s.Value(of)
		if err != nil {
			return nil, err
		}
		if ok {
			out[s.Name] = v
		}
	}
	return out, nil
}

// OnlyUnlabelled deletes all scores except those restricted to unlabelled samples.
func OnlyUnlabelled(scores map[string]float64) {
	maps.DeleteFunc(scores, func(name string, _ float64) bool { return !strings.HasSuffix(name, UnlabelledSuffix) })
}

// unlabelled returns the outcome restricted to unlabelled samples.
func (o *Outcome) unlabelled() Outcome {
	rows := lists.Indices(o.Labels, func(label int) bool { return label < 0 })
	return Outcome{Truth: matrix.Take(o.Truth, rows), Found: matrix.Take(o.Found, rows)}
}
