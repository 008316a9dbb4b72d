package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Summary is what a report needs to know of an experiment beside its log.
type Summary struct {
	Name    string `json:"name"`
	Command string `json:"command"` // the command line that runs it again
	// Program is the version of the program; "" in summaries of earlier versions.
	Program  string      `json:"program,omitempty"`
	Settings [][2]string `json:"settings"`           // names and values, in words
	Warnings []string    `json:"warnings,omitempty"` // Warnings say what was left out of the data
	// Shared are the settings that all trials share, in words. They tell one experiment from another.
	Shared [][2]string `json:"shared,omitempty"`
	// Methods are the methods' labels, in the order of the experiment, and
	// Sweeps say which of them are one method with several settings.
	Methods []string     `json:"methods"`
	Sweeps  []spec.Sweep `json:"sweeps,omitempty"`
	Classes []string     `json:"classes,omitempty"` // the names of all classes of the data
	// Population digests the names and classes of all samples, of which some are
	// drawn; "" in summaries of earlier versions.
	Population string `json:"population,omitempty"`
	// Significance says how differences are told from chance in tables.
	Significance significance.Rule `json:"significance,omitzero"`
	Trials       []string          `json:"trials"` // Trials identify the records that belong to it, in their order
	// Height and Width are the size of the images that basis vectors are, or 0.
	Height int `json:"height"`
	Width  int `json:"width"`
	// Channels is 1 where they are grey, 3 where they are in colour, or 0.
	Channels int `json:"channels,omitempty"`
	// Models are the files of the saved models by method, "" where there is none.
	Models []string `json:"models"`
	// Samples are those that the saved models are of, a row of their
	// coefficients each. They are in a file beside the models.
	Samples []Sample `json:"-"`
}

// Sample is a sample's name and its class, a place among all classes.
type Sample struct {
	Name  string
	Class int
}

// Summary returns the summary of the plan.
func (p *Plan) Summary() *Summary {
	e, in := p.Experiment, p.Inputs
	s := &Summary{
		Name: e.Name, Command: e.Command, Program: e.Program, Classes: in.Set.Classes, Population: in.Population(),
		Height: in.Height, Width: in.Width, Channels: in.Channels, Models: make([]string, len(e.Methods)),
		Warnings: input.Notes(e, in, ""), Shared: e.Shared(), Significance: e.Significance, Sweeps: e.Methods.Sweeps(),
	}
	n, m := in.Dims()
	var ks []string
	for _, k := range p.ks {
		ks = append(ks, strconv.Itoa(k))
	}
	s.Settings = append([][2]string{
		{"data", fmt.Sprintf("%s: %d samples of %d classes, %d features each", in.Set.Name, n, len(p.classes), m)},
		{"features", in.FeaturesText()},
		{"classes", strings.Join(ks, ", ")},
		{"repeats", strconv.Itoa(e.RepeatCount())},
		{"rank", e.Rank.String()},
	}, e.TaskSettings()...)
	if len(e.Scores) > 0 {
		s.Settings = append(s.Settings, [2]string{"more scores", strings.Join(e.Scores, ", ")})
	}
	if e.Significance != (significance.Rule{}) {
		s.Settings = append(s.Settings, [2]string{"significance", e.Significance.String()})
	}
	for _, m := range p.methods {
		s.Methods = append(s.Methods, m.Label())
		if setting, ok := m.SettingText(s.Sweeps); ok {
			s.Settings = append(s.Settings, setting)
		}
	}
	for _, t := range p.trials {
		s.Trials = append(s.Trials, t.id)
		if p.keepsModel(t) {
			s.Models[t.method] = p.modelFile(t)
			if s.Samples != nil {
				continue
			}
			for _, row := range p.draw(t.k, t.repeat).rows {
				s.Samples = append(s.Samples, Sample{in.Set.Names[in.Rows[row]], p.labels[row]})
			}
		}
	}
	return s
}

// Split tells whether each repeat of a classification has the same samples, those of the data's own parts.
func (s *Summary) Split() bool {
	return slices.Contains(s.Shared, [2]string{"to train", spec.SplitData})
}

// maxSide is the largest height and width of images that a summary may tell of.
const maxSide = 1 << 16

// Check reports parts of the summary that are missing or do not fit together.
func (s *Summary) Check() error {
	switch {
	case s.Name == "" || len(s.Methods) == 0 || len(s.Trials) == 0:
		return errors.New("not a summary of an experiment")
	case len(s.Models) != len(s.Methods):
		return fmt.Errorf("%d models for %d methods", len(s.Models), len(s.Methods))
	case s.Height < 0 || s.Width < 0 || s.Height > maxSide || s.Width > maxSide || s.Channels < 0 || s.Channels > 4:
		return fmt.Errorf("basis vectors cannot be images of %d×%d pixels in %d channels", s.Height, s.Width, s.Channels)
	}
	for _, sweep := range s.Sweeps {
		if !sweep.Whole() {
			return fmt.Errorf("the sweep of %s must have one value of each setting for each method", sweep.Name)
		}
	}
	return nil
}

// Difference is a setting that two experiments have otherwise, in words. It is empty
// where one has no such setting.
type Difference struct{ Setting, A, B string }

// drawSettings are the settings that the draws of samples depend on.
var drawSettings = []string{"task", "data", "to train", "to test", "seed"}

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
			return nil, fmt.Errorf("the results of %s are from an earlier version, without a description of the data: run it again", s.Name)
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
		drawn = append(drawn, "the names of the classes differ")
	}
	if drawn == nil && s.Population != other.Population && s.Population != "" && other.Population != "" {
		drawn = append(drawn, "the samples or their classes changed between the runs")
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
	return fmt.Errorf("has results of the experiment %s with %s, but the experiment %s has %s; choose another name or folder",
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
