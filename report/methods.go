package report

import (
	"cmp"
	"fmt"
	"image"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

// identity is the name of a name.
func identity(name string) string { return name }

// convergence shows how the objectives fall: curves/convergence.png, ….
func convergence(w *experimentPage) any {
	curves, err := figure.Convergence(w.ctx, w.records, w.shown, w.looks)
	if v := w.figure("curves/convergence", "How fast the objective of each method falls with the iterations.", curves, err); v != nil {
		return v
	}
	return nil
}

// terms shows the terms of the objectives with a penalty: curves/terms-METHOD.png, ….
func terms(w *experimentPage) any {
	var views []methodView
	for name, method := range withSafeNames(w.shown, identity) {
		terms, err := figure.Terms(w.ctx, w.records, method, w.looks)
		if f := w.figure("curves/terms-"+name, "The objective of "+method+", its fit and its penalty against the iterations.", terms, err); f != nil {
			views = append(views, methodView{Method: method, Figure: f})
		}
	}
	return unlessEmpty(views)
}

type coefficientsView struct {
	Pictures []captioned
	Chosen   bool
}

// coefficients shows how methods represent samples: coefficients/METHOD.png.
func coefficients(w *experimentPage) any {
	found := slices.DeleteFunc(slices.Clone(w.experiment.Coefficients), func(c figure.Coefficients) bool { return !slices.Contains(w.shown, c.Method) })
	if len(found) == 0 {
		return nil
	}
	view := coefficientsView{Chosen: w.chosen}
	for name, c := range withSafeNames(found, func(c figure.Coefficients) string { return c.Method }) {
		n, k := c.Values.Dims()
		alt := fmt.Sprintf("The %d coefficients of %s by %s, in the order of their classes, and the distances between them.", k, phrase.Count(n, "sample", "samples"), c.Method)
		view.Pictures = append(view.Pictures, captioned{c.Method, w.picture("coefficients/"+name+".png", alt, func() (image.Image, error) {
			return figure.CoefficientPicture(w.ctx, c, w.experiment.Classes)
		})})
	}
	return view
}

// Basis is what a method learned from images: Vectors is m×k, a basis vector a column, each an image of
// Height × Width pixels, row by row. With 3 Channels, red, green and blue follow each other, so that
// m = 3·Height·Width; 1 and 0 are grey.
type Basis struct {
	Method        string
	Vectors       mat.Matrix
	Height, Width int
	Channels      int
}

// parts shows the learned parts of methods.
func parts(w *experimentPage) any {
	shown := slices.DeleteFunc(slices.Clone(w.experiment.Bases), func(b Basis) bool { return !slices.Contains(w.shown, b.Method) })
	return w.parts(shown, partsView{About: "Each", Chosen: w.chosen})
}

// partsOfGroups shows the parts by which samples were clustered.
func partsOfGroups(w *clustersPage) any {
	if w.clusters.Basis == nil {
		return nil
	}
	about := "The method learned a small number of parts, and describes each " + w.clusters.thing() + " by how much of every part is in it. Each"
	return w.parts([]Basis{*w.clusters.Basis}, partsView{About: about, Below: " below"})
}

type partsView struct {
	About          string // the beginning of the text
	Below          string // where the pictures are
	Bases          []captioned
	Colour, Chosen bool
}

// parts writes a montage for each basis, bases/METHOD.png.
func (p *page) parts(bases []Basis, view partsView) any {
	if len(bases) == 0 {
		return nil
	}
	view.Colour = bases[0].Channels == 3
	for name, b := range withSafeNames(bases, func(b Basis) string { return b.Method }) {
		_, k := b.Vectors.Dims()
		kind, large := "", "white"
		if b.Channels == 3 {
			kind, large = "colour ", "bright"
		}
		alt := fmt.Sprintf("%s learned by %s, each drawn as a %spicture of %d by %d pixels; %s is large.",
			phrase.Count(k, "part", "parts"), b.Method, kind, b.Width, b.Height, large)
		view.Bases = append(view.Bases, captioned{b.Method, p.picture("bases/"+name+".png", alt, func() (image.Image, error) {
			img, err := figure.Montage(p.ctx, b.Vectors, b.Height, b.Width, cmp.Or(b.Channels, 1))
			if err != nil {
				err = fmt.Errorf("basis of %s: %w", b.Method, err)
			}
			return img, err
		})})
	}
	return view
}

type classesView struct {
	Table      *tableView
	Long       bool
	Confusions []methodView
	Chosen     bool
}

// classes shows the single classes of a classification, each method at its best:
//
//	tables/class-accuracy.txt, …
//	confusion/METHOD.png, …
func classes(w *experimentPage) any {
	e := w.experiment
	view := classesView{Chosen: w.chosen}
	var best []pipeline.Record
	for name, p := range withSafeNames(w.peaks, func(p table.Peak) string { return p.Label }) {
		records := slices.DeleteFunc(slices.Clone(w.records), func(r pipeline.Record) bool { return r.Method != p.Label || table.RowOf(r) != p.Row })
		best = append(best, records...)
		if len(e.Classes) > figure.MostConfused {
			continue
		}
		confusion, err := figure.Confusion(table.TotalConfusion(records, len(e.Classes)), e.Classes)
		f := w.figure("confusion/"+name, "Which classes "+p.Label+" takes for which.", confusion, err)
		if f == nil {
			continue
		}
		v := methodView{Method: p.Label, Figure: f}
		if records[0].Row > 0 && records[0].Rank > 0 {
			v.Title = fmt.Sprintf("rank %d", records[0].Rank)
		}
		view.Confusions = append(view.Confusions, v)
	}
	t := table.PerClass(best, w.shown, e.Classes, table.TestsOf(e.Summary))
	if len(t.Rows) == 0 {
		return nil
	}
	t.Name = e.Name
	view.Long = len(t.Rows) > 20
	view.Table = w.table("class-accuracy", t.Document())
	return view
}
