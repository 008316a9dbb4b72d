package report

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/seed4492f2cd/partwise/pipeline"
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
	// Bases are learned parts to be shown as pictures.
	Bases []Basis
	// Warnings are shown before those of the records.
	Warnings []string
}

// experimentView is what the page of an experiment shows.
type experimentView struct {
	CSS                 template.CSS
	Name, Lead, Command string
	Note                string
	Findings            []string
	Labelled            bool
	Scores, More        []scoreView
	Convergence         *figureView
	Bases               []basisView
	Warnings            []string
	Settings            [][2]string
}

// WriteExperiment writes into dir, which it makes if need be:
//
//	index.html               the page
//	tables/SCORE.txt, .md, .csv, .tex
//	curves/SCORE.png, .svg
//	curves/convergence.png, .svg
//	bases/METHOD.png
//
// for every score in the records ("AC free" is ac-free), the convergence if the
// records have curves, and every basis. Files of these names are replaced,
// others are left alone. Errors name the file.
func WriteExperiment(dir string, e Experiment) error {
	records := finished(e.Records, e.Methods)
	view := experimentView{
		CSS:      pageCSS,
		Name:     e.Name,
		Lead:     e.lead(records),
		Command:  e.Command,
		Labelled: slices.ContainsFunc(records, func(r pipeline.Record) bool { return r.Labelled > 0 }),
		Warnings: append(slices.Clone(e.Warnings), warnings(records, e.Methods)...),
		Settings: e.Settings,
	}
	if missing := e.Trials - len(records); missing > 0 {
		view.Note = fmt.Sprintf("This experiment is not finished: %s missing. The tables show what there is.", count(missing, "trial is", "trials are"))
	}

	scores := scoresOf(records)
	files := safeNames(scores)
	for i, score := range scores {
		t := NewTable(records, score, e.Methods)
		if len(t.Rows) == 0 {
			continue
		}
		t.Name = e.Name
		v, err := writeTable(dir, files[i], t)
		if err != nil {
			return err
		}
		if isMinor(score) {
			view.More = append(view.More, v)
			continue
		}
		view.Scores = append(view.Scores, v)
		if f := finding(t); f != "" {
			view.Findings = append(view.Findings, f)
		}
	}

	figure, err := Convergence(records, e.Methods)
	if err == nil {
		view.Convergence, err = writeFigure(dir, "convergence", "How fast the objective of each method falls with the iterations.", figure)
	}
	if err != nil && !errors.Is(err, ErrNoData) {
		return err
	}

	if view.Bases, err = writeBases(dir, e.Bases); err != nil {
		return err
	}
	return writeFile(dir, "index.html", func(w io.Writer) error { return experimentPage.Execute(w, view) })
}

// lead sums an experiment up in a sentence.
func (e Experiment) lead(records []pipeline.Record) string {
	if len(records) == 0 {
		return "No trial of this experiment has finished yet."
	}
	var fewest, most int
	task := "sort samples into groups"
	for i, r := range records {
		if i == 0 || r.Classes < fewest {
			fewest = r.Classes
		}
		most = max(most, r.Classes)
		if r.Tested > 0 {
			task = "represent samples, whose classes are then found by their nearest neighbours,"
		}
	}
	classes := count(most, "class", "classes")
	if fewest < most {
		classes = fmt.Sprintf("%d to %d classes", fewest, most)
	}
	was := "were compared"
	if len(e.Methods) == 1 {
		was = "was tried"
	}
	return fmt.Sprintf("%s that %s %s on samples of %s, in %s.",
		count(len(e.Methods), "method", "methods"), task, was, classes, count(len(records), "trial", "trials"))
}

// warnings gathers the records' warnings, each once for a method.
func warnings(records []pipeline.Record, methods []string) []string {
	type warning struct {
		method int
		text   string
	}
	trials := map[warning]int{}
	var found []warning
	for _, r := range records {
		for _, text := range r.Warnings {
			w := warning{slices.Index(methods, r.Method), text}
			if trials[w]++; trials[w] == 1 {
				found = append(found, w)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b warning) int { return a.method - b.method })
	lines := make([]string, len(found))
	for i, w := range found {
		lines[i] = fmt.Sprintf("%s: %s (%s)", methods[w.method], w.text, count(trials[w], "trial", "trials"))
	}
	return lines
}

// writeTable writes a score's table in four formats and its curves.
func writeTable(dir, name string, t *Table) (scoreView, error) {
	v := newScoreView(t)
	for _, format := range []struct {
		label, extension string
		write            func(io.Writer) error
	}{
		{"text", "txt", func(w io.Writer) error { return t.Text(w, TextOptions{}) }},
		{"Markdown", "md", t.Markdown},
		{"CSV", "csv", t.CSV},
		{"LaTeX", "tex", t.LaTeX},
	} {
		path := "tables/" + name + "." + format.extension
		if err := writeFile(dir, path, format.write); err != nil {
			return v, err
		}
		v.Files = append(v.Files, fileView{format.label, path})
	}
	figure, err := Curves(t)
	if err != nil {
		return v, err
	}
	v.Curve, err = writeFigure(dir, name, v.Title+" of each method, drawn from the table.", figure)
	return v, err
}

// writeFigure writes a figure in two formats.
func writeFigure(dir, name, alt string, f *Figure) (*figureView, error) {
	width, height := f.size()
	v := &figureView{
		PNG: "curves/" + name + ".png", SVG: "curves/" + name + ".svg", Alt: alt,
		Width: int(96 * width / vg.Inch), Height: int(96 * height / vg.Inch),
	}
	if err := writeFile(dir, v.PNG, f.PNG); err != nil {
		return nil, err
	}
	return v, writeFile(dir, v.SVG, f.SVG)
}
