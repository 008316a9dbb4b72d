// Package spec defines the settings of an experiment: data, features, methods, labels, links, ranks and
// clustering. DecodeSetting of a type reads its form in an experiment file, and String describes it in words.
// [Load] reads files, whose form is in docs/reference/experiment-file.md, and [ParseShort] reads the short forms of
// flags. Package input prepares the data, and package pipeline runs the trials.
package spec

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Experiment is the settings of an experiment: methods to compare, and the data. The help tag of a field describes
// it, and docs/reference/experiment-file.md describes its form in a file.
type Experiment struct {
	Name string `setting:"name" help:"name of the experiment and its results folder"`
	Task Task   `setting:"task" help:"task of the experiment: cluster or classify"`
	// Data is the set. Sets are several sets, the first of which is Data; Each returns an experiment for each.
	Data     Data
	Sets     []Data   `setting:"data" help:"data: a known set or a path, with settings such as yale,from=raw"`
	Features Features `setting:"features" help:"features, such as pixels=32 or sift+colour"`
	Methods  Methods  `setting:"methods"`
	// Classes are the drawn numbers of classes, one table row each; empty means all classes.
	Classes Classes `setting:"classes" help:"numbers of classes to draw: 5, 2..10 or 2,5,10"`
	Repeats int     `setting:"repeats" default:"10" help:"number of draws for each number of classes"` // 0 means 10
	Labels  Portion `setting:"labels" help:"labelled samples of each class: none, 30% or a count"`
	Links   Links   `setting:"links" help:"must-links and cannot-links: 3% of all pairs, or file=pairs.csv"`
	Split   string  `setting:"split" values:"folders" help:"folders: train on the subfolder train, test on the subfolder test"`
	Train   Portion `setting:"train" help:"training samples of each class for classification: 60% or a count"`
	Test    Portion `setting:"test" help:"test samples of each class for classification: rest, 40% or a count"`
	Rank    Ranks   `setting:"rank" help:"number of basis vectors: 20, k, k+1, 2k, each of 5..40, or auto"`
	Cluster Cluster `setting:"cluster" help:"clustering, such as ncut or distance=cosine"`
	// Classifier predicts the classes of test samples; Neighbours are the settings of nearest neighbours.
	Classifier Classifier `setting:"classifier" help:"classifier: neighbours, linear, or settings such as by=linear,c=10"`
	Neighbours Neighbours `setting:"neighbours" help:"neighbours of the classifier: a number, or k=10,distance=cosine"`
	Scores     []string   `setting:"scores" help:"additional scores, such as VI"`
	// Significance does not change any trial.
	Significance significance.Rule `setting:"significance" help:"test: t, signed-rank, bayes-t, bayes-signed-rank or none"`
	Seed         uint64            `setting:"seed" help:"random seed"`
	// Command is the command line that runs the experiment, and Program the version of the program, for reports and
	// models.
	Command, Program string
}

// Check returns an error for missing or conflicting settings.
func (e *Experiment) Check() (err error) {
	defer guard.Catch(&err)
	e.checkSettings()
	guard.Check(guard.Wrap(eval.CheckScores(e.Task, e.Scores), "scores"))
	seen := map[string]bool{}
	for _, m := range e.Methods {
		name := m.Label()
		guard.FailIf(m.Name == "", "a method has no name")
		guard.FailIf(seen[name], "two methods are called %q; rename one with \"as\"", name)
		seen[name] = true
		for _, variant := range m.Variants() {
			e.checkMethod(variant)
		}
		if m.Tune != nil {
			guard.FailIf(m.Tune.By == TuneStability && e.Task != Clustering,
				"the method %s is tuned by stability, which needs task: cluster", name)
			guard.FailIf(m.Tune.By == TuneLabelled && e.Task == Clustering && e.Labels.None(),
				"the method %s is tuned by labelled samples: set labels, such as labels: 30%%", name)
		}
	}
	return nil
}

