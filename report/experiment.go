package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

// Experiment is the content of the page of an experiment, finished or not. Records of methods that are not in the
// summary are ignored. If Classes is empty, the page shows nothing about single classes.
type Experiment struct {
	*pipeline.Summary
	Records      []record.Record
	Bases        []Basis               // the learned bases
	Coefficients []figure.Coefficients // the representations of samples
	Shown        *models.Illustrations // parts and visual words on photos, or nil
	count        func(done, total int) // counts the photos, or nil
}

// Sources are optional inputs and callbacks of a report besides results. All may be nil.
type Sources struct {
	Shown     *models.Illustrations // parts and visual words on photos; nil keeps the published ones
	Warn      func(text string)     // receives warnings about parts of the page that are missing
	Progress  func(done, total int) // called after each photo; calls do not overlap
	Published func() error          // called when a grouping is complete in its folder, which is still locked
}

func (s Sources) warn(format string, a ...any) string {
	text := fmt.Sprintf(format, a...)
	if s.Warn != nil {
		s.Warn(text)
	}
	return text
}

// counting returns a function for several goroutines that adds to the done and to the total work, and reports both.
func counting(progress func(done, total int)) (add func(done, total int)) {
	var mu sync.Mutex
	var sumDone, sumTotal int
	return func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if sumDone, sumTotal = sumDone+done, sumTotal+total; done > 0 && progress != nil {
			progress(sumDone, sumTotal)
		}
	}
}

type experimentPage struct {
	page
	experiment Experiment
	records    []record.Record // of finished trials
	tables     []scoreTables   // by score
	looks      figure.Looks
	// peaks are the methods at their best by the first score, with the best rank or setting. shownMethods are their names in
	// the records; every section on single methods shows these.
	peaks        []table.Peak
	shownMethods []string
	chosen       bool
}

var experimentSections = []section[*experimentPage]{
	{template: readTemplate("findings"), make: findings},
	{id: "reading", title: "How to read this page", template: readTemplate("reading"), make: reading},
	{id: "scores", title: "Scores", template: readTemplate("scores"), make: scores},
	{id: "how-many", title: "Number of clusters", template: readTemplate("drawn-counts"), make: drawnCounts},
	{id: "ranks", title: "Rank", template: readTemplate("ranks"), make: ranks},
	{id: "classes", title: "Results by class", template: readTemplate("classes"), make: classes},
	{id: "convergence", title: "Convergence", template: readTemplate("convergence"), make: convergence},
	{id: "terms", title: "Terms of the objective", template: readTemplate("terms"), make: terms},
	{id: "parts", title: "Learned parts", template: readTemplate("parts"), make: partsOfMethods},
	{id: "coefficients", title: "Coefficients", template: readTemplate("coefficients"), make: coefficients},
	{template: readTemplate("photographs"), make: experimentPhotographs},
	{id: "times", title: "Times", template: readTemplate("times"), make: experimentTimes},
}

// ExperimentFiles are the files and, with a slash at the end, the folders that WriteExperiment writes.
var ExperimentFiles = []string{"index.html", "tables/", "curves/", "confusion/", "bases/", "coefficients/", "patches/", "words/", photographsFile}

// WriteExperiment writes ExperimentFiles into dir, which it creates if needed: the page, and the tables, curves and
// pictures that docs/reference/results-folder.md lists. Without Shown the page keeps the photos of the page in dir, if any.
// If ctx ends, it returns the error of ctx, and leaves the files written so far. If ctx counts times (internal/timing),
// the page shows them.
func WriteExperiment(ctx context.Context, dir string, e Experiment) error {
	w := &experimentPage{page: page{folder: folder{dir, ctx}, Name: e.Name, Command: e.Command, Settings: e.Settings, Styles: []string{pageCSS}}, experiment: e}
	w.records = table.Finished(e.Records, e.Methods)
	w.tables = lists.Map(table.ScoresOf(w.records), func(score string) scoreTables { return e.tablesOf(w.records, score) })
	first := &table.Table{Methods: e.Methods}
	if len(w.tables) > 0 {
		first = w.tables[0].all
	}
	w.looks, w.peaks = figure.NewLooks(e.Methods, e.Sweeps), table.Peaks(first, e.Sweeps)
	w.shownMethods = table.Labels(w.peaks)
	w.chosen = first.ChoosesRank() || len(e.Sweeps) > 0
	w.Lead = e.lead(w.records, len(w.peaks))
	w.Warnings = append(slices.Clone(e.Warnings), e.TrialWarnings()...)
	w.Note = unfinished(len(e.Trials) - len(w.records))
	return writePage(&w.page, w, experimentSections)
}

func unfinished(missing int) string {
	if missing <= 0 {
		return ""
	}
	return fmt.Sprintf("This experiment is not finished: %s missing. Tables show the finished trials.", phrase.Count(missing, "trial is", "trials are"))
}

