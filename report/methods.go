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
func convergence(w *experimentPage) (any, error) {
	curves, err := figure.Convergence(w.ctx, w.records, w.shown, w.looks)
	v, err := w.figure("curves/convergence", "How fast the objective of each method falls with the iterations.", curves, err)
	if v == nil {
		return nil, err
	}
	return v, err
}

// terms shows the terms of the objectives with a penalty: curves/terms-METHOD.png, ….
func terms(w *experimentPage) (any, error) {
	var views []methodView
	for name, method := range withSafeNames(w.shown, identity) {
		terms, err := figure.Terms(w.ctx, w.records, method, w.looks)
		f, err := w.figure("curves/terms-"+name, "The objective of "+method+", its fit and its penalty against the iterations.", terms, err)
		if err != nil {
			return nil, err
		}
		if f != nil {
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
func coefficients(w *experimentPage) (any, error) {
	found := slices.DeleteFunc(slices.Clone(w.experiment.Coefficients), func(c figure.Coefficients) bool { return !slices.Contains(w.shown, c.Method) })
	if len(found) == 0 {
		return nil, nil
	}
	view := coefficientsView{Chosen: w.chosen}
	for name, c := range withSafeNames(found, func(c figure.Coefficients) string { return c.Method }) {
		n, k := c.Values.Dims()
		alt := fmt.Sprintf("The %d coefficients of %s by %s, in the order of their classes, and the distances between them.", k, phrase.Count(n, "sample", "samples"), c.Method)
		drawn := w.picture("coefficients/"+name+".png", alt, func() (image.Image, error) {
			return figure.CoefficientPicture(w.ctx, c, w.experiment.Classes)
		})
		view.Pictures = append(view.Pictures, captioned{Method: c.Method, Picture: drawn})
	}
	return view, nil
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
func parts(w *experimentPage) (any, error) {
	shown := slices.DeleteFunc(slices.Clone(w.experiment.Bases), func(b Basis) bool { return !slices.Contains(w.shown, b.Method) })
	return w.parts(shown, "Each", w.chosen)
}

// partsOfGroups shows the parts by which samples were clustered.
func partsOfGroups(w *clustersPage) (any, error) {
	if w.clusters.Basis == nil {
		return nil, nil
	}
	about := "The method learned a small number of parts, and describes each " + w.clusters.thing() + " by how much of every part is in it. Each"
	return w.parts([]Basis{*w.clusters.Basis}, about, false)
}

type partsView struct {
	About          string // the beginning of the text
	Below          string // where the pictures are
	Bases          []captioned
	Colour, Chosen bool
}

// parts writes a montage for each basis, bases/METHOD.png.
func (p *page) parts(bases []Basis, about string, chosen bool) (any, error) {
	if len(bases) == 0 {
		return nil, nil
	}
	view := partsView{About: about, Colour: bases[0].Channels == 3, Chosen: chosen}
	if about != "Each" {
		view.Below = " below"
	}
	for name, b := range withSafeNames(bases, func(b Basis) string { return b.Method }) {
		_, k := b.Vectors.Dims()
		kind, large := "", "white"
		if b.Channels == 3 {
			kind, large = "colour ", "bright"
		}
		alt := fmt.Sprintf("%s learned by %s, each drawn as a %spicture of %d by %d pixels; %s is large.",
			phrase.Count(k, "part", "parts"), b.Method, kind, b.Width, b.Height, large)
		drawn := p.picture("bases/"+name+".png", alt, func() (image.Image, error) {
			img, err := figure.Montage(p.ctx, b.Vectors, b.Height, b.Width, cmp.Or(b.Channels, 1))
			if err != nil {
				return nil, fmt.Errorf("basis of %s: %w", b.Method, err)
			}
			return img, nil
		})
		view.Bases = append(view.Bases, captioned{b.Method, drawn})
	}
	return view, nil
}

type classesView struct {
	Table      tableView
	Long       bool
	Confusions []methodView
	Chosen     bool
}

// classes shows the single classes of a classification, each method at its best:
//
//	tables/class-accuracy.txt, …
//	confusion/METHOD.png, …
func classes(w *experimentPage) (any, error) {
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
		v := methodView{Method: p.Label}
		if v.Figure, err = w.figure("confusion/"+name, "Which classes "+p.Label+" takes for which.", confusion, err); err != nil {
			return nil, err
		}
		if v.Figure == nil {
			continue
		}
		if records[0].Row > 0 && records[0].Rank > 0 {
			v.Title = fmt.Sprintf("rank %d", records[0].Rank)
		}
		view.Confusions = append(view.Confusions, v)
	}
	t := table.PerClass(best, w.shown, e.Classes, table.TestsOf(e.Summary))
	if len(t.Rows) == 0 {
		return nil, nil
	}
	t.Name = e.Name
	view.Long = len(t.Rows) > 20
	var err error
	view.Table, err = w.table("class-accuracy", t.Document())
	return view, err
}
