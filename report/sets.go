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
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

// Sets is what is reported of an experiment on several sets.
type Sets struct {
	// Name heads the page, and Command runs the experiment again.
	Name, Command string
	// Sets are the experiments on the single sets, and Names what these are called, which is where
	// their own pages are.
	Names []string
	Sets  []*Experiment
	// Tests say how methods are compared over sets.
	Tests table.Tests
}

// SetsFiles are what WriteSets writes.
var SetsFiles = []string{"index.html", "tables/", "curves/"}

// setsPage is the page of an experiment on several sets.
type setsPage struct {
	page
	sets Sets
	// across are the comparisons over the sets, of each score.
	across []*table.Sets
}

// setsSections lists the sections of the page, in their order.
var setsSections = []func(*setsPage) section{setsFindings, acrossSection, eachSetSection}

// PublishSets replaces the page of an experiment on several sets by a new one, made of the
// results of the sets in the folder. Sets that have none are left out, which is said.
func PublishSets(ctx context.Context, folder *results.Folder, from Sources) (*Sets, error) {
	of, err := results.ReadSets(folder.Dir())
	if err != nil {
		return nil, err
	}
	if of == nil {
		return nil, fmt.Errorf("%s holds no results of several sets", folder.Dir())
	}
	s := &Sets{Name: of.Name, Command: of.Command, Tests: table.Tests{Rule: of.Significance}}
	for _, name := range of.Sets {
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

// WriteSets writes into dir, which it makes if need be:
//
//	index.html                             the page
//	tables/SCORE-sets.txt, .md, .csv, .tex   the means on each set and the average ranks
//	tables/SCORE-pairs.txt, …                all pairs of methods over the sets
//	curves/SCORE-ranks.png, .svg, .pdf       the critical-difference diagram
//
// The page links those of the sets, NAME/index.html. Errors name the file.
func WriteSets(ctx context.Context, dir string, s Sets) error {
	w := &setsPage{page: page{folder: folder{dir, ctx}, Name: s.Name, Command: s.Command, Styles: []string{pageCSS}}, sets: s, across: s.across()}
	missing := 0
	for i, e := range s.Sets {
		missing += max(0, e.Trials-len(table.Finished(e.Records, e.Methods)))
		for _, text := range append(slices.Clone(e.Warnings), e.TrialWarnings()...) {
			w.Warnings = append(w.Warnings, s.Names[i]+": "+text)
		}
	}
	if missing > 0 {
		w.Note = fmt.Sprintf("This experiment is not finished: %s missing. The tables show what there is.", phrase.Count(missing, "trial is", "trials are"))
	}
	w.Lead = fmt.Sprintf("An experiment on %s: %s.", phrase.Count(len(s.Sets), "set", "sets"), phrase.List(s.Names))
	return w.writeSections(sections(w, setsSections))
}

// tables are those of a set by score.
func (s Sets) of(score string) []table.SetTable {
	var out []table.SetTable
	for i, e := range s.Sets {
		t := e.tablesOf(e.Records, score)
		if len(t.all.Rows) > 0 {
			out = append(out, table.SetTable{Set: s.Names[i], Table: t.all, Best: t.best})
		}
	}
	return out
}

// across compares the methods over the sets by each score.
func (s Sets) across() []*table.Sets {
	var names []string
	for _, e := range s.Sets {
		for _, name := range table.ScoresOf(e.Records) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.SortFunc(names, eval.CompareScores)
	var out []*table.Sets
	for _, name := range names {
		score, _ := eval.FindScore(name)
		if a := table.NewSets(s.Name, score, s.of(name), s.Tests); a != nil {
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
func setsFindings(w *setsPage) section {
	return section{template: findingsTemplate, make: func() (any, error) {
		var found []string
		for _, a := range w.across {
			if a.Score.Prominence > eval.Minor {
				found = append(found, a.Finding())
			}
		}
		if found == nil {
			return nil, nil
		}
		return found, nil
	}}
}

type acrossView struct {
	Title        string
	Means, Pairs tableView
	Ranks        *figureView
}

// acrossSection compares the methods over the sets.
func acrossSection(w *setsPage) section {
	return section{id: "across", title: "Over all sets", template: acrossTemplate, make: func() (any, error) {
		var view struct{ Scores, More []acrossView }
		names := make([]string, len(w.across))
		for i, a := range w.across {
			names[i] = a.Score.Name
		}
		for i, name := range safeNames(names) {
			a := w.across[i]
			v := acrossView{Title: a.Score.Title}
			var err error
			if v.Means, err = w.table(name+"-sets", a.Document()); err != nil {
				return nil, err
			}
			if v.Pairs, err = w.table(name+"-pairs", a.Matrix()); err != nil {
				return nil, err
			}
			ranks, err := figure.Ranks(a.Methods, a.Ranks, a.Groups)
			if v.Ranks, err = w.figure("curves/"+name+"-ranks", "The average ranks of the methods over the sets, with bars over those that do not differ, drawn from the tables.", ranks, err); err != nil {
				return nil, err
			}
			if a.Score.Prominence == eval.Minor {
				view.More = append(view.More, v)
			} else {
				view.Scores = append(view.Scores, v)
			}
		}
		if len(w.across) == 0 {
			return nil, nil
		}
		return view, nil
	}}
}

var acrossTemplate = parse("across", `
{{- define "across-score"}}

<h3>{{.Title}}</h3>
{{- template "table" .Means}}
{{- with .Ranks}}
{{template "curve" .}}
<p class="note">Each method stands at its average rank, the best to the left. A bar joins methods of which no two differ significantly.</p>
{{- end}}
{{- template "table" .Pairs}}
{{- end}}

<h2 id="across">Over all sets</h2>
<p>Each method has one score on each set. Its <b>rank</b> there is 1 if it is the best, 2 if one other is better, and so on. What holds over several sets says more of a method than any one of them, and takes sets enough: six at least, before any difference can be told from chance.</p>
{{- range .Scores}}{{template "across-score" .}}{{end}}
{{- if .More}}
<details>
<summary>More scores</summary>
{{- range .More}}{{template "across-score" .}}{{end}}
</details>
{{- end}}`)

type eachSetView struct {
	Name, Page, Lead string
	Tables           []template.HTML
}

// eachSetSection shows the main tables of each set, and links its page.
func eachSetSection(w *setsPage) section {
	return section{id: "sets", title: "Each set", template: eachSetTemplate, make: func() (any, error) {
		var views []eachSetView
		for i, e := range w.sets.Sets {
			records := table.Finished(e.Records, e.Methods)
			v := eachSetView{Name: w.sets.Names[i], Page: w.sets.Names[i] + "/index.html"}
			for _, score := range table.ScoresOf(records) {
				t := e.tablesOf(records, score)
				if t.all.Score.Prominence < eval.Headline {
					continue
				}
				if v.Lead == "" {
					v.Lead = e.lead(records, len(e.Methods))
				}
				var text strings.Builder
				if err := table.HTML(&text, t.document(), table.Options{}); err != nil {
					return nil, err
				}
				v.Tables = append(v.Tables, template.HTML(text.String()))
			}
			views = append(views, v)
		}
		if views == nil {
			return nil, nil
		}
		return views, nil
	}}
}

var eachSetTemplate = parse("each-set", `

<h2 id="sets">Each set</h2>
{{- range .}}

<h3>{{.Name}}</h3>
<p>{{.Lead}} All of it is on the <a href="{{.Page}}">page of {{.Name}}</a>.</p>
{{- range .Tables}}{{.}}{{end}}
{{- end}}`)
