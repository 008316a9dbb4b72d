package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"maps"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
)

// Clusters is what is reported of one grouping of n samples, somebody's own
// pictures for instance.
type Clusters struct {
	// Name heads the page.
	Name string
	// Command is the command line that does it again.
	Command string
	// Method is the method's name, and Settings are shown as they are, a name
	// and a value each.
	Method   string
	Settings [][2]string
	// Names holds the n samples' names.
	Names []string
	// Groups holds for each sample its group, from 0.
	Groups []int
	// Distances holds for each sample how far it is from the middle of its
	// group. A group is shown from its most typical sample to its least. Nil
	// leaves the order of the samples.
	Distances []float64
	// Assignments is the name of a file in the same folder that lists which
	// sample is in which group, or empty.
	Assignments string
	// Labels holds for each sample an index into Classes, or -1 where its
	// class is not known. Nil means that no class is known.
	Labels  []int
	Classes []string
	// Told holds for each group the index of the class that was told of samples in
	// it, or -1. Nil means that no class was told, and Labels are the data's own. A
	// group is called after a class that is worth it (see mostly).
	Told []int
	// Scores are shares, named as in pipeline.Record; empty where no class is
	// known.
	Scores map[string]float64
	// Image returns the picture of sample i. It is called for MaxTiles samples
	// of each group at most, for several at once; a picture that it cannot return is drawn as an
	// empty frame and named in a warning, but for a context's error, which
	// ends the writing. Nil means that the samples are no pictures.
	Image func(i int) (image.Image, error)
	// Basis is what was learned, or nil where it cannot be shown.
	Basis *Basis
	// Patches show what was learned on photographs, and Words the visual words
	// that it was learned of, or nil.
	Patches  []Patches
	Words    *Words
	Warnings []string
}

// clustersView is what the page of a grouping shows.
type clustersView struct {
	Name, Lead, Method, Command string
	Assignments                 string
	Thing                       string // what a sample is
	Scores                      []plainScore
	Framed                      bool
	Groups                      []groupView
	Basis                       *basisView
	photographsView
	Warnings []string
	Settings [][2]string
}

type plainScore struct{ Title, Meaning, Value string }

type groupView struct {
	Number        int
	Title         string
	Size, Classes string
	Sheet         *picture
	Names         string
}

// Frames of pictures whose class is known.
var (
	hitColour  = palette[0]
	missColour = palette[1]
)

// WriteClusters writes into dir, which it makes if need be:
//
//	index.html        the page
//	groups/1.png      a contact sheet for each group, numbered from 1
//	bases/METHOD.png  the learned parts
//	patches/METHOD/examples.png, 1.png, … and words/1.png, …
//
// Where a group has more than MaxTiles samples, its sheet shows as many, picked
// evenly in the order given. It is an error if the lengths do not fit each
// other or a group or label is out of range. Once ctx is done its error is
// returned, and the files written by then stay.
func WriteClusters(ctx context.Context, dir string, c Clusters) error {
	to := folder{dir, ctx}
	if err := c.check(); err != nil {
		return err
	}
	members := make([][]int, 0)
	for i, g := range c.Groups {
		for g >= len(members) {
			members = append(members, nil)
		}
		members[g] = append(members[g], i)
	}
	view := clustersView{
		Name:    c.Name,
		Lead:    fmt.Sprintf("%s sorted into %s.", c.count(len(c.Names)), count(len(members), "group", "groups")),
		Thing:   c.thing(),
		Method:  c.Method,
		Command: c.Command,

		Assignments: c.Assignments,
		Scores:      c.scores(),
		Warnings:    slices.Clone(c.Warnings),
		Settings:    c.Settings,
	}
	for g := range members {
		if c.Distances != nil {
			slices.SortStableFunc(members[g], func(a, b int) int { return cmp.Compare(c.Distances[a], c.Distances[b]) })
		}
		v, failed, err := c.writeGroup(to, g, members[g])
		if err != nil {
			return err
		}
		view.Groups = append(view.Groups, v)
		view.Warnings = append(view.Warnings, failed...)
		view.Framed = view.Framed || v.Sheet != nil && v.Classes != ""
	}
	if c.Basis != nil {
		bases, err := writeBases(to, []Basis{*c.Basis})
		if err != nil {
			return err
		}
		view.Basis = &bases[0]
	}
	photographs, failed, err := writePhotographs(to, c.Patches, c.Words)
	if err != nil {
		return err
	}
	view.photographsView = photographs
	view.Warnings = append(view.Warnings, failed...)
	return to.page(clustersPage, view)
}

// check returns an error where the parts do not fit each other.
func (c Clusters) check() error {
	n := len(c.Names)
	if len(c.Groups) != n {
		return fmt.Errorf("report: %d samples, but groups of %d", n, len(c.Groups))
	}
	if c.Distances != nil && len(c.Distances) != n {
		return fmt.Errorf("report: %d samples, but distances of %d", n, len(c.Distances))
	}
	if c.Labels != nil && len(c.Labels) != n {
		return fmt.Errorf("report: %d samples, but labels of %d", n, len(c.Labels))
	}
	for i, g := range c.Groups {
		if g < 0 || g >= n {
			return fmt.Errorf("report: %s is in group %d of %d samples", c.Names[i], g, n)
		}
	}
	if c.Told != nil && len(c.Told) <= slices.Max(c.Groups) {
		return fmt.Errorf("report: classes told of %d groups, and there is group %d", len(c.Told), slices.Max(c.Groups)+1)
	}
	for _, l := range c.Told {
		if l < -1 || l >= len(c.Classes) {
			return fmt.Errorf("report: a group is told to be class %d of %d", l, len(c.Classes))
		}
	}
	for i, l := range c.Labels {
		if l < -1 || l >= len(c.Classes) {
			return fmt.Errorf("report: %s has label %d of %d classes", c.Names[i], l, len(c.Classes))
		}
	}
	return nil
}

// thing is what a sample is called.
func (c Clusters) thing() string {
	if c.Image != nil {
		return "picture"
	}
	return "sample"
}

// count is a number of samples in words.
func (c Clusters) count(n int) string { return count(n, c.thing(), c.thing()+"s") }

// scores puts the scores into words.
func (c Clusters) scores() []plainScore {
	names := slices.SortedFunc(maps.Keys(c.Scores), eval.CompareScores)
	scores := make([]plainScore, len(names))
	for i, name := range names {
		s := scoreOf(name)
		scores[i] = plainScore{s.Title, s.Help, scoreText(s, c.Scores[name]) + withUnit(s, " ")}
	}
	return scores
}

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
	case c.Told == nil:
		v.Title += ": mostly " + c.Classes[main]
	case c.Told[g] == main:
		v.Title += ": " + c.Classes[main]
	}
	shown := evenly(members, MaxTiles)
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

	tiles := make([]Tile, len(shown))
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
			tiles[i].Image = thumbnail(img, sheetBox)
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
	sheet := ContactSheet(tiles, SheetOptions{Title: title, Total: len(members)})
	v.Sheet = &picture{
		Path:  fmt.Sprintf("groups/%d.png", g+1),
		Alt:   fmt.Sprintf("Thumbnails of %d of the %s in group %d.", len(shown), c.count(len(members)), g+1),
		Width: sheet.Rect.Dx(), Height: sheet.Rect.Dy(),
	}
	return v, failed, to.png(v.Sheet.Path, sheet)
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

// evenly picks at most n of the items, at equal distances.
func evenly(items []int, n int) []int {
	if len(items) <= n {
		return items
	}
	picked := make([]int, n)
	for i := range picked {
		picked[i] = items[i*len(items)/n]
	}
	return picked
}
