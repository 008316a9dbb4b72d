package report

import (
	"embed"
	"fmt"
	"html/template"
	"image"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/report/figure"
	"github.com/seed4492f2cd/partwise/report/table"
)

type plainScore struct {
	Title, Help, Value string
	Headline           bool
}

// clusterScoresSection says how well the groups agree with the classes.
func clusterScoresSection(w *clustersPage) section {
	return section{template: clusterScoresTemplate, make: func() (any, error) {
		var scores []plainScore
		for _, name := range slices.SortedFunc(maps.Keys(w.clusters.Scores), eval.CompareScores) {
			s, _ := eval.FindScore(name)
			scores = append(scores, plainScore{s.Title, s.Help, table.WithUnit(s, w.clusters.Scores[name], " "), s.Prominence == eval.Headline})
		}
		if scores == nil {
			return nil, nil
		}
		return scores, nil
	}}
}

var clusterScoresTemplate = parse("scores of groups", `

<details class="agreement">
<summary>How well the groups agree with the classes that are known{{range $i, $s := .}}{{if .Headline}}{{if $i}}; {{else}}: {{end}}{{.Title}} {{.Value}}{{end}}{{end}}</summary>
<table class="settings">
{{- range .}}
<tr><th scope="row">{{.Title}}</th><td><b>{{.Value}}</b> {{with .Help}}<br><span class="note">{{.}}</span>{{end}}</td></tr>
{{- end}}
</table>
</details>`)

// What the page shows of each group without its script.
const shownFirst = 12

//go:embed clusters.css
var clustersCSS string

// The scripts of the page.
//
//go:embed page.js similar.js map.js explore.js
var scripts embed.FS

// exploreCSS says how looks what explore.js adds.
//
//go:embed explore.css
var exploreCSS string

// cellCSS says how large the cells of contact sheets are, and by how much they are enlarged.
func cellCSS(g figure.Grid) string {
	rendering := "auto"
	if g.Lossless {
		rendering = "pixelated"
	}
	return fmt.Sprintf(":root { --cell: %dpx; --zoom: %d; --rendering: %s; }", g.Cell, zoom(g.Cell), rendering)
}

// scriptFiles are the scripts of the page, in the order in which they run, after the data:
// page.js tells the others when it is ready.
var scriptFiles = []string{"similar.js", "map.js", "page.js"}

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
	// Sheet is the contact sheet that holds its thumbnail, in the given column and row, or
	// empty.
	Sheet         string
	Column, Row   int
	Width, Height int
}

type groupsView struct {
	Framed, Scripted bool
	Thing, Things    string
	Groups           []groupView
}

// groupsSection shows all groups. What it writes is the page without its script: each
// group with its first pictures.
func groupsSection(w *clustersPage) section {
	return section{
		template: groupsTemplate,
		make: func() (any, error) {
			c := w.clusters
			var failed []string
			draw := func() (err error) {
				if c.Image != nil && len(w.order) > 0 {
					w.sheets, failed, err = c.writeThumbnails(w.folder, w.order)
				}
				return err
			}
			place := func() (err error) {
				w.codes, err = c.code(w.ctx)
				return err
			}
			if err := each(w.ctx, 2, func(i int) error { return []func() error{place, draw}[i]() }); err != nil {
				return nil, err
			}
			w.Warnings = append(w.Warnings, failed...)
			if err := w.writeData(); err != nil {
				return nil, err
			}
			for _, name := range scriptFiles {
				if err := w.write("page/"+name, func(to io.Writer) error {
					text, err := scripts.ReadFile(name)
					if err == nil {
						_, err = to.Write(text)
					}
					return err
				}); err != nil {
					return nil, err
				}
			}
			view := groupsView{Framed: w.sheets != nil && c.Labels != nil, Thing: c.thing(), Things: c.things()}
			for g, members := range w.members {
				view.Groups = append(view.Groups, w.group(g, members))
			}
			return view, nil
		},
		links: func(view any) (links []link) {
			for _, g := range view.(groupsView).Groups {
				links = append(links, link{fmt.Sprintf("group-%d", g.Number), fmt.Sprintf("Group %d", g.Number)})
			}
			return links
		},
	}
}

