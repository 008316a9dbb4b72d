package pipeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/output"
)

// SummaryFile is the name of the file in an experiment's folder that says what
// its log is of.
const SummaryFile = "experiment.json"

// Summary is what a report needs to know of an experiment beside its log.
type Summary struct {
	Name string `json:"name"`
	// Command is the command line that runs it again.
	Command string `json:"command"`
	// Settings are names and values, in words.
	Settings [][2]string `json:"settings"`
	// Warnings say what was left out of the data.
	Warnings []string `json:"warnings,omitempty"`
	// Shared are the settings that all trials share, in words. They tell one
	// experiment from another.
	Shared [][2]string `json:"shared,omitempty"`
	// Methods are the methods' labels, in the order of the experiment, and
	// Sweeps say which of them are one method with several settings.
	Methods []string `json:"methods"`
	Sweeps  []Sweep  `json:"sweeps,omitempty"`
	// Classes are the names of all classes of the data.
	Classes []string `json:"classes,omitempty"`
	// Population digests the names and classes of all samples, of which some are
	// drawn; "" in summaries of earlier versions.
	Population string `json:"population,omitempty"`
	// Trials identify the records that belong to it, in their order.
	Trials []string `json:"trials"`
	// Height and Width are the size of the images that basis vectors are, or 0.
	Height int `json:"height"`
	Width  int `json:"width"`
	// Channels is 1 where they are grey, 3 where they are in colour, or 0.
	Channels int `json:"channels,omitempty"`
	// Models are the files of the saved models by method, "" where there is
	// none.
	Models []string `json:"models"`
	// Samples are those that the saved models are of, a row of their
	// coefficients each. They are in a file beside the models.
	Samples []Sample `json:"-"`
}

// Summary returns the summary of the plan.
func (p *Plan) Summary() *Summary {
	e := p.Experiment
	s := &Summary{Name: e.Name, Command: e.Command, Classes: p.Inputs.Set.Classes, Population: p.Inputs.population(), Height: p.Inputs.Height, Width: p.Inputs.Width, Channels: p.Inputs.Channels, Models: make([]string, len(e.Methods))}
	s.Warnings, s.Shared = e.Notes(p.Inputs), e.shared()
	n, m := p.Inputs.Dims()
	var ks []string
	for _, k := range p.ks {
		ks = append(ks, strconv.Itoa(k))
	}
	s.Settings = [][2]string{
		{"data", fmt.Sprintf("%s: %d samples of %d classes, %d features each", p.Inputs.Set.Name, n, len(p.members), m)},
		{"features", p.Inputs.Features.String()},
		{"classes", strings.Join(ks, ", ")},
		{"repeats", strconv.Itoa(e.repeats())},
		{"rank", e.Rank.String()},
	}
	if e.Task == Classification {
		s.Settings = append(s.Settings, [][2]string{
			{"to train", e.Train.String()},
			{"to test", e.Test.String()},
			{"classification", e.Neighbours.String()},
		}...)
	} else {
		s.Settings = append(s.Settings, [][2]string{
			{"labels", e.Labels.String()},
			{"links", e.Links.String()},
			{"clustering", e.Cluster.String()},
		}...)
	}
	s.Settings = append(s.Settings, [][2]string{
		{"seed", strconv.FormatUint(uint64(e.Seed), 10)},
	}...)
	if len(e.Scores) > 0 {
		s.Settings = append(s.Settings, [2]string{"more scores", strings.Join(e.Scores, ", ")})
	}
	s.Sweeps = e.Methods.sweeps()
	for _, m := range e.Methods {
		s.Methods = append(s.Methods, m.Label())
		if recode := m.recodes(); e.Task == Classification && recode {
			m.Recode = &recode // said in the settings, where it is the default too
		}
		if setting, ok := m.setting(s.Sweeps); ok {
			s.Settings = append(s.Settings, setting)
		}
	}
	for _, t := range p.trials {
		s.Trials = append(s.Trials, t.id)
		if p.keepsModel(t) {
			s.Models[t.method] = p.modelFile(t)
			if s.Samples == nil {
				s.Samples = p.samples(t)
			}
		}
	}
	return s
}

func (s *Summary) write(to *output.Folder) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := writeSamples(to, s.Samples, s.Classes); err != nil {
		return err
	}
	return to.Write(SummaryFile, append(text, '\n'))
}

// ReadSummary reads the summary of the experiment whose results are in dir. It takes at
// most 2 MiB of memory and 200 bytes for each of the file's.
func ReadSummary(dir string) (*Summary, error) {
	s, err := readSummary(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no results of an experiment: there is no %s in it", dir, SummaryFile)
	}
	if err != nil {
		return nil, err
	}
	s.Samples, err = readSamples(dir, s.Classes)
	return s, err
}

// maxSide is the largest height and width of images that a summary may tell of.
const maxSide = 1 << 16

// readSummary reads the summary in dir without the samples.
func readSummary(dir string) (*Summary, error) {
	path := filepath.Join(dir, SummaryFile)
	text, err := output.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &Summary{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(s); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			line := 1 + bytes.Count(text[:min(int(kind.Offset), len(text))], []byte("\n"))
			err = fmt.Errorf("line %d: %s: the kind of value is wrong (%s)", line, cmp.Or(kind.Field, "the file"), kind.Value)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if s.Name == "" || len(s.Methods) == 0 || len(s.Trials) == 0 {
		return nil, fmt.Errorf("%s: not the summary of an experiment", path)
	}
	if len(s.Models) != len(s.Methods) {
		return nil, fmt.Errorf("%s: %d models for %d methods", path, len(s.Models), len(s.Methods))
	}
	if s.Height < 0 || s.Width < 0 || s.Height > maxSide || s.Width > maxSide || s.Channels < 0 || s.Channels > 4 {
		return nil, fmt.Errorf("%s: basis vectors cannot be images of %d×%d pixels in %d channels", path, s.Height, s.Width, s.Channels)
	}
	for _, sweep := range s.Sweeps {
		if !sweep.whole() {
			return nil, fmt.Errorf("%s: the sweep of %s has not one value of each setting for each method", path, sweep.Name)
		}
	}
	return s, nil
}

// Records returns those records of the log in dir that are of this experiment,
// in its order. Some may be missing.
func (s *Summary) Records(dir string) ([]Record, error) {
	records, _, err := ReadLog(dir)
	if err != nil {
		return nil, err
	}
	by := map[string]Record{}
	for _, r := range records {
		by[r.Trial] = r
	}
	var out []Record
	for _, id := range s.Trials {
		if r, ok := by[id]; ok {
			out = append(out, r)
		}
	}
	return out, nil
}

// LoadModels reads the methods' saved models, in their order; those that make
// none, are not done yet, or are damaged, are nil.
func (s *Summary) LoadModels(dir string) []factor.Model {
	out := make([]factor.Model, len(s.Methods))
	for i, name := range s.Models {
		if name != "" && name == filepath.Base(name) {
			if m, err := loadModel(filepath.Join(dir, ModelDir, name)); err == nil {
				out[i] = m
			}
		}
	}
	return out
}

func loadModel(path string) (factor.Model, error) {
	text, err := output.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return factor.LoadModel(bytes.NewReader(text), int64(len(text)))
}
