package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/report/figure"
)

type plainScore struct{ Title, Help, Value string }

// clusterScoresSection says how well the groups agree with the classes.
func clusterScoresSection(w *clustersPage) section {
	return section{template: clusterScoresTemplate, make: func() (any, error) {
		var scores []plainScore
		for _, name := range slices.SortedFunc(maps.Keys(w.clusters.Scores), eval.CompareScores) {
			s, _ := eval.FindScore(name)
			scores = append(scores, plainScore{s.Title, s.Help, s.Format(w.clusters.Scores[name]) + s.Suffix(" ")})
		}
		if scores == nil {
			return nil, nil
		}
		return scores, nil
	}}
}

var clusterScoresTemplate = parse("scores of groups", `

<h2>How good is it?</h2>
<p>The scores say how well the groups agree with the classes that are known.</p>
<table class="settings">
{{- range .}}
<tr><th scope="row">{{.Title}}</th><td><b>{{.Value}}</b> {{with .Help}}<br><span class="note">{{.}}</span>{{end}}</td></tr>
{{- end}}
</table>`)

type groupView struct {
	Number        int
	Title         string
	Size, Classes string
	Sheet         *picture
	Names         string
}

type groupsView struct {
	Framed bool
	Groups []groupView
}

// groupsSection shows each group, groups/1.png for instance.
func groupsSection(w *clustersPage) section {
	return section{
		template: groupsTemplate,
		make: func() (any, error) {
			c := w.clusters
			var view groupsView
			view.Groups = make([]groupView, len(w.members))
			failed := make([][]string, len(w.members))
			if err := each(w.folder.ctx, len(w.members), func(g int) (err error) {
				members := w.members[g]
				if c.Distances != nil {
					slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(c.Distances[a], c.Distances[b]) })
				}
				view.Groups[g], failed[g], err = c.writeGroup(w.folder, g, members)
				return err
			}); err != nil {
				return nil, err
			}
			w.Warnings = append(w.Warnings, slices.Concat(failed...)...)
			for _, v := range view.Groups {
				view.Framed = view.Framed || v.Sheet != nil && v.Classes != ""
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

var groupsTemplate = parse("groups", `
{{- if .Framed}}
<p>The frames show what is known.</p>
<ul class="keys">
<li><span class="key hit"></span>Blue: the picture has the class that is the most frequent one of its group.</li>
<li><span class="key miss"></span>Orange: it has another class.</li>
<li>No frame: the class is not known.</li>
</ul>
{{- end}}
{{- range .Groups}}

<h2 id="group-{{.Number}}">{{.Title}}</h2>
<p>{{.Size}}{{with .Classes}} Known classes: {{.}}.{{end}}</p>
{{- with .Sheet}}
<figure class="sheet"><a href="{{.Path}}"><img src="{{.Path}}" width="{{.Width}}" height="{{.Height}}" alt="{{.Alt}}"></a></figure>
{{- end}}
{{- with .Names}}
<p class="note">{{.}}</p>
{{- end}}
{{- end}}`)

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

// writeGroup draws the sheet of group g, and returns a warning for each
// picture that could not be had.
func (c Clusters) writeGroup(to folder, g int, members []int) (v groupView, failed []string, err error) {
	classes, main := c.composition(members)
	v = groupView{
		Number:  g + 1,
		Title:   fmt.Sprintf("Group %d", g+1),
		Size:    c.count(len(members)) + ".",
		Classes: classes,
	}
	switch {
	case !c.mostly(members, main):
	case c.GroupClasses == nil:
		v.Title += ": mostly " + c.Classes[main]
	case c.GroupClasses[g] == main:
		v.Title += ": " + c.Classes[main]
	}
	shown := figure.Evenly(members, figure.MaxTiles)
	if len(shown) < len(members) {
		v.Size = fmt.Sprintf("%s, of which %d are shown.", c.count(len(members)), len(shown))
	}
	if c.Distances != nil && len(members) > 1 {
		v.Size += " The most typical come first."
	}
	if c.Image == nil || len(members) == 0 {
		names := make([]string, len(shown))
		for i, sample := range shown {
			names[i] = c.Names[sample]
		}
		v.Names = strings.Join(names, ", ")
		return v, nil, nil
	}

	tiles := make([]figure.Tile, len(shown))
	for i, sample := range shown {
		tiles[i].Caption = c.Names[sample]
		if c.Labels != nil && c.Labels[sample] >= 0 {
			tiles[i].Border = missColour
			if c.Labels[sample] == main {
				tiles[i].Border = hitColour
			}
		}
	}
	gone := make([]error, len(shown))
	if err := each(to.ctx, len(shown), func(i int) error {
		img, err := c.Image(shown[i])
		switch {
		case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
			return err
		case err != nil:
			gone[i] = err
		default:
			// Made small at once, since sixty photographs fill the memory.
			tiles[i].Image, err = figure.Thumbnail(to.ctx, img, figure.SheetBox)
			return err
		}
		return nil
	}); err != nil {
		return v, nil, err
	}
	for i, err := range gone {
		if err != nil {
			failed = append(failed, fmt.Sprintf("%s is not shown: %v", c.Names[shown[i]], err))
		}
	}
	title := fmt.Sprintf("Group %d: %s", g+1, c.count(len(members)))
	sheet, err := figure.ContactSheet(to.ctx, tiles, figure.SheetOptions{Title: title, Total: len(members)})
	if err != nil {
		return v, nil, err
	}
	alt := fmt.Sprintf("Thumbnails of %d of the %s in group %d.", len(shown), c.count(len(members)), g+1)
	v.Sheet, err = to.picture(fmt.Sprintf("groups/%d.png", g+1), alt, sheet)
	return v, failed, err
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
