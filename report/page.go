package report

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
)

//go:embed page.css shared.html experiment.html clusters.html
var pageFiles embed.FS

var (
	experimentPage = page("experiment.html")
	clustersPage   = page("clusters.html")
	pageCSS        = func() template.CSS {
		css, err := pageFiles.ReadFile("page.css")
		if err != nil {
			panic(err) // it is embedded
		}
		return template.CSS(css)
	}()
)

func page(name string) *template.Template {
	return template.Must(template.New(name).ParseFS(pageFiles, name, "shared.html"))
}

// The types below are what the templates see: words and paths, nothing to
// compute.

type picture struct {
	Path, Alt     string
	Width, Height int
}

type figureView struct {
	PNG, SVG, Alt string
	Width, Height int // pixels of a page, 96 to the inch
}

type basisView struct {
	Method, Title string
	Colour        bool
	Picture       picture
}

type fileView struct{ Label, Path string }

type scoreView struct {
	Title, Meaning, Caption string
	Heading                 string
	Methods                 []string
	Rows                    []rowView
	Curve                   *figureView
	Files                   []fileView
}

type rowView struct {
	Label   string
	Average bool
	Cells   []cellView
}

type cellView struct {
	Mean, SD   string
	N          int
	Best, Tied bool
}

// newScoreView puts a table into words.
func newScoreView(t *Table) scoreView {
	const digit = "\u2007" // a space as wide as a digit
	nameless := *t
	nameless.Name = ""
	v := scoreView{
		Title:   scoreTitle(t.Score),
		Meaning: scoreMeaning(t.Score),
		Caption: nameless.caption("Bold", "~"),
		Heading: t.heading(),
		Methods: t.Methods,
	}
	texts := t.text("±", digit)
	for i, row := range t.all() {
		r := rowView{Label: row.label(), Average: row.Average}
		for _, c := range texts[i] {
			mean, sd, _ := strings.Cut(c.Value, "±")
			r.Cells = append(r.Cells, cellView{Mean: mean, SD: sd, N: c.N, Best: c.Best, Tied: c.Tied})
		}
		v.Rows = append(v.Rows, r)
	}
	return v
}

// finding says in a sentence which method is the best of a table, or nothing
// where there is no contest.
func finding(t *Table) string {
	if len(t.Rows) == 0 {
		return ""
	}
	row, where := t.Rows[0], "with "+t.what(t.Rows[0])
	if t.Average != nil {
		row, where = *t.Average, "on average"
	}
	var best, tied []string
	mean := ""
	for i, c := range row.Cells {
		switch {
		case c.Best:
			best = append(best, t.Methods[i])
			mean = percent(c.Mean)
		case c.Tied():
			tied = append(tied, t.Methods[i])
		}
	}
	if best == nil {
		return ""
	}
	is := "is"
	if len(best) > 1 {
		is = "are"
	}
	s := fmt.Sprintf("%s: %s %s best %s (%s\u00a0%%).", scoreTitle(t.Score), list(best), is, where, mean)
	if tied != nil {
		s += fmt.Sprintf(" Not significantly worse: %s.", list(tied))
	}
	return s
}

// list joins words with commas and a last "and".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// count is a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
