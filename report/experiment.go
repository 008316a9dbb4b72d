package report

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

// Experiment is the content of the page of an experiment, finished or not. Records of methods that the summary
// does not list are ignored; without its Classes nothing is shown of single classes.
type Experiment struct {
	*pipeline.Summary
	Records      []record.Record
	Bases        []Basis               // learned parts
	Coefficients []figure.Coefficients // representations of samples
	Shown        *models.Illustrations // parts and visual words on photos, or nil
	progress     *counter
}

// Sources are what a report needs besides results. All may be nil.
type Sources struct {
	Shown     *models.Illustrations // parts and visual words on photos; without it those that were shown before
	Warn      func(text string)     // receives what is not shown and why
	Progress  func(done, total int) // called after each photo that was read, by one goroutine at a time
	Published func() error          // called when a grouping stands in its folder, which is still locked
}

func (s Sources) warn(format string, a ...any) string {
	text := fmt.Sprintf(format, a...)
	if s.Warn != nil {
		s.Warn(text)
	}
	return text
}

// counter counts the work of several goroutines. A nil counter counts nothing.
type counter struct {
	mu          sync.Mutex
	done, total int
	progress    func(done, total int)
}

func (c *counter) count(done, total int) {
	if c != nil && c.progress != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.done, c.total = c.done+done, c.total+total; done > 0 {
			c.progress(c.done, c.total)
		}
	}
}

func (c *counter) step()     { c.count(1, 0) }
func (c *counter) add(n int) { c.count(0, n) }

type experimentPage struct {
	page
	experiment Experiment
	records    []record.Record // the finished ones
	tables     []scoreTables   // of each of their scores
	looks      figure.Looks
	// peaks are the methods at their best by the first score, and shown their names in the records. Each section
	// that shows single methods shows these. They may be chosen among ranks or settings.
	peaks  []table.Peak
	shown  []string
	chosen bool
}

var experimentSections = []section[*experimentPage]{
	{template: stored("findings"), make: findings},
	{id: "reading", title: "How to read this", template: stored("reading"), make: reading},
	{id: "scores", title: "Scores", template: stored("scores"), make: scores},
	{id: "how-many", title: "How many groups", template: stored("drawn-counts"), make: drawnCounts},
	{id: "ranks", title: "The rank", template: stored("ranks"), make: ranks},
	{id: "classes", title: "Single classes", template: stored("classes"), make: classes},
	{id: "convergence", title: "Convergence", template: stored("convergence"), make: convergence},
	{id: "terms", title: "The objective", template: stored("terms"), make: terms},
	{id: "parts", title: "Learned parts", template: stored("parts"), make: parts},
	{id: "coefficients", title: "Descriptions", template: stored("coefficients"), make: coefficients},
	{template: stored("photographs"), make: experimentPhotographs},
	{id: "times", title: "Times", template: stored("times"), make: experimentTimes},
}

// ExperimentFiles are what WriteExperiment writes: names of files and, with a slash at their ends, of folders.
var ExperimentFiles = []string{"index.html", "tables/", "curves/", "confusion/", "bases/", "coefficients/", "patches/", "words/", photographsFile}

// WriteExperiment writes ExperimentFiles into dir, which it creates if needed: the page, and for each score,
// method and section of it the tables, curves and pictures that docs/experiments.md lists. Without Shown the
// page shows the photos that were written before. Once ctx is done its error is returned, and the files written
// by then stay. If it counts times (internal/timing), the page shows them.
//
//	index.html                         the page
//	tables/SCORE.txt, .md, .csv, .tex
//	tables/page.js, data.js            by which the page sorts and copies them
//	tables/best-SCORE.txt, …           for several ranks or a sweep
//	tables/class-accuracy.txt, …       of a classification
//	curves/SCORE.png, .svg, .pdf
//	curves/SCORE-by-SETTING.png, .svg, .pdf  for each setting of a sweep
//	curves/convergence.png, .svg, .pdf       if the records have curves
//	curves/terms-METHOD.png, .svg, .pdf      for methods with a penalty
//	confusion/METHOD.png, .svg, .pdf         of a classification
//	bases/METHOD.png
//	coefficients/METHOD.png
//	patches/METHOD/examples.png, 1.png, …
//	words/1.png, …
//	photographs.json                   what the page shows of the last two
//
// for every score in the records ("AC free" is ac-free). Without Shown the page shows the photos that were
// written before. Once ctx is done its error is returned, and the files written by then stay.
// If it counts times (internal/timing), the page shows them.
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
	w.Note = unfinished(len(e.Trials) - len(w.records))
	return write(&w.page, w, experimentSections)
}

