package report

import (
	"fmt"

	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// myIterations lists the mean number of iterations of each method.
func myIterations(w *experimentPage) any {
	var lines []string
	for _, method := range w.shownMethods {
		sum, trials := 0, 0
		for _, r := range w.records {
			if r.Method == method && r.Iterations > 0 {
				sum, trials = sum+r.Iterations, trials+1
			}
		}
		if trials > 0 {
			lines = append(lines, fmt.Sprintf("%s: mean %.0f over %s", method, float64(sum)/float64(trials), phrase.Count(trials, "trial", "trials")))
		}
	}
	return lines
}

const myTemplate = `

<h2 id="iterations">Iterations</h2>
<ul>
{{- range .}}
<li>{{.}}</li>
{{- end}}
</ul>`
