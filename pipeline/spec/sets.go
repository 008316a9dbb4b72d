package spec

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// DecodeSetting reads the settings of an experiment. One set is Data, and of several Data is the
// first.
func (e *Experiment) DecodeSetting(v *settings.Value) error {
	type plain Experiment
	if err := settings.Decode(v, (*plain)(e)); err != nil {
		return err
	}
	if len(e.Sets) > 0 && v.Get("data").Value != nil {
		e.Data = e.Sets[0]
	}
	if len(e.Sets) == 1 {
		e.Sets = nil
	}
	return nil
}

// Each returns the experiments on single sets that an experiment stands for: itself, or one for
// each of several sets, whose names are its own and the set's, with a hyphen between them.
func (e *Experiment) Each() []*Experiment {
	if len(e.Sets) < 2 {
		return []*Experiment{e}
	}
	var all []*Experiment
	for i, name := range e.SetNames() {
		one := *e
		one.Sets, one.Name, one.Data = nil, e.Name+"-"+name, e.Sets[i]
		one.Data.Root, one.Data.Labelled = e.Data.Root, e.Data.Labelled
		all = append(all, &one)
	}
	return all
}

// SetNames returns what the sets of an experiment are called, different names that can be those
// of folders.
func (e *Experiment) SetNames() []string {
	var names []string
	taken := map[string]bool{}
	for _, d := range e.Sets {
		base := filename.Safe(filepath.Base(strings.TrimPrefix(d.Set, catalogue.SetPrefix)))
		name := base
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[name] = true
		names = append(names, name)
	}
	return names
}

// Files returns what the experiment reads: the path or name of its data, and files of labels, links, visual words
// and so on, "" for those that it has not.
func (e *Experiment) Files() []string {
	files := []string{e.Data.Set, e.Data.Labels, e.Data.Truth, e.Links.File, e.Links.Feedback}
	for _, f := range e.Features.Each() {
		files = append(files, f.Words.From, f.Crop.Eyes)
		if n, ok := f.Extractor.(features.Network); ok {
			files = append(files, n.File)
		}
	}
	return files
}
