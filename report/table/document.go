// Package table summarises the scores of finished trials in tables, with significance tests. [New], [NewBest],
// [PerClass] and [NewComparison] make tables of records. Each turns into a [Document], one or more grids of words with
// a caption, and each of [Formats] writes documents.
//
// CSV files have scores as in the records; other formats have the unit of [eval.Score], such as percent.
package table

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/lazyregexp"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// Document is a table in words for any format: lines above it, one or more grids, and a caption.
type Document struct {
	Name  string // the experiment, which labels the table together with the grid's name
	Class string // the kind of table in pages, or ""
	// Heading are the lines above, Caption is the text below, after Title; see [Marks].Own.
	Heading        []string
	Title, Caption string
	Grids          []Grid
}

// Marks are the notation of one format.
type Marks struct {
	// Foreign escapes a name of an experiment or method. Own escapes our own words, in which @best, @tied, @same and
	// @differs stand for the marks of cells.
	Foreign              func(string) string
	Own                  *strings.Replacer
	Method, Setting      func(string) string     // format the name of a method, and settings; nil means Foreign
	Number               func(string) string     // formats the text of a value; may be nil
	PlusMinus            string                  // separates a value from its deviation
	Pad                  string                  // replaces a digit that the deviation lacks
	Enclose, EncloseBest string                  // surround a value and the best value, as in "**%s**"
	Mark                 [MarkDiffers + 1]string // follows a value
}

// text formats our own words with names in brackets.
func (m Marks) text(text string) string {
	parts := strings.Split(text, bracket)
	for i, part := range parts {
		if i%2 == 1 {
			parts[i] = m.Foreign(part)
		} else {
			parts[i] = m.Own.Replace(part)
		}
	}
	return strings.Join(parts, "")
}

func (m Marks) value(w Word) string {
	s := w.Text
	if m.Number != nil {
		s = m.Number(s)
	}
	if w.Deviation != "" {
		s += m.PlusMinus + strings.Repeat(m.Pad, w.Pad) + w.Deviation
	}
	enclose := m.Enclose
	if w.Mark == MarkBest {
		enclose = m.EncloseBest
	}
	if w.Text != missing {
		s = strings.Replace(enclose, "%s", s, 1)
	}
	if w.N > 0 {
		s = fmt.Sprintf("(%d) %s", w.N, s)
	}
	return s + m.Mark[w.Mark]
}

func (m Marks) lines(d *Document) []string { return lists.Map(d.Heading, m.text) }

func (m Marks) caption(d *Document) string {
	title, text := d.Title, m.text(d.Caption)
	if title != "" && d.Name != "" {
		title = d.Name + ": " + title
	}
	if text != "" && title != "" && !strings.ContainsRune(":,", rune(text[0])) {
		text = " " + text
	}
	return m.Foreign(title) + text
}

func (m Marks) captions(d *Document) string {
	text := m.caption(d)
	for _, g := range d.Grids {
		if g.Caption != "" {
			text += " " + m.text(g.Caption)
		}
	}
	return text
}

// Grid is a table of words.
type Grid struct {
	Title       string // a name above it, or ""
	Name, Score string // identify it in labels and in the lines of CSV
	Detail      bool   // left out of CSV, which has the content already
	Caption     string // may be ""
	// The first Keys of the Columns name a row, and the others hold values.
	Keys      int
	Columns   []Column
	Lines     []Line
	KeyFields []string // the columns in CSV that name a row
	// Fields, if set, are the columns in CSV of one value: each value column is a method, with a line of its own in CSV.
	// Otherwise each column has its own Fields.
	Fields []string
}

// Column is the head of a column.
type Column struct {
	Heading  string   // treated as a name
	Method   bool     // the heading is the name of a method
	Right    bool     // aligns its words to the right
	Settings bool     // its words are settings, as in lambda=10
	Fields   []string // its columns in CSV, if Grid.Fields is nil
}

// Line is a row of words, one for each column. A rule separates an average from the lines above.
type Line struct {
	Words   []Word
	Average bool
	Keys    []string // the row's keys in CSV, one for each of Grid.KeyFields
}

// Word is the content of a cell: a name in key columns, else a value.
type Word struct {
	Text      string
	Deviation string // follows ± unless it is ""
	Pad       int    // the digits by which Deviation is shorter than the longest of the grid
	N         int    // the number of trials if it is shown, else 0
	Mark      Mark
	Bold      bool     // on a terminal with colours
	Fields    []string // the columns of a value in CSV
}

// Mark is a mark of a cell.
type Mark int

const (
	NoMark         Mark = iota // for columns without marks
	Unmarked                   // for unmarked words in columns with marks
	MarkBest                   // the best of a row
	MarkTied                   // not significantly worse
	MarkEquivalent             // practically equivalent
	MarkDiffers                // a significant difference
)

const missing = "–"

// valueColumns returns the grid with its keys and the value columns from (inclusive) to (exclusive).
func (g Grid) valueColumns(from, to int) Grid {
	columns, lines := g.Columns, g.Lines
	g.Columns = slices.Concat(columns[:g.Keys], columns[g.Keys+from:g.Keys+to])
	g.Lines = lists.Map(lines, func(row Line) Line {
		return Line{slices.Concat(row.Words[:g.Keys], row.Words[g.Keys+from:g.Keys+to]), row.Average, row.Keys}
	})
	return g
}

