package report

import (
	"fmt"
	"image"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/phrase"
	"github.com/seed4492f2cd/partwise/report/figure"
)

type coefficientsView struct {
	Pictures []captioned
	Chosen   bool
}

// coefficientsSection shows how methods represent samples: coefficients/METHOD.png.
func coefficientsSection(w *experimentPage) section {
	return section{id: "coefficients", title: "Descriptions", template: coefficientsTemplate, make: func() (any, error) {
		var names []string
		var found []figure.Coefficients
		for _, c := range w.experiment.Coefficients {
			if slices.Contains(w.shown, c.Method) {
				names, found = append(names, c.Method), append(found, c)
			}
		}
		if found == nil {
			return nil, nil
		}
		view := coefficientsView{Chosen: w.chosen}
		for i, name := range safeNames(names) {
			n, k := found[i].Values.Dims()
			alt := fmt.Sprintf("The %d coefficients of %s by %s, in the order of their classes, and the distances between them.", k, phrase.Count(n, "sample", "samples"), names[i])
			drawn := w.pictureOf("coefficients/"+name+".png", alt, func() (image.Image, error) {
				return figure.CoefficientPicture(w.ctx, found[i], w.experiment.Classes)
			})
			view.Pictures = append(view.Pictures, captioned{Method: names[i], Picture: drawn})
		}
		return view, nil
	}}
}

var coefficientsTemplate = parse("coefficients", `

<h2 id="coefficients">Descriptions of the samples</h2>
<p>Above, each column is a sample and each row a part: white is where the sample has much of it. Below, each point says how different the descriptions of two samples are: black is alike, white is far apart. The samples stand in the order of their classes, which lines part. A method that brings out the classes has the same rows bright within a class above, and dark squares along the diagonal below.{{if .Chosen}} {{template "chosen"}}{{end}}</p>
<div class="parts pairs">
{{- range .Pictures}}{{template "captioned" .}}{{end}}
</div>`)