// checkMethod refuses a method that is not for the task and its labels. It and checkSettings call guard.Fail.
func (e *Experiment) checkMethod(m Method) {
	clusters, name, needs := e.Task == Clustering, m.Label(), m.Needs()
	guard.FailIf(clusters && m.Name == Original, "the method %s is for the task %s", m.Name, Classification)
	guard.FailIf(!clusters && m.Name != Original && (OnFeatures(m.Name) || needs.NoModel),
		"the method %s is for the task %s", m.Name, Clustering)
	guard.FailIf(!clusters && m.Consensus, "the method %s sets consensus, which needs task: cluster", name)
	guard.FailIf(clusters && m.Recode != nil, "the method %s sets recode, which needs task: classify", name)
	guard.FailIf(clusters && needs.LackLabels(!e.Labels.None(), !e.Links.None()),
		"the method %s needs labels: set labels, such as labels: 30%%", name)
	guard.FailIf(e.Cluster.K != (GroupCount{}) && m.ClusteredBy(e.Cluster) == Largest,
		"cluster: k is %s, but the method %s clusters by largest coefficient; set rank instead of k", e.Cluster.K, name)
}

// checkSettings refuses missing settings, and settings of the other task.
func (e *Experiment) checkSettings() {
	classify, split, by, counted := e.Task == Classification, e.Split != "", e.Classifier, e.Cluster.K != (GroupCount{})
	parts, fail := !e.Train.None() || !e.Test.None(), guard.FailIf
	fail(e.Data.Set == "", "the experiment has no data: set data (flag --set)")
	fail(len(e.Methods) == 0, "the experiment has no methods: set methods (flag --method)")
	fail(strings.TrimSpace(e.Name) == "", "the experiment has no name: set name (flag --name)")
	fail(e.Data.Labels != "" && e.Data.Truth != "", "data: labels and truth both name the classes; use one of them")
	fail(len(e.Rank) > 1 && len(e.Classes) > 1,
		"the experiment varies both classes and rank; use several values for one of them only")
	fail(e.Labels.Rest || e.Train.Rest, "rest is valid for test only")
	fail(classify && counted, "cluster: k needs task: cluster")
	fail(classify && split && parts, "split defines training and test samples; remove train and test")
	fail(classify && !split && (e.Train.None() || e.Test.None()),
		"a classification needs train and test (samples of each class), such as train: 100 and test: rest")
	fail(classify && !e.Labels.None(), "labels needs task: cluster; a classification labels all training samples")
	fail(classify && !e.Links.None(), "links needs task: cluster; a classification labels all training samples")
	fail(classify && by.Linear() && e.Neighbours != (Neighbours{}),
		"neighbours needs classifier: neighbours, but the classifier is linear")
	fail(classify && !by.Linear() && (by.C != 0 || by.Scale != ""), "classifier: c and scale need by: linear")
	fail(!classify && (parts || split || e.Neighbours != (Neighbours{}) || by != (Classifier{})),
		"train, test, split, classifier and neighbours need task: classify")
	fail(strings.ContainsAny(e.Name, "/\\\x00") || strings.HasPrefix(e.Name, "."),
		"the name %q is not usable as a folder name: remove /, \\, NUL or the leading dot", e.Name)
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
		s[i][1] = string([]rune(s[i][1])) // U+FFFD for invalid UTF-8, as in the file of the summary
	}
	return s
}

// DecodeSetting reads the settings of an experiment. It sets Data to the set, or to the first of several.
func (e *Experiment) DecodeSetting(v *settings.Value) error {
	if err := settings.DecodeFields(v, e); err != nil {
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

// Files returns the paths or names that the experiment reads: its data, and files of labels, links, results and so on. "" stands for an absent file.
func (e *Experiment) Files() []string {
	files := []string{e.Data.Set, e.Data.Weights, e.Data.Mask, e.Data.Labels, e.Data.Truth, e.Links.File, e.Links.Feedback}
	for _, f := range e.Features.Each() {
		files = append(files, f.Words.From, f.Crop.Eyes)
		if n, ok := f.Extractor.(features.Network); ok {
			files = append(files, n.File)
		}
	}
	for _, m := range e.Methods {
		files = append(append(files, m.FixedBasis), m.ResultFiles()...)
	}
	return files
}

// Data is the source of the samples. In a file it is the name of a known set or a path, or {set: …} with further
// settings.
type Data struct {
	Set string `setting:"set,text" help:"known set, or path of a folder or file"`
	// OpenOptions say how the data and their classes are read.
	datasets.OpenOptions
	// 0 means all for both.
	Largest int `setting:"largest" default:"all" help:"number of classes to use, the largest first"`
	Samples int `setting:"samples" default:"all" help:"size of a random subset of the samples"`
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
