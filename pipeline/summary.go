package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Summary is what a report needs to know of an experiment beside its log.
type Summary struct {
	Name string `json:"name"`
	// Command is the command line that runs it again.
	Command string `json:"command"`
	// Program is the version of the program; "" in summaries of earlier versions.
	Program string `json:"program,omitempty"`
	// Settings are names and values, in words.
	Settings [][2]string `json:"settings"`
	// Warnings say what was left out of the data.
	Warnings []string `json:"warnings,omitempty"`
	// Shared are the settings that all trials share, in words. They tell one experiment from another.
	Shared [][2]string `json:"shared,omitempty"`
	// Methods are the methods' labels, in the order of the experiment, and
	// Sweeps say which of them are one method with several settings.
	Methods []string     `json:"methods"`
	Sweeps  []spec.Sweep `json:"sweeps,omitempty"`
	// Classes are the names of all classes of the data.
	Classes []string `json:"classes,omitempty"`
	// Population digests the names and classes of all samples, of which some are
	// drawn; "" in summaries of earlier versions.
	Population string `json:"population,omitempty"`
	// Significance says how differences are told from chance in tables.
	Significance significance.Rule `json:"significance,omitzero"`
	// Trials identify the records that belong to it, in their order.
	Trials []string `json:"trials"`
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
		return errors.New("not the summary of an experiment")
	case len(s.Models) != len(s.Methods):
		return fmt.Errorf("%d models for %d methods", len(s.Models), len(s.Methods))
	case s.Height < 0 || s.Width < 0 || s.Height > maxSide || s.Width > maxSide || s.Channels < 0 || s.Channels > 4:
		return fmt.Errorf("basis vectors cannot be images of %d×%d pixels in %d channels", s.Height, s.Width, s.Channels)
	}
	for _, sweep := range s.Sweeps {
		if !sweep.Whole() {
			return fmt.Errorf("the sweep of %s has not one value of each setting for each method", sweep.Name)
		}
	}
	return nil
}
