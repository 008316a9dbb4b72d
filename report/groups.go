package report

import (
	"embed"
	"fmt"
	"html/template"
	"image"
	"maps"
	"slices"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

type plainScore struct {
	Title, Help, Value string
	Headline           bool
}

// clusterScores says how well the groups agree with the classes.
func clusterScores(w *clustersPage) any {
	var scores []plainScore
	for _, name := range slices.SortedFunc(maps.Keys(w.clusters.Scores), eval.CompareScores) {
		s, _ := eval.FindScore(name)
		scores = append(scores, plainScore{s.Title, s.Help, table.WithUnit(s, w.clusters.Scores[name], " "), s.Prominence == eval.Headline})
	}
	return unlessEmpty(scores)
}

// shownFirst is the number of samples of each group that the page shows without its script.
const shownFirst = 12

var (
	//go:embed clusters.css
	clustersCSS string

	//go:embed page.js similar.js map.js explore.js
	scripts embed.FS

	//go:embed explore.css
	exploreCSS string

	// scriptFiles are the scripts of the page, in the order in which they run, after the data: page.js
	// tells the others when it is ready.
	scriptFiles = []string{"similar.js", "map.js", "page.js"}
)

// cellCSS is the size of the cells of contact sheets, and their enlargement.
func cellCSS(g figure.Grid) string {
	rendering := "auto"
	if g.Lossless {
		rendering = "pixelated"
	}
	return fmt.Sprintf(":root { --cell: %dpx; --zoom: %d; --rendering: %s; }", g.Cell, zoom(g.Cell), rendering)
}

type groupView struct {
	Index, Number        int
	Title, Size, Classes string
	Pictures             []tileView
	More                 string
}

// tileView is a sample of a group.
type tileView struct {
	Sample int
	Name   string
	Link   template.URL
	// Sheet is the contact sheet with its thumbnail in the given column and row, or empty.
	Sheet         string
	Column, Row   int
	Width, Height int
}

type groupsView struct {
	Framed        bool
	Thing, Things string
	Groups        []groupView
}

// links implements linked.
func (v groupsView) links() (links []link) {
	for _, g := range v.Groups {
		links = append(links, link{fmt.Sprintf("group-%d", g.Number), fmt.Sprintf("Group %d", g.Number)})
	}
	return links
}

// groups shows all groups. What it writes is the page without its script: each group with its first
// samples, their contact sheets, and the data and code of the script.
func groups(w *clustersPage) any {
	c := w.clusters
	var failed []string
	w.fail(together(w.ctx, func() (err error) {
		w.codes, err = c.code(w.ctx)
		return err
	}, func() (err error) {
		if c.Image != nil && len(w.order) > 0 {
			w.sheets, failed, err = c.writeThumbnails(w.folder, w.order)
		}
		return err
	}))
	if w.err != nil {
		return nil
	}
	w.Warnings = append(w.Warnings, failed...)
	w.fail(w.writeData())
	for _, name := range scriptFiles {
		w.fail(w.writeBytes("page/"+name, scriptText(name)))
	}
	view := groupsView{Framed: w.sheets != nil && c.Labels != nil, Thing: c.thing(), Things: c.things()}
	for g, members := range w.members {
		view.Groups = append(view.Groups, w.group(g, members))
	}
	return view
}

// scriptText returns a script of the page.
func scriptText(name string) []byte {
	text, err := scripts.ReadFile(name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return text
}

// group is the view of group g.
func (w *clustersPage) group(g int, members []int) groupView {
	c := w.clusters
	v := groupView{Index: g, Number: g + 1, Title: fmt.Sprintf("Group %d", g+1), Size: c.count(len(members)) + ".", Classes: c.classesOf(members)}
	if name := c.groupName(g, members); name != "" {
		v.Title += ": " + name
	}
	if c.Memberships != nil && len(members) > 1 {
		v.Size += " The most typical come first."
	}
	for _, sample := range members[:min(len(members), shownFirst)] {
		tile := tileView{Sample: sample, Name: c.Names[sample]}
		if c.Links != nil {
			tile.Link = template.URL(c.Links[sample])
		}
		if t := w.sheets; t != nil && t.sizes[sample] != (image.Point{}) {
			at := t.place[sample] % t.grid.Len()
			tile.Sheet = t.path(t.place[sample] / t.grid.Len())
			tile.Column, tile.Row = at%t.grid.Columns, at/t.grid.Columns
			tile.Width, tile.Height = t.sizes[sample].X, t.sizes[sample].Y
		}
		v.Pictures = append(v.Pictures, tile)
	}
	if more := len(members) - len(v.Pictures); more > 0 {
		v.More = fmt.Sprintf("%s more.", c.count(more))
	}
	return v
}
