package report

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

// Sets is the content of the page of an experiment on several sets.
type Sets struct {
	Name, Command string        // the heading, and the command that runs the experiment again
	Names         []string      // of the folders of the sets' own pages
	Sets          []*Experiment // on the single sets
	Tests         table.Tests   // of methods over sets
}

// SetsFiles are what WriteSets writes.
var SetsFiles = []string{"index.html", "tables/", "curves/"}

type setsPage struct {
	page
	sets   Sets
	across []*table.Sets // the comparisons over the sets, of each score
}

var setsSections = []section[*setsPage]{
	{template: stored("findings"), make: setsFindings},
	{id: "across", title: "Over all sets", template: stored("across"), make: across},
	{id: "sets", title: "Each set", template: stored("each-set"), make: eachSet},
}

// PublishSets replaces the page of an experiment on several sets by a new one, made of the results of
// the sets in the folder. It leaves out sets without results, with a warning.
func PublishSets(ctx context.Context, folder *results.Folder, from Sources) (*Sets, error) {
	list, err := results.ReadSets(folder.Dir())
	if err != nil {
		return nil, err
	}
	if list == nil {
		return nil, fmt.Errorf("%s holds no results of several sets", folder.Dir())
	}
	s := &Sets{Name: list.Name, Command: list.Command, Tests: table.Tests{Rule: list.Significance}}
	for _, name := range list.Sets {
		dir := filepath.Join(folder.Dir(), name)
		if _, err := os.Lstat(filepath.Join(dir, results.SummaryFile)); errors.Is(err, fs.ErrNotExist) {
			from.warn("%s has no results yet, and is left out", name)
			continue
		}
		e, err := readExperiment(dir, from)
		if err != nil {
			return nil, err
		}
		s.Names, s.Sets = append(s.Names, name), append(s.Sets, e)
	}
	return s, folder.Publish(func(staging string) ([]string, error) { return nil, WriteSets(ctx, staging, *s) })
}

// WriteSets writes into dir, which it creates if needed, index.html, and for each score tables/SCORE-sets.txt,
// … (means and average ranks), tables/SCORE-pairs.txt, … (all pairs of methods) and curves/SCORE-ranks.png, …
// (the critical-difference diagram). The page links those of the sets, NAME/index.html.
//
//	index.html                             the page
//	tables/SCORE-sets.txt, .md, .csv, .tex   the means on each set and the average ranks
//	tables/SCORE-pairs.txt, …                all pairs of methods over the sets
//	curves/SCORE-ranks.png, .svg, .pdf       the critical-difference diagram
//
// The page links those of the sets, NAME/index.html.
func WriteSets(ctx context.Context, dir string, s Sets) error {
	w := &setsPage{page: page{folder: folder{dir, ctx}, Name: s.Name, Command: s.Command, Styles: []string{pageCSS}}, sets: s, across: s.across()}
	missing := 0
	for i, e := range s.Sets {
		missing += max(0, len(e.Trials)-len(table.Finished(e.Records, e.Methods)))
		for _, text := range slices.Concat(e.Warnings, e.TrialWarnings()) {
			w.Warnings = append(w.Warnings, s.Names[i]+": "+text)
		}
	}
	w.Note = unfinished(missing)
	w.Lead = fmt.Sprintf("An experiment on %s: %s.", phrase.Count(len(s.Sets), "set", "sets"), phrase.List(s.Names))
	return write(&w.page, w, setsSections)
}

// across compares the methods over the sets by each score.
func (s Sets) across() []*table.Sets {
	tables := map[string][]table.SetTable{}
	var names []string
	for i, e := range s.Sets {
		for _, name := range table.ScoresOf(e.Records) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			if t := e.tablesOf(e.Records, name); len(t.all.Rows) > 0 {
				tables[name] = append(tables[name], table.SetTable{Set: s.Names[i], Table: t.all, Best: t.best})
			}
		}
	}
	slices.SortFunc(names, eval.CompareScores)
	var out []*table.Sets
	for _, name := range names {
		score, _ := eval.FindScore(name)
		if a := table.NewSets(s.Name, score, tables[name], s.Tests); a != nil {
			out = append(out, a)
		}
	}
	return out
}

// Headlines are the tables over the sets of the scores that matter most.
func (s Sets) Headlines() []*table.Document {
	var out []*table.Document
	for _, a := range s.across() {
		if a.Score.Prominence >= eval.Headline {
			out = append(out, a.Document(), a.Matrix())
		}
	}
	return out
}

// setsFindings says in a few sentences which methods are the best over the sets.
func setsFindings(w *setsPage) any {
	var found []string
	for _, a := range w.across {
		if a.Score.Prominence > eval.Minor {
			found = append(found, a.Finding())
		}
	}
	return unlessEmpty(found)
}

type acrossView struct {
	Title        string
	Means, Pairs *tableView
	Ranks        *figureView
}

// across compares the methods over the sets.
func across(w *setsPage) any {
	if len(w.across) == 0 {
		return nil
	}
	var view byProminence[acrossView]
	for name, a := range withSafeNames(w.across, func(a *table.Sets) string { return a.Score.Name }) {
		ranks, err := figure.Ranks(a.Methods, a.Ranks, a.Groups)
		view.add(a.Score, acrossView{
			Title: a.Score.Title, Means: w.table(name+"-sets", a.Document()), Pairs: w.table(name+"-pairs", a.Matrix()),
			Ranks: w.figure("curves/"+name+"-ranks", "The average ranks of the methods over the sets, with bars over those that do not differ, drawn from the tables.", ranks, err),
		})
	}
	return view
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
	return unlessEmpty(views)
}
