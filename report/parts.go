package report

import (
	"cmp"
	"fmt"
	"image"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/phrase"
	"github.com/seed4492f2cd/partwise/report/figure"
)

// Basis is what a method learned from images: Vectors is m×k, a basis vector
// a column, each an upright image of Height × Width pixels, row by row. In
// colour it is three of them, its red, its green and its blue.
type Basis struct {
	Method        string
	Vectors       mat.Matrix
	Height, Width int
	// Channels is 3 for colour, so that m = 3·Height·Width. 1 and 0 are grey.
	Channels int
}

// partsSection shows the learned parts of methods.
func partsSection(w *experimentPage) section {
	return section{
		id: "parts", title: "Learned parts", template: partsTemplate,
		make: func() (any, error) {
			shown := slices.DeleteFunc(slices.Clone(w.experiment.Bases), func(b Basis) bool { return !slices.Contains(w.shown, b.Method) })
			return w.parts(shown, "Each", w.chosen)
		},
	}
}

// partsOfGroupsSection shows the parts by which samples were sorted into groups.
func partsOfGroupsSection(w *clustersPage) section {
	return section{
		id: "parts", title: "Learned parts", template: partsTemplate,
		make: func() (any, error) {
			if w.clusters.Basis == nil {
				return nil, nil
			}
			about := "The method learned a small number of parts, and describes each " + w.clusters.thing() + " by how much of every part is in it. Each"
			return w.parts([]Basis{*w.clusters.Basis}, about, false)
		},
	}
}

type partsView struct {
	About          string // what begins the words
	Below          string // and where the pictures are
	Bases          []captioned
	Colour, Chosen bool
}

var partsTemplate = parse("parts", `

<h2 id="parts">Learned parts</h2>
<p>{{.About}} small picture{{.Below}} is one part (a basis vector). {{if .Colour}}Bright is where the part is strong, black where it is weak, and the colour is the part's own.{{else}}White is where the part is strong, black where it is weak.{{end}} Each is scaled for itself, so its brightness cannot be compared with that of its neighbours.{{if .Chosen}} {{template "chosen"}}{{end}}</p>
<div class="parts">
{{- range .Bases}}{{template "captioned" .}}{{end}}
</div>`)

// parts writes a montage for each basis, bases/METHOD.png.
func (p *page) parts(bases []Basis, about string, chosen bool) (any, error) {
	if len(bases) == 0 {
		return nil, nil
	}
	view := partsView{About: about, Colour: bases[0].Channels == 3, Chosen: chosen}
	if about != "Each" {
		view.Below = " below"
	}
	names := make([]string, len(bases))
	for i, b := range bases {
		names[i] = b.Method
	}
	for i, name := range safeNames(names) {
		b := bases[i]
		_, k := b.Vectors.Dims()
		kind, large := "", "white"
		if b.Channels == 3 {
			kind, large = "colour ", "bright"
		}
		alt := fmt.Sprintf("%s learned by %s, each drawn as a %spicture of %d by %d pixels; %s is large.",
			phrase.Count(k, "part", "parts"), b.Method, kind, b.Width, b.Height, large)
		drawn := p.pictureOf("bases/"+name+".png", alt, func() (image.Image, error) {
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
