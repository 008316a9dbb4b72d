package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Difference is a setting that two experiments have otherwise, in words. It is empty
// where one has no such setting.
type Difference struct{ Setting, A, B string }

// drawSettings are the settings that the draws of samples depend on.
var drawSettings = []string{"task", "data", "to train", "to test", "seed"}

// Compare returns how the settings of two experiments differ that all of their
// trials share. It is an error if they do not draw the same samples: where their task,
// data, training and test samples or seed differ, or the data were changed in between.
func (s *Summary) Compare(other *Summary) ([]Difference, error) {
	values := func(s *Summary) map[string]string {
		out := map[string]string{}
		for _, setting := range s.Shared {
			out[setting[0]] = setting[1]
		}
		return out
	}
	for _, s := range []*Summary{s, other} {
		if s.Shared == nil {
			return nil, fmt.Errorf("the results of %s are of an earlier version, which did not keep what data they are of: run it again", s.Name)
		}
	}
	a, b := values(s), values(other)
	var names []string
	for _, setting := range append(slices.Clone(s.Shared), other.Shared...) {
		if !slices.Contains(names, setting[0]) {
			names = append(names, setting[0])
		}
	}
	var all []Difference
	var drawn []string
	for _, name := range names {
		d := Difference{name, a[name], b[name]}
		switch {
		case d.A == d.B, name == "data" && sameData(d.A, d.B):
		case slices.Contains(drawSettings, name):
			drawn = append(drawn, fmt.Sprintf("%s: %s and %s", name, cmp.Or(d.A, "none"), cmp.Or(d.B, "none")))
		default:
			all = append(all, d)
		}
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