// Publish replaces the pages of an experiment's results by new ones from its log and saved models.
func Publish(ctx context.Context, folder *results.Folder, from Sources) (_ *Experiment, err error) {
	defer guard.Catch(&err)
	e := readExperiment(folder.Dir(), from)
	e.Shown, e.count = from.Shown, counting(from.Progress)
	return e, folder.Publish(func(staging string) (keep []string, err error) {
		if from.Shown == nil {
			keep = copyPhotographs(staging, folder.Dir())
		}
		return keep, WriteExperiment(ctx, staging, *e)
	})
}

// readExperiment calls guard.Fail.
func readExperiment(dir string, from Sources) *Experiment {
	s := guard.Must(results.ReadSummary(dir))
	e := &Experiment{Summary: s, Records: guard.Must(results.Records(dir, s))}
	warn := func(format string, a ...any) { s.Warnings = append(s.Warnings, from.warn(format, a...)) }
	if s.Program != "" {
		s.Settings = append(s.Settings, programSetting(s.Program))
	}
	models, damaged := results.Models(dir, s)
	for i, m := range models {
		if m == nil || m.Vectors() == nil || s.Height == 0 {
			continue
		}
		pixels := input.Pixels{From: s.From, Height: s.Height, Width: s.Width, Channels: max(s.Channels, 1)}
		b := Basis{Method: s.Methods[i], Height: s.Height, Width: s.Width, Channels: s.Channels}
		if rows, _ := m.Vectors().Dims(); rows != cmp.Or(s.Columns, s.Height*s.Width*pixels.Channels) {
			warn("the parts of %s are not shown: the basis vectors in %s have %d values, but the images have %d×%d pixels in %d channel(s)",
				b.Method, filepath.Join(dir, results.ModelDir, s.Models[i]), rows, s.Height, s.Width, pixels.Channels)
			continue
		}
		b.Vectors = pixels.Of(m.Vectors())
		e.Bases = append(e.Bases, b)
	}
	classes := lists.Map(s.Samples, func(s pipeline.Sample) int { return s.Class })
	coefficients, others := results.Coefficients(dir, s)
	for i, method := range s.Methods {
		if v := coefficients[i]; v != nil {
			e.Coefficients = append(e.Coefficients, figure.Coefficients{Method: method, Values: v, Classes: classes})
		}
		switch {
		case damaged[i] != nil:
			warn("the parts of %s are not shown: %v", method, damaged[i])
		case others[i] != nil:
			warn("the coefficients of %s are not shown: %v", method, others[i])
		}
	}
	return e
}

// Headlines returns the tables of the main scores, over all samples.
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

func (e Experiment) lead(records []record.Record, methods int) string {
	if len(records) == 0 {
		return "No trial of this experiment has finished."
	}
	numbers := slices.Compact(slices.Sorted(slices.Values(lists.Map(records, func(r record.Record) int { return r.Classes }))))
	task := "Clustering"
	if classifies(records) {
		task = "Classification"
	}
	classes := phrase.Numbers(numbers) + " classes"
	if len(numbers) == 1 {
		classes = phrase.Count(numbers[0], "class", "classes")
	}
	settings := ""
	if len(e.Methods) > methods {
		settings = fmt.Sprintf(" in %d settings", len(e.Methods))
	}
	return fmt.Sprintf("%s with %s: %s%s, %s.",
		task, classes, phrase.Count(methods, "method", "methods"), settings, phrase.Count(len(records), "trial", "trials"))
}

func classifies(records []record.Record) bool {
	return slices.ContainsFunc(records, func(r record.Record) bool { return r.Tested > 0 })
}

