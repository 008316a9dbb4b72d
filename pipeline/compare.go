package pipeline

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Difference is a setting that two experiments have otherwise, in words. It is empty
// where one has no such setting.
type Difference struct{ Setting, A, B string }

// drawSettings are the settings that the draws of samples depend on.
var drawSettings = []string{"task", "data", "to train", "to test", "seed"}

// byName returns the values of settings by their names.
func byName(settings [][2]string) map[string]string {
	out := map[string]string{}
	for _, s := range settings {
		out[s[0]] = s[1]
	}
	return out
}

// Compare returns how the settings of two experiments differ that all of their trials share. It is an error
// if they do not draw the same samples: where their task, data, training and test samples or seed differ, or
// the data were changed in between.
func (s *Summary) Compare(other *Summary) ([]Difference, error) {
	for _, s := range []*Summary{s, other} {
		if s.Shared == nil {
			return nil, fmt.Errorf("the results of %s are of an earlier version, which did not keep what data they are of: run it again", s.Name)
		}
	}
	a, b := byName(s.Shared), byName(other.Shared)
	var all []Difference
	var drawn []string
	seen := map[string]bool{}
	for _, setting := range slices.Concat(s.Shared, other.Shared) {
		name := setting[0]
		d := Difference{name, a[name], b[name]}
		switch {
		case seen[name], d.A == d.B, name == "data" && sameData(d.A, d.B):
		case slices.Contains(drawSettings, name):
			drawn = append(drawn, fmt.Sprintf("%s: %s and %s", name, cmp.Or(d.A, "none"), cmp.Or(d.B, "none")))
		default:
			all = append(all, d)
		}
		seen[name] = true
	}
	if drawn == nil && !slices.Equal(s.Classes, other.Classes) {
		drawn = append(drawn, "the classes have other names")
	}
	if drawn == nil && s.Population != other.Population && s.Population != "" && other.Population != "" {
		drawn = append(drawn, "the data held other samples, or in other classes, when they were run")
	}
	if drawn != nil {
		return nil, fmt.Errorf("they do not draw the same samples (%s)", strings.Join(drawn, "; "))
	}
	return all, nil
}

// CheckSame returns an error that says how e differs from the experiment of the summary in what all of its
// trials share. A summary of an earlier version, which does not say that, passes where the settings that it
// shows are the same.
func (s *Summary) CheckSame(e *spec.Experiment) error {
	early := s.Shared == nil
	there := s.Shared
	if early {
		there = s.Settings
	}
	was := byName(there)
	var old, now []string
	for _, setting := range e.Shared() {
		name, value := setting[0], setting[1]
		before, known := was[name]
		if before == value || early && (!known || name == "data") || name == "data" && sameData(before, value) {
			continue
		}
		old, now = append(old, name+": "+before), append(now, name+": "+value)
	}
	if old == nil {
		return nil
	}
	return fmt.Errorf("holds the results of the experiment %s with %s, and the experiment %s has %s: give it a name or a folder of its own",
		s.Name, strings.Join(old, "; "), e.Name, strings.Join(now, "; "))
}

// sameData tells whether two descriptions of data name the same path in other words, as ./photos and photos.
func sameData(a, b string) bool {
	setA, restA, _ := strings.Cut(a, ", ")
	setB, restB, _ := strings.Cut(b, ", ")
	if restA != restB {
		return false
	}
	infoA, errA := os.Stat(setA)
	infoB, errB := os.Stat(setB)
	return a == b || errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// SameTrials tells whether two summaries are of the same trials and show them alike.
func (s *Summary) SameTrials(other *Summary) bool {
	return s.Name == other.Name && slices.Equal(s.Trials, other.Trials) && slices.Equal(s.Settings, other.Settings) &&
		slices.Equal(s.Methods, other.Methods) && slices.Equal(s.Shared, other.Shared)
}
