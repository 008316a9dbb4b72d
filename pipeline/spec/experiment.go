// Package spec defines the settings of an experiment: data, features, methods, labels, links, ranks and
// clustering. DecodeSetting of a type reads its form in an experiment file, and String describes it in words.
// [Load] reads files, whose form is in docs/reference/experiment-file.md, and [ParseShort] reads the short forms of
// flags. Package input prepares the data, and package pipeline runs the trials.
package spec

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Experiment is the settings of an experiment: methods to compare, and the data. The help tag of a field describes
// it, and docs/reference/experiment-file.md describes its form in a file.
type Experiment struct {
	Name string `setting:"name" help:"what the results are called"`
	Task Task   `setting:"task" help:"what methods are compared by: cluster or classify"`
	// Data is the set. Sets are several sets, the first of which is Data; Each returns an experiment for each.
	Data     Data
	Sets     []Data   `setting:"data" help:"the data: a known set (set:NAME where a folder here has its name) or a path, with settings behind it as in yale,from=raw"`
	Features Features `setting:"features" help:"as in pixels=32,colour=true,normalise=l2,crop=square or sift=dense,words=200, several with + between them as in sift+colour"`
	Methods  Methods  `setting:"methods"`
	// Classes are the drawn numbers of classes, one table row each; empty means all classes.
	Classes Classes `setting:"classes" help:"numbers of classes: 5, 2..10 or 2,5,10"`
	Repeats int     `setting:"repeats" default:"10" help:"how often each number of classes is drawn"` // 0 means 10
	Labels  Portion `setting:"labels" help:"labelled samples of each class: none, 30% or a count"`
	Links   Links   `setting:"links" help:"pairs told to belong together or not: 3% of them, or as in file=pairs.csv"`
	Split   string  `setting:"split" values:"folders" help:"folders: a classification learns from the part train of the data, and is tested on their part test"`
	Train   Portion `setting:"train" help:"samples of each class to learn from in a classification: 60% or a count"`
	Test    Portion `setting:"test" help:"samples of each class to classify: rest, 40% or a count"`
	Rank    Ranks   `setting:"rank" help:"number of basis vectors: k, k+1, 2k, a number, several as in 5..40, or auto, with settings as in among=2..60,by=stability"`
	Cluster Cluster `setting:"cluster" help:"as in distance=cosine,restarts=20"`
	// Classifier predicts the classes of test samples; Neighbours are the settings of nearest neighbours.
	Classifier Classifier `setting:"classifier" help:"neighbours, or linear, with settings as in by=linear,c=10"`
	Neighbours Neighbours `setting:"neighbours" help:"how many neighbours classify, or as in k=10,distance=cosine"`
	Scores     []string   `setting:"scores" help:"scores that are computed too, as in VI"`
	// Significance does not change any trial.
	Significance significance.Rule `setting:"significance" help:"how tables tell differences from chance: t, signed-rank, bayes-t, bayes-signed-rank or none, with settings as in t,correction=none or bayes-t,rope=2"`
	Seed         uint64            `setting:"seed" help:"seed of all random choices"`
	// Command is the command line that runs the experiment, and Program the version of the program, for reports and
	// models.
	Command, Program string
}

// Check returns an error for missing or conflicting settings.
func (e *Experiment) Check() error {
	if err := e.checkSettings(); err != nil {
		return err
	}
	if strings.ContainsAny(e.Name, "/\\\x00") || strings.HasPrefix(e.Name, ".") {
		return fmt.Errorf("the name %q cannot name a folder: it must not hold /, \\ or NUL, or begin with a dot", e.Name)
	}
	if err := eval.CheckScores(e.Task, e.Scores); err != nil {
		return fmt.Errorf("scores: %w", err)
	}
	seen := map[string]bool{}
	for _, m := range e.Methods {
		if m.Name == "" {
			return errors.New("a method has no name")
		}
		if seen[m.Label()] {
			return fmt.Errorf("two methods are called %q; give one another name with \"as\"", m.Label())
		}
		seen[m.Label()] = true
		switch classifies := m.Name == Original; {
		case classifies && e.Task != Classification:
			return fmt.Errorf("the method %s is for the task %s", m.Name, Classification)
		case OnFeatures(m.Name) && !classifies && e.Task != Clustering:
			return fmt.Errorf("the method %s is for the task %s", m.Name, Clustering)
		}
		if m.Recode != nil && e.Task != Classification {
			return fmt.Errorf("the method %s has recode, which is for the task classify", m.Label())
		}
		if e.Task == Clustering && m.Needs().LackLabels(!e.Labels.None(), !e.Links.None()) {
			return fmt.Errorf("the method %s needs labels, and the experiment gives none (labels: 30%%, for example)", m.Label())
		}
	}
	return nil
}