// TrialWarnings returns one line for each warning of a method's finished trials, for each method that has not
// converged, and for ranks chosen at their limit.
func (e Experiment) TrialWarnings() (lines []string) {
	records := table.Finished(e.Records, e.Methods)
	for _, method := range e.Methods {
		own := slices.DeleteFunc(slices.Clone(records), func(r record.Record) bool { return r.Method != method })
		all := slices.Concat(lists.Map(own, func(r record.Record) []string { return r.Warnings })...)
		for _, text := range lists.Unique(all) {
			trials := len(slices.DeleteFunc(slices.Clone(all), func(other string) bool { return other != text }))
			lines = append(lines, fmt.Sprintf("%s: %s (%s)", method, text, phrase.Count(trials, "trial", "trials")))
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

func reading(w *experimentPage) any {
	labelled := slices.ContainsFunc(w.records, func(r record.Record) bool { return r.Labelled > 0 && r.Tested == 0 })
	return struct{ Labelled, Tested bool }{labelled, classifies(w.records)}
}

// Sets is the content of the page of an experiment on several sets.
type Sets struct {
	Name, Command string        // the heading, and the command that repeats the experiment
	Names         []string      // the folders of the sets' own pages
	Sets          []*Experiment // the results on each set
	Tests         table.Tests   // of methods over sets
}

// SetsFiles are the files and folders that WriteSets writes.
var SetsFiles = []string{"index.html", "tables/", "curves/"}

type setsPage struct {
	page
	sets   Sets
	across []*table.Sets // the comparison over the sets by each score
}

var setsSections = []section[*setsPage]{
	{template: readTemplate("findings"), make: setsFindings},
	{id: "across", title: "All sets", template: readTemplate("across"), make: across},
	{id: "sets", title: "Each set", template: readTemplate("each-set"), make: eachSet},
}

// PublishSets replaces the page of an experiment on several sets by a new one from the results of the sets in the
// folder. It leaves out sets without results and warns about them.
func PublishSets(ctx context.Context, folder *results.Folder, from Sources) (_ *Sets, err error) {
	defer guard.Catch(&err)
	list := guard.Must(results.ReadSets(folder.Dir()))
	guard.FailIf(list == nil, "%s has no results of several sets", folder.Dir())
	s := &Sets{Name: list.Name, Command: list.Command, Tests: table.Tests{Rule: list.Significance}}
	for _, name := range list.Sets {
		dir := filepath.Join(folder.Dir(), name)
		if _, err := os.Lstat(filepath.Join(dir, results.SummaryFile)); errors.Is(err, fs.ErrNotExist) {
			from.warn("%s has no results yet and is left out", name)
			continue
		}
		s.Names, s.Sets = append(s.Names, name), append(s.Sets, readExperiment(dir, from))
	}
	return s, folder.Publish(func(staging string) ([]string, error) { return nil, WriteSets(ctx, staging, *s) })
}

// WriteSets writes the page into dir, which it creates if needed. Besides index.html it writes for each score means and
// average ranks (tables/SCORE-sets.txt, …), all pairs of methods (tables/SCORE-pairs.txt, …) and the
// critical-difference diagram (curves/SCORE-ranks.png, …). The page links to NAME/index.html of each set.
func WriteSets(ctx context.Context, dir string, s Sets) error {
	w := &setsPage{page: page{folder: folder{dir, ctx}, Name: s.Name, Command: s.Command, Styles: []string{pageCSS}}, sets: s, across: s.compareMethods()}
	missing := 0
	for i, e := range s.Sets {
		missing += max(0, len(e.Trials)-len(table.Finished(e.Records, e.Methods)))
		all := slices.Concat(e.Warnings, e.TrialWarnings())
		w.Warnings = append(w.Warnings, lists.Map(all, func(text string) string { return s.Names[i] + ": " + text })...)
	}
	w.Note = unfinished(missing)
	w.Lead = fmt.Sprintf("Experiment on %s: %s.", phrase.Count(len(s.Sets), "set", "sets"), phrase.List(s.Names))
	return writePage(&w.page, w, setsSections)
}

func (s Sets) compareMethods() []*table.Sets {
	tables := map[string][]table.SetTable{}
	for i, e := range s.Sets {
		for _, name := range table.ScoresOf(e.Records) {
			if t := e.tablesOf(e.Records, name); len(t.all.Rows) > 0 {
				tables[name] = append(tables[name], table.SetTable{Set: s.Names[i], Table: t.all, Best: t.best})
			}
		}
	}
	var out []*table.Sets
	for _, name := range slices.SortedFunc(maps.Keys(tables), eval.CompareScores) {
		score, _ := eval.FindScore(name)
		if a := table.NewSets(s.Name, score, tables[name], s.Tests); a != nil {
			out = append(out, a)
		}
	}
	return out
}

// Headlines returns the tables over the sets of the main scores.
func (s Sets) Headlines() []*table.Document {
	var out []*table.Document
	for _, a := range s.compareMethods() {
		if a.Score.Prominence >= eval.Headline {
			out = append(out, a.Document(), a.Matrix())
		}
	}
	return out
}

func setsFindings(w *setsPage) any {
	var found []string
	for _, a := range w.across {
		if a.Score.Prominence > eval.Minor {
			found = append(found, a.Finding())
		}
	}
	return found
}

type acrossView struct {
	eval.Score
	Minor        bool // below the main scores
	Means, Pairs *tableView
	Ranks        *figureView
}

func across(w *setsPage) any {
	var views []acrossView
	for name, a := range withSafeNames(w.across, func(a *table.Sets) string { return a.Score.Name }) {
		ranks, err := figure.Ranks(a.Methods, a.Ranks, a.Groups)
		views = append(views, acrossView{
			Score: a.Score, Minor: a.Score.Prominence == eval.Minor, Means: w.table(name+"-sets", a.Document()), Pairs: w.table(name+"-pairs", a.Matrix()),
			Ranks: w.figure("curves/"+name+"-ranks", "Average ranks of the methods over the sets, with bars over methods that do not differ.", ranks, err),
		})
	}
	return views
}

type eachSetView struct {
	Name, Page, Lead string
	Tables           []template.HTML
}

func eachSet(w *setsPage) any {
	var views []eachSetView
	for i, e := range w.sets.Sets {
		records := table.Finished(e.Records, e.Methods)
		v := eachSetView{Name: w.sets.Names[i], Page: w.sets.Names[i] + "/index.html"}
		for _, d := range e.headlines(records, true) {
			v.Lead = e.lead(records, len(e.Methods))
			v.Tables = append(v.Tables, w.inHTML(d))
		}
		views = append(views, v)
	}
	return views
}
