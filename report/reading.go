package report

import (
	"slices"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// readingSection explains the page to somebody who has never seen one.
func readingSection(w *experimentPage) section {
	return section{id: "reading", title: "How to read this", template: readingTemplate, make: func() (any, error) {
		return struct{ Labelled, Tested bool }{
			slices.ContainsFunc(w.records, func(r pipeline.Record) bool { return r.Labelled > 0 && r.Tested == 0 }),
			slices.ContainsFunc(w.records, func(r pipeline.Record) bool { return r.Tested > 0 }),
		}, nil
	}}
}

var readingTemplate = parse("reading", `

<h2 id="reading">How to read this</h2>
<p>Each method is given samples: pictures, mostly. Most methods learn a small number of <b>parts</b>, and describe every sample by how much of each part is in it.{{if not .Tested}} Samples with similar descriptions are put into one <b>group</b>.{{end}}</p>
<p>The right answer is known: every sample belongs to a <b>class</b>, such as one person or one kind of thing. {{if .Tested}}A method learns from training samples, whose classes it may be told. Each test sample is then taken for what most of the training samples with the most similar descriptions are. The accuracy says how often that is right.{{else}}The scores say how well the groups agree with the classes.{{end}}</p>
<p>Each row of a table is for one number of classes, of which more are harder, or for one number of parts (rank). Each <b>repeat</b> draws new samples or starts anew at random, and is the same draw for every method. A cell shows the mean over the repeats and, behind ±, the standard deviation: how far a single repeat typically is from the mean.</p>
<p>The best mean of a row is bold. <b>~</b> marks a result that is not significantly worse than the best: the difference may be chance. A result without ~ was tested and is worse, unless the line below the table says that there was no test. Unless that line says otherwise, the tests allow for how many there are: between equally good methods, at most one table in twenty has any result marked as worse. The differences below a table come with an <b>interval</b>, in which the true difference lies in 19 of 20 cases, and an <b>effect</b>, the difference in units of its own spread from repeat to repeat: above 2 nearly every repeat agrees on who is better.</p>
{{- if .Labelled}}
<p>Some methods were told the classes of a few samples, the <b>labelled</b> ones. Scores of the unlabelled samples leave those out. They are the fairer comparison.</p>
{{- end}}`)
