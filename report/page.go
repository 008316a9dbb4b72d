package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

//go:embed shared.html experiment.html clusters.html patches.html
var pageFiles embed.FS

var (
	experimentPage = page("experiment.html")
	clustersPage   = page("clusters.html")
)

//go:embed page.css
var pageCSS string

// pagePolicy is the content-security policy of all pages: nothing is loaded but
// images beside the page, no style counts but the page's own, by its sum, and
// nothing is run.
func pagePolicy() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return "default-src 'none'; img-src 'self'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"
}

func page(name string) *template.Template {
	t := template.New(name).Funcs(template.FuncMap{
		"css":    func() template.CSS { return template.CSS(pageCSS) },
		"policy": pagePolicy,
	})
	return template.Must(t.ParseFS(pageFiles, name, "shared.html", "patches.html"))
}

// page writes a page. Characters that do something other than to be seen, which may
// be in names, are shown as plaintext.Line shows them.
func (to folder) page(t *template.Template, view any) error {
	return to.write("index.html", func(w io.Writer) error {
		var text strings.Builder
		if err := t.Execute(&text, view); err != nil {
			return err
		}
		for line := range strings.Lines(text.String()) {
			end := strings.TrimRight(line, "\n")
			if _, err := io.WriteString(w, plaintext.Line(end)+line[len(end):]); err != nil {
				return err
			}
		}
		return nil
	})
}

// The types below are what the templates see: words and paths, nothing to
// compute.

type picture struct {
	Path, Alt     string
	Width, Height int
}

type figureView struct {
	PNG, SVG, PDF, Alt string
	Width, Height      int // pixels of a page, 96 to the inch
}

type basisView struct {
	Method, Title string
	Colour        bool
	Picture       picture
}

type fileView struct{ Label, Path string }

type scoreView struct {
	Title, Meaning string
	Best           *bestView // shown before all else, where there is one
	Curve          *figureView
	Sweeps         []*figureView
	Table          tableView
}

type tableView struct {
	Caption, Heading string
	Methods          []string
	Rows             []rowView
	Files            []fileView
	ByClass, Long    bool
}

// bestView is a table of methods at their best: Headings are of its columns, the
// last of them the score's.
type bestView struct {
	Caption  string
	Headings []string
	Rows     []bestRowView
	Files    []fileView
}

type bestRowView struct {
	What []string
	Cell cellView
}

// methodView is a figure of one method.
type methodView struct {
	Method, Title string
	Figure        *figureView
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

// figureSpace is a space as wide as a digit.
const figureSpace = "\u2007"

// pageMarks are the marks of a page.
var pageMarks = marks{best: "Bold", tied: "~", foreign: plaintext.Line}

// newTableView puts a table into words.
func newTableView(t *Table) tableView {
	nameless := *t
	nameless.Name = ""
	v := tableView{
		Caption: nameless.caption(pageMarks),
		Heading: t.heading(),
		Methods: t.Methods,
		ByClass: t.ByClass,
		Long:    len(t.Rows) > 20,
	}
	texts := t.text("±", figureSpace)
	for i, row := range t.all() {
		r := rowView{Label: row.label(), Average: row.Average}
		for _, c := range texts[i] {
			r.Cells = append(r.Cells, c.view())
		}
		v.Rows = append(v.Rows, r)
	}
	return v
}

// newBestView puts a table of the best into words.
func newBestView(b *Best) *bestView {
	nameless := *b
	table := *b.Table
	table.Name = ""
	nameless.Table = &table
	v := &bestView{Caption: nameless.caption(pageMarks), Headings: b.headings()}
	texts := b.texts("±", figureSpace)
	for i, row := range b.Rows {
		v.Rows = append(v.Rows, bestRowView{b.what(row), texts[i].view()})
	}
	return v
}

// view is the cell, whose mean and deviation are joined by ± alone.
func (c cellText) view() cellView {
	mean, sd, _ := strings.Cut(c.Value, "±")
	return cellView{Mean: mean, SD: sd, N: c.N, Best: c.Best, Tied: c.Tied}
}

// finding says in a sentence which method is the best of a table, or nothing
// where there is no contest.
func finding(t *Table) string {
	if len(t.Rows) == 0 {
		return ""
	}
	where := "with " + t.what(t.Rows[0])
	if t.Average != nil {
		where = "on average"
	}
	return ranking(t.Score, t.Methods, t.last().Cells, where)
}

// finding says in a sentence which method is the best at its best.
func (b *Best) finding() string {
	names := make([]string, len(b.Rows))
	cells := make([]Cell, len(b.Rows))
	for i, r := range b.Rows {
		names[i], cells[i] = r.Method, r.Cell
		var at []string
		if r.Rank > 0 {
			at = append(at, fmt.Sprintf("rank %d", r.Rank))
		}
		if r.Setting != "" {
			at = append(at, r.Setting)
		}
		if at != nil {
			names[i] += " (" + strings.Join(at, ", ") + ")"
		}
	}
	return ranking(b.Table.Score, names, cells, "where each is at its best")
}

// ranking is the sentence of a finding.
func ranking(score eval.Score, names []string, cells []Cell, where string) string {
	var best, tied []string
	mean := ""
	for i, c := range cells {
		switch {
		case c.Best:
			best = append(best, names[i])
			mean = scoreText(score, c.Mean)
		case c.Tied():
			tied = append(tied, names[i])
		}
	}
	if best == nil {
		return ""
	}
	is := "is"
	if len(best) > 1 {
		is = "are"
	}
	s := fmt.Sprintf("%s: %s %s best %s (%s).", score.Title, list(best), is, where, mean+withUnit(score, "\u00a0"))
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
