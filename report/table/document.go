package table

import (
	"io"
	"slices"
)

// Document is a table in words, whatever the format: lines above it, one or more
// grids, and a caption.
type Document struct {
	// Name is what the experiment is called, and labels the table together with the
	// name of the grid.
	Name string
	// Class is what kind of table it is in pages, or empty.
	Class string
	// Heading is what stands above, a line each, and Caption what stands below. Names
	// go through the marks of a format. Heading may be nil.
	Heading func(Marks) []string
	Caption func(Marks) string
	Grids   []Grid
}

// captions are the caption and those of the grids.
func (d *Document) captions(m Marks) string {
	text := d.Caption(m)
	for _, g := range d.Grids {
		if g.Caption != nil {
			text += " " + g.Caption(m)
		}
	}
	return text
}

// Marks say how words are written in one format.
type Marks struct {
	// Best, Tied, Equivalent and Differs are what the marks of cells are called.
	Best, Tied, Equivalent, Differs string
	// Nameless captions do not begin with the name of the experiment.
	Nameless bool
	// Foreign returns a name, of an experiment or a method, so that nothing in it is
	// more than text; Own, which may be nil, does so with our own words.
	Foreign, Own func(string) string
}

// Grid is a table of words.
type Grid struct {
	// Title stands above it, where it is not empty. It counts as a name.
	Title string
	// Name tells it from others in labels, and Score in the lines of CSV.
	Name, Score string
	// Detail says that it holds nothing that CSV does not have of the grids before, and
	// Caption, which may be nil, what it holds beside.
	Detail  bool
	Caption func(Marks) string
	// Columns are those that name a row, the first Keys of them, and behind them
	// those of values.
	Keys    int
	Columns []Column
	Lines   []Line
	// KeyFields are the columns in CSV that name a row.
	KeyFields []string
	// Fields are the columns in CSV of one value, where the columns of values are
	// methods and CSV has a line for each; else each column says its own.
	Fields []string
}

// Column is the head of a column.
type Column struct {
	// Heading counts as a name, and as one of a method if Method is set.
	Heading string
	Method  bool
	// Right tells that its words stand to the right, and Settings that they are
	// settings, as in lambda=10.
	Right, Settings bool
	// Fields are its columns in CSV, where Grid.Fields is nil.
	Fields []string
}

// Line is a row of words, one for each column. An average stands apart below the
// others.
type Line struct {
	Words   []Word
	Average bool
	// Keys name the row in CSV, one for each of Grid.KeyFields.
	Keys []string
}

// Word is what stands in a cell: a name in the columns that name a row, else a value.
type Word struct {
	Text string
	// Deviation stands behind ±, where it is not empty. Pad is how many digits it is
	// short of the longest of the grid.
	Deviation string
	Pad       int
	// N is the number of trials where that should be said, else 0.
	N int
	// Mark is the mark behind it, or a blank in its place.
	Mark Mark
	// Bold is shown on a terminal that has colours.
	Bold bool
	// Fields are the columns of a value in CSV.
	Fields []string
}

// Mark is a mark of a cell.
type Mark int

const (
	// NoMark is of words that never have one.
	NoMark Mark = iota
	// Unmarked words have none where others have one.
	Unmarked
	// MarkBest is of the best of a row, MarkTied of what is not significantly worse,
	// MarkEquivalent of what is as good for all practical ends, and MarkDiffers of a
	// significant difference.
	MarkBest
	MarkTied
	MarkEquivalent
	MarkDiffers
)

// missing stands for a value that is not there.
const missing = "–"

// part returns the grid with the columns of values from (inclusive) to (exclusive),
// behind those that name the rows.
func (g Grid) part(from, to int) Grid {
	columns, lines := g.Columns, g.Lines
	g.Columns = slices.Concat(columns[:g.Keys], columns[g.Keys+from:g.Keys+to])
	g.Lines = make([]Line, len(lines))
	for r, row := range lines {
		g.Lines[r] = Line{slices.Concat(row.Words[:g.Keys], row.Words[g.Keys+from:g.Keys+to]), row.Average, row.Keys}
	}
	return g
}

// values is the number of columns of values.
func (g Grid) values() int { return len(g.Columns) - g.Keys }

// Options say how a table is printed on a terminal. With none, as in files, the bytes
// are the same everywhere.
type Options struct {
	// Colour prints the best of each row in bold.
	Colour bool
	// Width is the width of the terminal in characters; a wider table is
	// printed in blocks of columns, one below the other. 0 means no limit.
	Width int
	// Wide says that the terminal shows characters of ambiguous width, such as ±
	// and ─, two columns wide, as some do in East Asian locales.
	Wide bool
}

// Format is one form in which tables are written.
type Format struct {
	Name string
	// Extension is that of files, or empty of a format that is only a part of pages.
	Extension string
	// Write writes a document. Formats other than text have no options.
	Write func(w io.Writer, d *Document, opt Options) error
}

// Formats are all formats, in the order in which pages list them.
var Formats = []Format{
	{"text", "txt", Text},
	{"Markdown", "md", writeMarkdown},
	{"CSV", "csv", writeCSV},
	{"LaTeX", "tex", writeLaTeX},
	{"HTML", "", HTML},
}
