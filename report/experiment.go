package report

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/phrase"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

// Experiment is what is reported of an experiment, finished or not.
type Experiment struct {
	// Name heads the page and opens the tables' captions.
	Name string
	// Command is the command line that runs the experiment again.
	Command string
	// Settings are shown as they are, a name and a value each.
	Settings [][2]string
	// Methods are the columns of the tables; records of others are left out.
	Methods []string
	Records []pipeline.Record
	// Trials is how many records there are when the experiment is finished,
	// or 0 where that is not known.
	Trials int
	// Sweeps say which of the methods are one with several settings. What is
	// shown of one method at a time is shown of its best setting.
	Sweeps []pipeline.Sweep
	// Classes are the names of all classes. Where there are none, nothing is
	// shown of single classes.
	Classes []string
	// Tests say how tables tell differences from chance.
	Tests table.Tests
	// Bases are learned parts, and Coefficients what samples are made of, to be
	// shown as pictures.
	Bases        []Basis
	Coefficients []figure.Coefficients
	// Patches show the parts on photographs, and Words the visual words, or nil,
	// where the features are histograms of such.
	Patches []Patches
	Words   *Words
	// Warnings are shown before those of the records.
	Warnings []string
}

// experimentPage is the page of an experiment.
type experimentPage struct {
	page
	experiment Experiment
	// records are the finished ones, and tables those of each of their scores.
	records []pipeline.Record
	tables  []scoreTables
	looks   figure.Looks
	// peaks are the methods at their best by the first score, and shown what the
	// records call them: what is shown of one method at a time is shown of these.
	peaks []table.Peak
	shown []string
	// chosen tells that they were chosen among ranks or settings.
	chosen bool
}

// experimentSections lists the sections of the page, in their order.
var experimentSections = []func(*experimentPage) section{
	findingsSection,
	readingSection,
	scoresSection,
	drawnCountsSection,
	ranksSection,
	classesSection,
	convergenceSection,
	termsSection,
	partsSection,
	coefficientsSection,
	experimentPhotographs,
	experimentTimes,
}

// ExperimentFiles are what WriteExperiment writes: names of files and, with a slash at
// their ends, of folders.
var ExperimentFiles = []string{"index.html", "tables/", "curves/", "confusion/", "bases/", "coefficients/", "patches/", "words/", photographsFile}

// WriteExperiment writes into dir, which it makes if need be:
//
//	index.html                         the page
//	tables/SCORE.txt, .md, .csv, .tex
//	tables/page.js, data.js            by which the page sorts and copies them
//	tables/best-SCORE.txt, …           where there are several ranks or a sweep
//	tables/class-accuracy.txt, …       of a classification
//	curves/SCORE.png, .svg, .pdf
//	curves/SCORE-by-SETTING.png, .svg, .pdf  for each setting of a sweep
//	curves/convergence.png, .svg, .pdf       where the records have curves
//	curves/terms-METHOD.png, .svg, .pdf      for methods with a penalty
//	confusion/METHOD.png, .svg, .pdf         of a classification
//	bases/METHOD.png
//	coefficients/METHOD.png
//	patches/METHOD/examples.png, 1.png, …
//	words/1.png, …
//	photographs.json                   what of these the page shows
//
// for every score in the records ("AC free" is ac-free). Files of these names are
// replaced, others are left alone. Without Patches and Words the page shows those
// that were written before. Errors name the file. Once ctx is done its error is
// returned, and the files written by then stay. Where it counts times (internal/timing),
// the page shows them.
func WriteExperiment(ctx context.Context, dir string, e Experiment) error {
	w := &experimentPage{page: page{folder: folder{dir, ctx}, Name: e.Name, Command: e.Command, Settings: e.Settings, Styles: []string{pageCSS}}, experiment: e}
	w.records = table.Finished(e.Records, e.Methods)
	for _, score := range table.ScoresOf(w.records) {
		w.tables = append(w.tables, e.tablesOf(w.records, score))
	}
	first := &table.Table{Methods: e.Methods}
	if len(w.tables) > 0 {
		first = w.tables[0].all
	}
	w.looks, w.peaks = figure.NewLooks(e.Methods, e.Sweeps), table.Peaks(first, e.Sweeps)
	w.shown = table.Labels(w.peaks)
	w.chosen = first.ChoosesRank() || len(e.Sweeps) > 0
	w.Lead = e.lead(w.records, len(w.peaks))
	w.Warnings = append(slices.Clone(e.Warnings), e.TrialWarnings()...)
	if missing := e.Trials - len(w.records); missing > 0 {
		w.Note = fmt.Sprintf("This experiment is not finished: %s missing. The tables show what there is.", phrase.Count(missing, "trial is", "trials are"))
	}
	return w.writeSections(sections(w, experimentSections))
}

// Headlines are the tables of the scores that matter most.
func (e Experiment) Headlines() []*table.Document {
	var out []*table.Document
	for _, s := range eval.Scores() {
		if s.Prominence < eval.Headline {
			continue
		}
		if t := e.tablesOf(e.Records, s.Name); len(t.all.Rows) > 0 {
			out = append(out, t.document())
		}
	}
	return out
}

// lead sums an experiment up in a sentence.
func (e Experiment) lead(records []pipeline.Record, methods int) string {
	if len(records) == 0 {
		return "No trial of this experiment has finished yet."
	}
	var numbers []int
	task := "sort samples into groups"
	for _, r := range records {
		numbers = append(numbers, r.Classes)
		if r.Tested > 0 {
			task = "represent samples, which are then classified,"
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	classes := phrase.Numbers(numbers) + " classes"
	if len(numbers) == 1 {
		classes = phrase.Count(numbers[0], "class", "classes")
	}
	was := "were compared"
	if methods == 1 {
		was = "was tried"
	}
	settings := ""
	if len(e.Methods) > methods {
		settings = fmt.Sprintf(", in %d settings altogether,", len(e.Methods))
	}
	return fmt.Sprintf("%s that %s %s%s on samples of %s, in %s.",
		phrase.Count(methods, "method", "methods"), task, was, settings, classes, phrase.Count(len(records), "trial", "trials"))
}

// TrialWarnings says, a line each, what somebody should know of the finished trials: the warnings of
// each method's records, that it had not converged, and that a rank was chosen at the limit.
func (e Experiment) TrialWarnings() (lines []string) {
	records := table.Finished(e.Records, e.Methods)
	for _, method := range e.Methods {
		own := slices.DeleteFunc(slices.Clone(records), func(r pipeline.Record) bool { return r.Method != method })
		var texts []string
		trials := map[string]int{}
		for _, r := range own {
			for _, text := range r.Warnings {
				if trials[text]++; trials[text] == 1 {
					texts = append(texts, text)
				}
			}
		}
		for _, text := range texts {
			lines = append(lines, fmt.Sprintf("%s: %s (%s)", method, text, phrase.Count(trials[text], "trial", "trials")))
		}
		if text := pipeline.Unconverged(method, own); text != "" {
			lines = append(lines, text)
		}
	}
	draws := drawsOf(records, func(r pipeline.Record) bool { return r.Choice != nil })
	limited := slices.DeleteFunc(slices.Clone(draws), func(r pipeline.Record) bool { return !r.Choice.AtLimit(r.Samples) })
	if len(limited) > 0 {
		largest := slices.MaxFunc(limited, func(a, b pipeline.Record) int { return a.Choice.Rank - b.Choice.Rank })
		lines = append(lines, largest.Choice.AtLimitNote(fmt.Sprintf(" in %d of %s", len(limited), phrase.Count(len(draws), "draw", "draws"))))
	}
	return lines
}
