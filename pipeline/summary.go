package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Summary describes an experiment for reports. It is stored beside the log.
type Summary struct {
	Name    string `json:"name"`
	Command string `json:"command"` // runs the experiment again
	// Program is the version of the program; "" in summaries of earlier versions.
	Program  string      `json:"program,omitempty"`
	Settings [][2]string `json:"settings"`           // names and values, in words
	Warnings []string    `json:"warnings,omitempty"` // about data that is left out
	// Shared are the settings that all trials share, in words. They identify the experiment.
	Shared [][2]string `json:"shared,omitempty"`
	// Methods are the labels of the methods, in the order of the experiment, and Sweeps the sweeps among them.
	Methods []string     `json:"methods"`
	Sweeps  []spec.Sweep `json:"sweeps,omitempty"`
	Classes []string     `json:"classes,omitempty"` // the names of all classes of the data
	// Population digests the names and classes of all samples, from which draws are made; "" in summaries of earlier
	// versions.
	Population string `json:"population,omitempty"`
	// Significance is the test for differences in tables.
	Significance significance.Rule `json:"significance,omitzero"`
	Trials       []string          `json:"trials"` // the identities of its records, in order
	// Height and Width are the size of basis vectors that are images, or 0.
	Height int `json:"height"`
	Width  int `json:"width"`
	// Channels is 1 for grey images, 3 for colour images, or 0.
	Channels int `json:"channels,omitempty"`
	// Columns is the number of all features, and From the first one that is a pixel, if others are joined to them.
	Columns int `json:"columns,omitempty"`
	From    int `json:"pixels_from,omitempty"`
	// Models are the files of the saved models by method, "" for none.
	Models []string `json:"models"`
	// Samples are the samples of the saved models, one for each row of the coefficients. They are in a file beside the
	// models.
	Samples []Sample `json:"-"`
}

// Sample is a sample's name and its class, an index of Summary.Classes.
type Sample struct {
	Name  string
	Class int
}

// Summary returns the summary of the plan.
func (p *Plan) Summary() *Summary {
	e, in := p.Experiment, p.Inputs
	pixels := in.Pixels()
	s := &Summary{
		Name: e.Name, Command: e.Command, Program: e.Program, Classes: in.Set.Classes, Population: in.Population(),
		Height: pixels.Height, Width: pixels.Width, Channels: pixels.Channels, From: pixels.From, Models: make([]string, len(e.Methods)),
		Warnings: input.Notes(e, in, ""), Shared: e.Shared(), Significance: e.Significance, Sweeps: e.Methods.Sweeps(),
	}
	n, m := in.Dims()
	if in.Height != pixels.Height {
		s.Columns = m
	}
	ks := lists.Map(p.ks, strconv.Itoa)
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
		if p.savesModel(t) {
			s.Models[t.method] = p.modelFile(t)
			if s.Samples != nil {
				continue
			}
			s.Samples = lists.Map(p.draw(t.k, t.repeat).rows, func(row int) Sample { return Sample{in.Set.Names[in.Rows[row]], p.labels[row]} })
		}
	}
	return s
}

// Split reports whether a classification uses the data's own training and test parts in each repeat.
func (s *Summary) Split() bool {
	return slices.Contains(s.Shared, [2]string{"to train", spec.SplitData})
}

// maxSide is the largest height and width of images in a summary.
const maxSide = 1 << 16