// group is what is shown of group g.
func (w *clustersPage) group(g int, members []int) groupView {
	c := w.clusters
	classes, _ := c.composition(members)
	v := groupView{Index: g, Number: g + 1, Title: fmt.Sprintf("Group %d", g+1), Size: c.count(len(members)) + ".", Classes: classes}
	if name := c.groupName(g, members); name != "" {
		v.Title += ": " + name
	}
	if c.Distances != nil && len(members) > 1 {
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

var groupsTemplate = parse("groups", `
<noscript><p class="warn">The page shows all {{.Thing}}s, and looks for names and for {{.Thing}}s that look alike, with its own script, which this browser does not run. Without it the first of each group are here.</p></noscript>
<div id="tools" role="search" aria-label="Find {{.Thing}}s" hidden>
<label>Name <input id="find" type="search" autocomplete="off" spellcheck="false"></label>
<label>Order <select id="order"></select></label>
<span id="lists"></span>
<button type="button" id="fold">Fold all groups</button>
</div>
<p id="told" role="status"></p>
<section id="results" aria-labelledby="results-title" tabindex="-1" hidden>
<h2 id="results-title"></h2>
<button type="button" id="results-close">Close</button>
<div class="pictures" role="group"></div>
</section>
<section id="map" aria-labelledby="map-title" hidden>
<h2 id="map-title">Map</h2>
<p id="map-help">{{.Things}} that look alike lie near each other; the colours are those of the groups. Drag to move; a click on the map, then the wheel, or two fingers zoom, and so do the keys + and −. Arrow keys move, 0 shows all, Enter opens the {{.Thing}} in the middle, and dragging with Shift selects. The groups below list the same {{.Thing}}s.</p>
<div class="bar"></div>
<canvas tabindex="0" role="img" aria-label="Map of all {{.Thing}}s" aria-describedby="map-help"></canvas>
<ul class="map-key"></ul>
</section>
{{- if .Framed}}
<details class="keys-note">
<summary>What the frames show</summary>
<ul class="keys">
<li><span class="key hit"></span>Blue: the picture has the class that is the most frequent one of its group.</li>
<li><span class="key miss"></span>Orange: it has another class.</li>
<li>No frame: the class is not known.</li>
</ul>
</details>
{{- end}}
<div id="groups">
{{- range .Groups}}

<section class="group" data-group="{{.Index}}" id="group-{{.Number}}" aria-labelledby="group-{{.Number}}-title">
<h2 id="group-{{.Number}}-title">{{.Title}}</h2>
<p>{{.Size}}{{with .Classes}} Known classes: {{.}}.{{end}}</p>
<div class="pictures">
{{- range .Pictures}}
<a class="picture" data-i="{{.Sample}}"{{with .Link}} href="{{.}}"{{end}}>
{{- if .Sheet}}<img class="x{{.Column}} y{{.Row}}" src="{{.Sheet}}" width="{{.Width}}" height="{{.Height}}" loading="lazy" alt="{{.Name}}">
{{- else}}<span class="name">{{.Name}}</span>{{end}}</a>
{{- end}}
</div>
{{- with .More}}
<p class="more note">{{.}}</p>
{{- end}}
</section>
{{- end}}
</div>`)

// clustersPhotographs shows the parts and the visual words on photographs.
func clustersPhotographs(w *clustersPage) section {
	return photographsSection(func() (photographsView, error) {
		view, failed, err := writePhotographs(w.folder, w.clusters.Patches, w.clusters.Words)
		w.Warnings = append(w.Warnings, failed...)
		return view, err
	})
}

// Frames of pictures whose class is known.
var (
	hitColour  = figure.Palette[0]
	missColour = figure.Palette[1]
)

// groupName is what group g is called beside its number: after a class that is worth it, or "".
func (c Clusters) groupName(g int, members []int) string {
	_, main := c.composition(members)
	switch {
	case !c.mostly(members, main):
	case c.GroupClasses == nil:
		return "mostly " + c.Classes[main]
	case c.GroupClasses[g] == main:
		return c.Classes[main]
	}
	return ""
}

// composition lists the known classes of a group's members, the most frequent
// one first, and returns that one (-1 where none is known).
func (c Clusters) composition(members []int) (words string, main int) {
	if c.Labels == nil {
		return "", -1
	}
	sizes := make([]int, len(c.Classes))
	for _, sample := range members {
		if l := c.Labels[sample]; l >= 0 {
			sizes[l]++
		}
	}
	var found []int
	for l, n := range sizes {
		if n > 0 {
			found = append(found, l)
		}
	}
	if found == nil {
		return "", -1
	}
	slices.SortStableFunc(found, func(a, b int) int { return sizes[b] - sizes[a] })
	parts := make([]string, len(found))
	for i, l := range found {
		parts[i] = fmt.Sprintf("%s (%d)", c.Classes[l], sizes[l])
	}
	return strings.Join(parts, ", "), found[0]
}

// mostly tells whether a group is called after a class: more than half of its
// samples of known class must be of it, and the class of half of its samples or
// more must be known.
func (c Clusters) mostly(members []int, class int) bool {
	known, of := 0, 0
	for _, sample := range members {
		if c.Labels != nil && c.Labels[sample] >= 0 {
			known++
			if c.Labels[sample] == class {
				of++
			}
		}
	}
	return 2*of > known && 2*known >= len(members)
}