func unfinished(missing int) string {
	if missing <= 0 {
		return ""
	}
	return fmt.Sprintf("This experiment is not finished: %s missing. The tables show what there is.", phrase.Count(missing, "trial is", "trials are"))
}

// Publish replaces the pages of an experiment's results by new ones, made of its log and its saved models.
func Publish(ctx context.Context, folder *results.Folder, from Sources) (*Experiment, error) {
	e, err := readExperiment(folder.Dir(), from)
	if err != nil {
		return nil, err
	}
	e.Shown, e.progress = from.Shown, &counter{progress: from.Progress}
	return e, folder.Publish(func(staging string) (keep []string, err error) {
		if from.Shown == nil {
			if keep, err = copyPhotographs(staging, folder.Dir()); err != nil {
				return nil, err
			}
		}
		return keep, WriteExperiment(ctx, staging, *e)
	})
}

func readExperiment(dir string, from Sources) (*Experiment, error) {
	s, err := results.ReadSummary(dir)
	if err != nil {
		return nil, err
	}
	records, err := results.Records(dir, s)
	if err != nil {
		return nil, err
	}
	e := &Experiment{Summary: s, Records: records}
	warn := func(format string, a ...any) { s.Warnings = append(s.Warnings, from.warn(format, a...)) }
	if s.Program != "" {
		s.Settings = append(s.Settings, programSetting(s.Program))
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
	var classes []int
	for _, sample := range s.Samples {
		classes = append(classes, sample.Class)
	}
	coefficients, others := results.Coefficients(dir, s)
	for i, method := range s.Methods {
		if v := coefficients[i]; v != nil {
			e.Coefficients = append(e.Coefficients, figure.Coefficients{Method: method, Values: v, Classes: classes})
		}
		switch {
		case damaged[i] != nil:
			warn("what %s learned is not shown: %v", method, damaged[i])
		case others[i] != nil:
			warn("the descriptions by %s are not shown: %v", method, others[i])
		}
	}
	return e, nil
}

// Headlines are the tables of the scores that matter most, over all samples.
func (e Experiment) Headlines() []*table.Document { return e.headlines(e.Records, false) }

func (e Experiment) headlines(records []record.Record, unlabelled bool) (out []*table.Document) {
	for _, name := range table.ScoresOf(records) {
		if s, _ := eval.FindScore(name); s.Prominence < eval.Headline || s.Unlabelled && !unlabelled {
			continue
		}
		if t := e.tablesOf(records, name); len(t.all.Rows) > 0 {
			out = append(out, t.first().Document())
		}
	}
	return out
}

// lead sums an experiment up in a sentence.
func (e Experiment) lead(records []record.Record, methods int) string {
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

// TrialWarnings returns a line for each warning of a method's finished trials, for each method that had
// not converged, and for ranks chosen at the limit.
func (e Experiment) TrialWarnings() (lines []string) {
	records := table.Finished(e.Records, e.Methods)
	for _, method := range e.Methods {
		own := slices.DeleteFunc(slices.Clone(records), func(r record.Record) bool { return r.Method != method })
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
		if text := record.Unconverged(method, own); text != "" {
			lines = append(lines, text)
		}
	}
	draws := drawsOf(records, func(r record.Record) bool { return r.Choice != nil })
	limited := slices.DeleteFunc(slices.Clone(draws), func(r record.Record) bool { return !r.Choice.AtLimit(r.Samples) })
	if len(limited) > 0 {
		largest := slices.MaxFunc(limited, func(a, b record.Record) int { return a.Choice.Rank - b.Choice.Rank })
		lines = append(lines, largest.Choice.AtLimitNote(fmt.Sprintf(" in %d of %s", len(limited), phrase.Count(len(draws), "draw", "draws"))))
	}
	return lines
}

// reading explains the page to somebody who has never seen one.
func reading(w *experimentPage) any {
	return struct{ Labelled, Tested bool }{
		slices.ContainsFunc(w.records, func(r record.Record) bool { return r.Labelled > 0 && r.Tested == 0 }),
		slices.ContainsFunc(w.records, func(r record.Record) bool { return r.Tested > 0 }),
	}
}