// Check returns an error for missing or inconsistent parts.
func (s *Summary) Check() (err error) {
	defer guard.Catch(&err)
	guard.FailIf(s.Name == "" || len(s.Methods) == 0 || len(s.Trials) == 0, "not a summary of an experiment")
	guard.FailIf(len(s.Models) != len(s.Methods), "%d models for %d methods", len(s.Models), len(s.Methods))
	guard.FailIf(s.Height < 0 || s.Width < 0 || s.Height > maxSide || s.Width > maxSide || s.Channels < 0 || s.Channels > 4,
		"basis vectors cannot be images of %d×%d pixels in %d channels", s.Height, s.Width, s.Channels)
	guard.FailIf(s.From < 0 || s.Columns < 0 || (s.From > 0 || s.Columns > 0) && s.Columns-s.From < s.Height*s.Width*max(s.Channels, 1),
		"%d features from feature %d of %d cannot be images of %d×%d pixels", s.Columns-s.From, s.From, s.Columns, s.Height, s.Width)
	for _, sweep := range s.Sweeps {
		short := func(values []string) bool { return len(values) != len(sweep.Settings) }
		guard.FailIf(len(sweep.Methods) == 0 || len(sweep.Values) != len(sweep.Methods) || slices.ContainsFunc(sweep.Values, short),
			"the sweep of %s must have one value of each setting for each method", sweep.Name)
	}
	return nil
}

// Difference is a setting with different values in two experiments, in words. A or B is empty if that experiment lacks
// the setting.
type Difference struct{ Setting, A, B string }

// drawSettings are the settings on which the draws of samples depend.
var drawSettings = []string{"task", "data", "to train", "to test", "seed"}

// differences returns the settings that differ, except other names of the same data.
func differences(a, b [][2]string) (all []Difference) {
	values := [2]map[string]string{{}, {}}
	for i, settings := range [][][2]string{a, b} {
		for _, s := range settings {
			values[i][s[0]] = s[1]
		}
	}
	for _, name := range lists.Unique(lists.Map(slices.Concat(a, b), func(s [2]string) string { return s[0] })) {
		if d := (Difference{name, values[0][name], values[1][name]}); d.A != d.B && !(name == "data" && sameData(d.A, d.B)) {
			all = append(all, d)
		}
	}
	return all
}

// Compare returns the differences between the shared settings of two experiments. It returns an error if the
// experiments draw different samples: if the task, data, training or test samples or the seed differ, or the data
// changed in between.
func (s *Summary) Compare(other *Summary) ([]Difference, error) {
	for _, s := range []*Summary{s, other} {
		if s.Shared == nil {
			return nil, fmt.Errorf("the results of %s are from an earlier version, without a description of the data: run it again", s.Name)
		}
	}
	var all []Difference
	var drawn []string
	for _, d := range differences(s.Shared, other.Shared) {
		if slices.Contains(drawSettings, d.Setting) {
			drawn = append(drawn, fmt.Sprintf("%s: %s and %s", d.Setting, cmp.Or(d.A, "none"), cmp.Or(d.B, "none")))
		} else {
			all = append(all, d)
		}
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

// CheckSame returns an error that lists the shared settings in which e differs from the experiment of the summary.
func (s *Summary) CheckSame(e *spec.Experiment) error {
	var old, now []string
	for _, d := range differences(s.Shared, e.Shared()) {
		old, now = append(old, d.Setting+": "+d.A), append(now, d.Setting+": "+d.B)
	}
	if old == nil {
		return nil
	}
	return fmt.Errorf("has results of the experiment %s (%s), not of %s (%s); choose another name or folder",
		s.Name, strings.Join(old, "; "), e.Name, strings.Join(now, "; "))
}

// sameData reports whether two descriptions of data name the same path differently, such as ./photos and photos.
func sameData(a, b string) bool {
	setA, restA, _ := strings.Cut(a, ", ")
	setB, restB, _ := strings.Cut(b, ", ")
	return restA == restB && (a == b || output.SameFile(setA, setB))
}

// SameTrials reports whether two summaries have the same trials, and show them alike.
func (s *Summary) SameTrials(other *Summary) bool {
	return s.Name == other.Name && slices.Equal(s.Trials, other.Trials) && slices.Equal(s.Settings, other.Settings) &&
		slices.Equal(s.Methods, other.Methods) && slices.Equal(s.Shared, other.Shared)
}