// Options are options for terminals. The zero value is for files, and gives the same bytes everywhere.
type Options struct {
	Colour bool // prints the best of each row in bold
	// Width is the terminal's width in characters. Wider tables are printed in blocks of columns, one below the other.
	// 0 means no limit.
	Width int
	// Wide is for terminals that show ambiguous-width characters, such as ±, two columns wide, as in East Asian
	// locales.
	Wide bool
}

// Format is a format of tables.
type Format struct {
	Name      string
	Extension string // of files; "" for a format that is only a part of pages
	// Write writes a document. Only the text format uses options.
	Write func(w io.Writer, d *Document, opt Options) error
}

// Formats are all formats, in the order of display.
var Formats = []Format{
	{"text", "txt", Text},
	{"Markdown", "md", writeMarkdown},
	{"CSV", "csv", writeCSV},
	{"LaTeX", "tex", writeLaTeX},
	{"HTML", "", HTML},
}

// bracket surrounds names in our own text. plaintext.Line escapes it, so no name contains it.
const bracket = "\x0e"

// quoteName returns a name for a text that Marks.text formats.
func quoteName(s string) string { return bracket + plaintext.Line(s) + bracket }

var (
	//go:embed captions.txt
	captionText string

	captions = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("captions").Funcs(template.FuncMap{
			"count": phrase.Count, "inUnit": inUnit, "list": phrase.List, "p": pText, "rope": Tests.rope,
			"names": func(names []string) string { return phrase.List(lists.Map(names, quoteName)) },
		}).Parse(captionText))
	})
)

var lineBreaks = lazyregexp.New(`\s*\n\s*`)

func caption(template string, data any) string {
	var text strings.Builder
	if err := captions().ExecuteTemplate(&text, template, data); err != nil {
		panic(err) // cannot fail: the templates are embedded
	}
	return strings.TrimSpace(lineBreaks().ReplaceAllString(text.String(), " "))
}

type testCaption struct {
	Tests
	Score       eval.Score
	Comparisons int
	Draws       []significance.Draws
	Found       bool   // marks are at differences
	In          string // the unit
}

// Rope is the region of practical equivalence in words.
func (t testCaption) Rope() string { return t.rope(t.Score) }

func (t testCaption) Bonferroni() bool { return t.Comparisons > maxFamily }

// Holm reports whether p-values have Holm's correction.
func (t testCaption) Holm() bool { return t.corrects() && !t.Bonferroni() }

// Population describes the population to which the tests generalise.
func (t testCaption) Population() string {
	words := lists.Unique(lists.Map(t.Draws, significance.Draws.Beyond))
	text := "the result holds for " + words[0]
	if len(words) > 1 {
		text += ", or for " + words[len(words)-1] + " in rows with all classes"
	}
	return text
}

func (by Tests) rope(s eval.Score) string {
	if s.Unit != eval.UnitPercent {
		return strings.TrimSpace(fmt.Sprintf("%g %s", by.Width(), s.Unit))
	}
	if points := 100 * by.Width(); points != 1 {
		return fmt.Sprintf("%g points", points)
	}
	return "1 point"
}

type cellKinds struct{ Contest, Tested, Untested, Partial, Empty bool }

func (t *Table) cellKindsOf(rows ...Row) (f cellKinds) {
	for _, row := range rows {
		for _, c := range row.Cells {
			f.Contest = f.Contest || c.Best
			f.Tested = f.Tested || c.Pairs > 0
			f.Untested = f.Untested || c.N > 0 && !c.Best && c.Pairs == 0
			f.Partial = f.Partial || c.N > 0 && c.N < t.Repeats
			f.Empty = f.Empty || c.N == 0
		}
	}
	return f
}

// captionData is the data of the captions of a table and of the best.
type captionData struct {
	*Table
	Rated, Last cellKinds // of all rows without the average, and of the last row or the average
	How         testCaption
	Least       int    // the fewest pairs that are tested
	At, Numbers string // where each method is at its best, and the numbers of classes averaged over
}

func (t *Table) explained() captionData {
	e := captionData{Table: t, Rated: t.cellKindsOf(t.Rows...), Least: minPairs}
	if t.Average != nil {
		e.Last = t.cellKindsOf(*t.Average)
	}
	e.How = testCaption{Tests: t.Tests, Score: t.Score, Comparisons: t.Comparisons, In: inUnit(t.Score)}
	e.How.Draws = lists.Map(t.Rows, func(r Row) significance.Draws { return r.sample.draws })
	return e
}

func finding(score eval.Score, names []string, cells []Cell, where string) string {
	found := struct {
		Title, Where, Mean string
		Best, Tied         []string
	}{Title: score.Title, Where: where}
	for i, c := range cells {
		switch {
		case c.Best:
			found.Best, found.Mean = append(found.Best, names[i]), WithUnit(score, c.Mean, "\u00a0")
		case c.Tied():
			found.Tied = append(found.Tied, names[i])
		}
	}
	return caption("finding", found)
}