// checkSettings returns an error for missing settings, and for settings of the other task.
func (e *Experiment) checkSettings() error {
	classify, split, c, counted := e.Task == Classification, e.Split != "", e.Classifier, e.Cluster.K != (GroupCount{})
	parts := !e.Train.None() || !e.Test.None()
	for _, rule := range []struct {
		broken bool
		says   string
	}{
		{e.Data.Set == "", "the experiment names no data"},
		{len(e.Methods) == 0, "the experiment names no methods"},
		{strings.TrimSpace(e.Name) == "", "the experiment has no name"},
		{e.Data.Labels != "" && e.Data.Truth != "", "data: labels and truth both say the classes of an experiment; give one of them"},
		{len(e.Rank) > 1 && len(e.Classes) > 1, "the experiment has several numbers of classes and several ranks; a table has rows for one of them"},
		{e.Labels.Rest || e.Train.Rest, "only test can be the rest"},
		{classify && counted, "cluster: k, the number of groups, is for the task cluster"},
		{classify && split && parts, "split says what a classification learns from and is tested on; leave out train and test"},
		{classify && !split && (e.Train.None() || e.Test.None()), "a classification needs train and test, how many samples of each class (train: 100, for example)"},
		{classify && !e.Labels.None(), "a classification tells the labels of all training samples; labels is for clustering"},
		{classify && !e.Links.None(), "links is for clustering; a classification tells all labels of its training samples"},
		{classify && c.Linear() && e.Neighbours != (Neighbours{}), "neighbours are for the classifier of that name, and it is linear"},
		{classify && !c.Linear() && (c.C != 0 || c.Scale != ""), "classifier: c and scale are for by: linear"},
		{!classify && (parts || split || e.Neighbours != (Neighbours{}) || c != (Classifier{})), "train, test, split, classifier and neighbours are for classification (task: classify)"},
	} {
		if rule.broken {
			return errors.New(rule.says)
		}
	}
	for _, m := range e.Methods {
		if counted && cmp.Or(m.By, e.Cluster.By) == Largest {
			return fmt.Errorf("cluster: k is %s, and the method %s groups samples by their largest coefficient: its rank is their number", e.Cluster.K, m.Label())
		}
	}
	return nil
}

// RepeatCount returns the number of draws for each number of classes.
func (e *Experiment) RepeatCount() int { return cmp.Or(e.Repeats, 10) }

// MaxTrials is the largest number of trials of an experiment.
const MaxTrials = 1_000_000

// SplitData is the value in a summary for a classification that trains on one part of the data and tests on another.
const SplitData = "as the data are split"

// TaskSettings returns the settings of the task, and the seed, in words.
func (e *Experiment) TaskSettings() [][2]string {
	seed := [2]string{"seed", fmt.Sprint(e.Seed)}
	if e.Task == Clustering {
		return [][2]string{{"labels", e.Labels.String()}, {"links", e.Links.String()}, {"clustering", e.Cluster.String()}, seed}
	}
	train, test := e.Train.String(), e.Test.String()
	if e.Split != "" {
		train, test = SplitData, SplitData
	}
	by := cmp.Or(e.Classifier.String(), e.Neighbours.String())
	return [][2]string{{"to train", train}, {"to test", test}, {"classification", by}, seed}
}

// Shared returns the settings that all trials share, in words.
func (e *Experiment) Shared() [][2]string {
	s := append([][2]string{{"task", e.Task.String()}, {"data", e.Data.String()}, {"features", e.Features.String()}}, e.TaskSettings()...)
	for i := range s {
		s[i][1] = string([]rune(s[i][1])) // U+FFFD for what is not UTF-8, as in a file of the summary
	}
	return s
}

// DecodeSetting reads the settings of an experiment. It sets Data to the set, or to the first of several.
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

// Each returns the experiment itself, or one for each of its several sets, named by the experiment and the set with a
// hyphen between.
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

// SetNames returns distinct names of the sets, which are also valid folder names.
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

// Files returns the paths or names that the experiment reads: its data, and files of labels, links, visual words and so
// on. "" stands for an absent file.
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

// Data is the source of the samples. In a file it is the name of a known set or a path, or {set: …} with further
// settings.
type Data struct {
	Set string `setting:"set,text" help:"a known set or a path"`
	// OpenOptions say how the data and their classes are read.
	datasets.OpenOptions
	// 0 means all for both.
	Largest int `setting:"largest" default:"all" help:"how many classes are kept, those with the most samples"`
	Samples int `setting:"samples" default:"all" help:"the size of a random part of the set"`
	// Labelled leaves out samples without a known class. It is not part of the file.
	Labelled bool
}

// String describes the data in words: the set as it was named, and its settings.
func (d Data) String() string {
	words, held := []string{d.Set}, settings.Encode(d)
	for _, name := range settings.Names(d)[1:] {
		if value, ok := held[name]; ok {
			words = append(words, fmt.Sprintf("%s %v", name, value))
		}
	}
	return strings.Join(words, ", ")
}
