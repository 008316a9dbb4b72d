package report

import (
	"github.com/seed4492f2cd/partwise/report/figure"
)

// convergenceSection shows how the objectives fall: curves/convergence.png, ….
func convergenceSection(w *experimentPage) section {
	return section{id: "convergence", title: "Convergence", template: convergenceTemplate, make: func() (any, error) {
		curves, err := figure.Convergence(w.ctx, w.records, w.shown, w.looks)
		v, err := w.figure("curves/convergence", "How fast the objective of each method falls with the iterations.", curves, err)
		if v == nil {
			return nil, err
		}
		return v, err
	}}
}

var convergenceTemplate = parse("convergence", `

<h2 id="convergence">Convergence</h2>
<p>Most methods improve their answer step by step. Each step (iteration) lowers a number, the objective, that says how badly the parts describe the samples. The figure shows how much of the whole decrease is still to come after so many steps. A line that is flat and near 0 at the right has settled. A line that still falls steeply there might gain from more steps.</p>
{{template "curve" .}}
<p class="note">Mean over the trials of the last row. The first step counts as 100 %, the last as 0 %.</p>`)

// termsSection shows the terms of the objectives that have a penalty:
// curves/terms-METHOD.png, ….
func termsSection(w *experimentPage) section {
	return section{id: "terms", title: "The objective", template: termsTemplate, make: func() (any, error) {
		var views []methodView
		for i, name := range safeNames(w.shown) {
			method := w.shown[i]
			terms, err := figure.Terms(w.ctx, w.records, method, w.looks)
			f, err := w.figure("curves/terms-"+name, "The objective of "+method+", its fit and its penalty against the iterations.", terms, err)
			if err != nil {
				return nil, err
			}
			if f != nil {
				views = append(views, methodView{Method: method, Figure: f})
			}
		}
		if views == nil {
			return nil, nil
		}
		return views, nil
	}}
}

var termsTemplate = parse("terms", `

<h2 id="terms">What the objective is made of</h2>
<p>Some methods lower the sum of two things: the fit, which says how badly the parts describe the samples, and a penalty, which says how badly the descriptions agree with what is known or assumed of the samples. One may rise while their sum falls. Each plot has a scale of its own.</p>
{{- range .}}{{template "method" .}}{{end}}`)
