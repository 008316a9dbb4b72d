package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/output"
	"github.com/seed4492f2cd/partwise/vocab"
)

// Results is the folder of an experiment's results, open for writing by this
// process alone.
type Results struct {
	folder *output.Folder
	pages  []string
}

// runFiles are the names of what Run writes.
var runFiles = []string{LogFile, SummaryFile, SamplesFile, ModelDir + "/"}

// OpenResults opens the folder dir for the results of the experiment, and makes it
// if need be. pages are the names of what Publish will write there, folders with
// a slash at their ends. It is an error if another process has the folder, if it
// cannot be written, if it holds the results of another experiment, or if a file
// stands under a name that will be written which partwise did not write or which
// was changed since. The folder is not touched then.
//
// Two experiments are one as long as they differ only in methods, numbers of
// classes, ranks, repeats and the name, so that they may share trials.
func OpenResults(dir string, e *Experiment, pages ...string) (*Results, error) {
	if s, err := readSummary(dir); err == nil {
		if err := s.sameExperiment(dir, e); err != nil {
			return nil, err
		}
	}
	return openResults(dir, append(slices.Clone(runFiles), pages...), pages)
}

// ReopenResults opens the folder dir of an experiment's results to write pages
// about them, as OpenResults does. It is an error if there are no results.
func ReopenResults(dir string, pages ...string) (*Results, error) {
	if _, err := ReadSummary(dir); err != nil {
		return nil, err
	}
	return openResults(dir, pages, pages)
}

func openResults(dir string, names, pages []string) (*Results, error) {
	folder, err := output.Open(dir, output.Spec{Command: "run", Names: names, Adopt: recognise})
	if err != nil {
		return nil, err
	}
	return &Results{folder, pages}, nil
}

// Dir returns the folder as it was given to OpenResults.
func (r *Results) Dir() string { return r.folder.Dir() }

// Close gives the folder to others. It removes the folder if OpenResults made it
// and nothing was written.
func (r *Results) Close() error { return r.folder.Close() }

// Publish replaces the pages by what write writes into a folder that it is given,
// and does so when all of it is there. What it does not write is removed, but
// for the names that it returns.
func (r *Results) Publish(write func(dir string) (keep []string, err error)) error {
	stage, err := r.folder.Stage(r.pages...)
	if err != nil {
		return err
	}
	defer stage.Discard()
	keep, err := write(stage.Dir())
	if err != nil {
		return err
	}
	stage.Keep(keep...)
	return stage.Publish()
}

// begin makes the folder ready for the trials of a plan. Pages about other
// trials are removed.
func (r *Results) begin(p *Plan) error {
	s := p.Summary()
	if old, err := ReadSummary(r.Dir()); err == nil && old.sameTrials(s) {
		return r.folder.Append(LogFile)
	}
	if err := r.folder.Clear(r.pages...); err != nil {
		return err
	}
	if err := r.folder.Append(LogFile); err != nil {
		return err
	}
	return s.write(r.folder)
}

// modelName is the form of the names of saved models.
var modelName = regexp.MustCompile(`^.+-[0-9a-f]{16}\.npz$`)

// recognise returns the files of an experiment's folder that an earlier version
// wrote, which kept no list of them. A folder is taken up only if its log and its
// summary can be read to the last line; pages, which might be anybody's, are not.
func recognise(dir string) ([]string, error) {
	if _, err := ReadSummary(dir); err != nil {
		return nil, nil
	}
	records, damaged, err := ReadLog(dir)
	if err != nil || len(records) == 0 || len(damaged) > 0 {
		return nil, nil
	}
	names := []string{LogFile, SummaryFile}
	if _, err := os.Lstat(filepath.Join(dir, SamplesFile)); err == nil {
		names = append(names, SamplesFile) // which ReadSummary read
	}
	models, err := os.ReadDir(filepath.Join(dir, ModelDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range models {
		path := filepath.Join(dir, ModelDir, e.Name())
		if !e.Type().IsRegular() {
			continue
		}
		ours := false
		switch {
		case e.Name() == WordsFile:
			ours = isVocabulary(path)
		case modelName.MatchString(e.Name()):
			_, err := loadModel(path)
			ours = err == nil || errors.Is(err, factor.ErrNoModel)
		}
		if ours {
			names = append(names, ModelDir+"/"+e.Name())
		}
	}
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err != nil || !info.Mode().IsRegular() {
			return nil, nil
		}
	}
	return names, nil
}

func isVocabulary(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	_, err = vocab.Load(context.Background(), f, info.Size())
	return err == nil
}

// shared returns the settings that all trials of an experiment share, in words.
func (e *Experiment) shared() [][2]string {
	s := [][2]string{
		{"task", e.Task.String()},
		{"data", e.Data.String()},
		{"features", e.Features.String()},
	}
	if e.Task == Classification {
		s = append(s, [][2]string{
			{"to train", e.Train.String()},
			{"to test", e.Test.String()},
			{"classification", e.Neighbours.String()},
		}...)
	} else {
		s = append(s, [][2]string{
			{"labels", e.Labels.String()},
			{"links", e.Links.String()},
			{"clustering", e.Cluster.String()},
		}...)
	}
	s = append(s, [2]string{"seed", fmt.Sprint(uint64(e.Seed))})
	for i := range s {
		s[i][1] = inUTF8(s[i][1])
	}
	return s
}

// String returns the data in words: the set as it was named, and its settings.
func (d Data) String() string {
	words := []string{d.Set}
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+" "+value)
		}
	}
	number := func(name string, n int) {
		if n > 0 {
			add(name, fmt.Sprint(n))
		}
	}
	add("from", d.From)
	add("part", d.Part)
	add("pattern", d.Pattern)
	add("labels", d.Labels)
	if d.Pool {
		add("pool", "true")
	}
	add("fea", d.Fea)
	add("gnd", d.Gnd)
	if d.Height > 0 {
		add("shape", fmt.Sprintf("%dx%d", d.Height, d.Width))
	}
	number("largest", d.Largest)
	number("samples", d.Samples)
	return strings.Join(words, ", ")
}

// sameExperiment returns an error that says how e differs from the experiment
// whose results are in dir, in what all of its trials share. A summary of an
// earlier version, which does not say what that is, passes where the settings
// that it shows are the same.
func (s *Summary) sameExperiment(dir string, e *Experiment) error {
	there := s.Shared
	if there == nil {
		there = s.Settings
	}
	was := map[string]string{}
	for _, setting := range there {
		was[setting[0]] = setting[1]
	}
	var old, now []string
	for _, setting := range e.shared() {
		value, known := was[setting[0]]
		if !known && s.Shared == nil || setting[0] == "data" && (s.Shared == nil || sameData(value, setting[1])) || value == setting[1] {
			continue
		}
		old, now = append(old, setting[0]+": "+value), append(now, setting[0]+": "+setting[1])
	}
	if old == nil {
		return nil
	}
	return fmt.Errorf("%s holds the results of the experiment %s with %s, and the experiment %s has %s: give it a name or a folder of its own",
		dir, s.Name, strings.Join(old, "; "), e.Name, strings.Join(now, "; "))
}

// sameData tells whether two descriptions of data name the same path in other
// words, as ./photos and photos.
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

// sameTrials tells whether two summaries are of the same trials and show them
// alike.
func (s *Summary) sameTrials(other *Summary) bool {
	return s.Name == other.Name && slices.Equal(s.Trials, other.Trials) && slices.Equal(s.Settings, other.Settings) &&
		slices.Equal(s.Methods, other.Methods) && slices.Equal(s.Shared, other.Shared)
}
