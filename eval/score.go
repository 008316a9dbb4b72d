package eval

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// Task is the task of an experiment.
type Task int

const (
	Clustering     Task = iota // groups are compared with the classes
	Classification             // finds the classes of test samples
)

var tasks = enum.Of[Task]("task", "cluster", "classify")

// The names that settings use.
func (t Task) String() string                   { return tasks.String(t) }
func (t *Task) UnmarshalText(name []byte) error { return tasks.UnmarshalText(t, name) }
func (Task) Values() []string                   { return tasks.Values() }

// Unit is the unit of a score.
type Unit string

const (
	UnitPercent Unit = "%"    // of shares, of at most 1, which reports show in percent
	UnitNats    Unit = "nats" // of information, by the natural logarithm
	UnitNone    Unit = ""     // of plain numbers
)

// Prominence says where a score is shown.
type Prominence int

const (
	Minor    Prominence = iota // after the others
	Major                      // first
	Headline                   // also printed when an experiment ends
)

// Score describes a measure of the outcome of a trial.
type Score struct {
	Name, Title, Help string // its name in records; Title and Help are for readers
	// Min and Max bound its values; they may be infinite.
	Min, Max      float64
	LowerIsBetter bool
	Unit          Unit
	Task          Task
	Prominence    Prominence
	Optional      bool // scores are computed on request
	// Unlabelled scores cover only the unlabelled samples; their names end in UnlabelledSuffix.
	Unlabelled bool
	OfSamples  bool // it can cover a part of the samples
	// Value computes it; false if the outcome has no such score.
	Value func(*Outcome) (float64, bool, error)
}

// Outcome is the result of a trial, with the truth.
type Outcome struct {
	// Found are the clusters of n samples, or the predicted classes of n test samples, Truth their classes.
	Found, Truth []int
	// Labels are the classes of the n samples of a clustering that the method knew, or −1. They may be nil.
	Labels []int
	// Coefficients (n×k) and Basis (m×k) are the factors, or nil, and Classes those of their n samples.
	Coefficients, Basis *mat.Dense
	Classes             []int

	counts *contingency
}

// UnlabelledSuffix is the end of the names of scores over the unlabelled samples.
const UnlabelledSuffix = " free"

// OverUnlabelled returns the score over the unlabelled samples.
func (s Score) OverUnlabelled() Score {
	s.Name, s.Title, s.Unlabelled = s.Name+UnlabelledSuffix, s.Title+" of the unlabelled samples", true
	s.Help = strings.TrimSpace(s.Help + " Only unlabelled samples count.")
	return s
}

// Holds reports whether the score can have the value.
func (s Score) Holds(v float64) bool { return !math.IsInf(v, 0) && s.Min <= v && v <= s.Max }

// equal is the difference, relative to 1 or to the larger value, up to which values count as equal.
const equal = 1e-12

// Better reports whether a is better than b by more than rounding.
func (s Score) Better(a, b float64) bool {
	if s.LowerIsBetter {
		a, b = b, a
	}
	return a > b+equal*max(1, math.Abs(a), math.Abs(b))
}

// Register adds a score of the program's own, behind the others. Experiments find it by its name. Call it
// from an init function. It panics if the name is taken.
func Register(s Score) {
	if _, taken := FindScore(s.Name); taken || s.Name == "" || s.Value == nil {
		panic(fmt.Sprintf("eval: the score %q is already registered, or has no name or no value", s.Name))
	}
	scores = append(scores, s)
}

// Scores returns all scores, in the order of display.
func Scores() []Score { return slices.Clone(scores) }

// MainScore returns the score that a task is judged by: the first in the list.
func MainScore(task Task) Score {
	return scores[slices.IndexFunc(scores, func(s Score) bool { return s.Task == task })]
}

// listed returns all scores with those over the unlabelled samples, in the order of display.
func listed() (all []Score) {
	for _, s := range scores {
		if all = append(all, s); s.OfSamples {
			all = append(all, s.OverUnlabelled())
		}
	}
	return all
}

// FindScore returns the score of this name in records. An unknown one has its name alone and any finite value.
func FindScore(name string) (s Score, known bool) {
	for _, s := range listed() {
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

// CompareScores orders names for display: the list, then others by name, over all samples before unlabelled ones.
func CompareScores(a, b string) int {
	all := listed()
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

// CheckScores returns an error for the first name that is no score of the task. It corrects the case of names.
func CheckScores(task Task, names []string) error {
	var there []string
	for _, s := range scores {
		if s.Task == task {
			there = append(there, s.Name)
		}
	}
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

// Compute returns the scores of an outcome by name: those of the task that are not optional, and the optional
// ones named. If some samples are labelled and some are not, it adds the scores over the unlabelled ones.
func Compute(task Task, o Outcome, optional ...string) (map[string]float64, error) {
	out := map[string]float64{}
	rest := o.unlabelled()
	for _, s := range listed() {
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

// OnlyUnlabelled leaves only the scores over the unlabelled samples.
func OnlyUnlabelled(scores map[string]float64) {
	maps.DeleteFunc(scores, func(name string, _ float64) bool { return !strings.HasSuffix(name, UnlabelledSuffix) })
}

// unlabelled returns the outcome of the samples whose label was not given.
func (o *Outcome) unlabelled() Outcome {
	var rest Outcome
	for i, label := range o.Labels {
		if label < 0 {
			rest.Truth, rest.Found = append(rest.Truth, o.Truth[i]), append(rest.Found, o.Found[i])
		}
	}
	return rest
}
