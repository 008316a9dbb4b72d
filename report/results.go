package report

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

// Sources are what a report is made of beside results.
type Sources struct {
	// Shown is what was learned of visual words on photographs. Without it pages show
	// what they showed before.
	Shown *pipeline.Illustrations
	// Warn is told what is not shown and why; it may be nil.
	Warn func(text string)
	// Progress is called after each photograph that was read, by one goroutine at a
	// time; it may be nil.
	Progress func(done, total int)
	// Published is called when a grouping stands in its folder, before that is given to others; it
	// may be nil.
	Published func() error
}

func (s Sources) warn(format string, a ...any) string {
	text := fmt.Sprintf(format, a...)
	if s.Warn != nil {
		s.Warn(text)
	}
	return text
}

// Publish replaces the pages of an experiment's results by new ones, made of its log
// and its saved models.
func Publish(ctx context.Context, folder *results.Folder, from Sources) (*Experiment, error) {
	e, err := readExperiment(folder.Dir(), from)
	if err != nil {
		return nil, err
	}
	if from.Shown != nil {
		e.Patches, e.Words = from.illustrations(ctx, newCounter(from.Progress))
	}
	return e, folder.Publish(func(staging string) (keep []string, err error) {
		if from.Shown == nil {
			if keep, err = copyPhotographs(staging, folder.Dir()); err != nil {
				return nil, err
			}
		}
		return keep, WriteExperiment(ctx, staging, *e)
	})
}

// readExperiment reads the results in dir.
func readExperiment(dir string, from Sources) (*Experiment, error) {
	s, err := results.ReadSummary(dir)
	if err != nil {
		return nil, err
	}
	records, err := results.Records(dir, s)
	if err != nil {
		return nil, err
	}
	e := &Experiment{
		Name: s.Name, Command: s.Command, Settings: s.Settings, Methods: s.Methods, Sweeps: s.Sweeps,
		Classes: s.Classes, Records: records, Trials: len(s.Trials), Tests: table.TestsOf(s), Warnings: s.Warnings,
	}
	warn := func(format string, a ...any) { e.Warnings = append(e.Warnings, from.warn(format, a...)) }
	if s.Program != "" {
		e.Settings = append(slices.Clip(e.Settings), programSetting(s.Program))
	}
	if builds := pipeline.Builds(records); builds != nil {
		e.Settings = append(slices.Clip(e.Settings), [2]string{"computed by", strings.Join(builds, "; ")})
	}
	if mixed := pipeline.MixedBuilds(records); mixed != "" {
		warn("%s", mixed)
	}
	models, damaged := results.Models(dir, s)
	for i, m := range models {
		if m == nil || m.Vectors() == nil || s.Height == 0 {
			continue
		}
		b := Basis{Method: s.Methods[i], Vectors: m.Vectors(), Height: s.Height, Width: s.Width, Channels: s.Channels}
		if rows, _ := b.Vectors.Dims(); rows != s.Height*s.Width*max(s.Channels, 1) {
			warn("the parts of %s are not shown: the basis vectors of %s have %d values, and the images %d×%d pixels in %d channel(s)",
				b.Method, filepath.Join(dir, results.ModelDir, s.Models[i]), rows, s.Height, s.Width, max(s.Channels, 1))
			continue
		}
		e.Bases = append(e.Bases, b)
	}
	classes := make([]int, len(s.Samples))
	for i, sample := range s.Samples {
		classes[i] = sample.Class
	}
	coefficients, others := results.Coefficients(dir, s)
	for i, v := range coefficients {
		if v != nil {
			e.Coefficients = append(e.Coefficients, figure.Coefficients{Method: s.Methods[i], Values: v, Classes: classes})
		}
	}
	for i, method := range s.Methods {
		switch {
		case damaged[i] != nil:
			warn("what %s learned is not shown: %v", method, damaged[i])
		case others[i] != nil:
			warn("the descriptions by %s are not shown: %v", method, others[i])
		}
	}
	return e, nil
}
