package report

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"html/template"
	"image"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report/table"
)

// Clusters is the content of the page of one grouping of n samples, for instance of a person's photos. Lists by sample
// have n elements or are nil.
type Clusters struct {
	Name, Command, Program string    // the heading, the command that repeats the grouping, and the program's version
	Opened                 spec.Data // how the data were opened, for the saved model
	ByDay                  bool      // as in the saved model
	Method                 string    // the method with its settings
	Settings               [][2]string
	// Grouping holds the groups, and optionally Scores, GroupClasses and Memberships. With Memberships, the page shows
	// the most typical samples of a group first.
	*grouping.Grouping
	Names       []string // of the samples
	Assignments string   // the CSV file of the groups in the same folder, or ""
	// Labels are indices into Classes, or −1 for an unknown class. Without GroupClasses they are the classes in the
	// data.
	Labels  []int
	Classes []string
	Counts  *grouping.CountCurve // the choice of the number of groups, or nil
	Ranks   *spec.RankChoice     // the choice of the number of basis vectors, or nil
	// Image returns the picture of sample i, and is called once for each sample, concurrently. A picture with an error
	// is left out with a warning; an error of the context ends the writing. nil means no pictures.
	Image    func(i int) (image.Image, error)
	Pictures *input.Pictures // copies, outliers, blurred and blank pictures, or nil
	// Side is the longer side in pixels of the largest picture; 0 means figure.PhotographCell, which is also the
	// largest side of thumbnails.
	Side int
	// Features is n×m: the rows that the map and the search for similar samples compare, of unit length with Cosine.
	// nil turns both off.
	Features *mat.Dense
	Cosine   bool
	Links    []string              // addresses of the pictures, percent-encoded and relative to the page, or ""
	Basis    *Basis                // the learned basis, or nil if it cannot be shown
	Shown    *models.Illustrations // parts and visual words on photos, or nil
	Warnings []string

	count func(done, total int) // counts the photos, or nil
}

type clustersPage struct {
	page
	clusters Clusters
	members  [][]int // the samples of each group, in the order of display
	order    []int   // all members, group by group
	data     *pageData
}

var clustersSections = []section[*clustersPage]{
	{template: readTemplate("group-scores"), make: clusterScores},
	{template: readTemplate("groups"), make: groups},
	{id: "how-many", title: "Number of groups", template: readTemplate("counts"), make: counts, folded: true},
	{id: "how-many-parts", title: "Number of parts", template: readTemplate("ranks"), make: chosenRank, folded: true},
	{id: "parts", title: "Learned parts", template: readTemplate("parts"), make: partsOfGroups, folded: true},
	{template: readTemplate("photographs"), make: clustersPhotographs, folded: true},
	{id: "times", title: "Times", template: readTemplate("times"), make: clustersTimes, folded: true},
}

// ClustersFiles are the files and, with a slash at the end, the folders that WriteClusters writes. Earlier versions
// wrote into groups/.
var ClustersFiles = []string{"index.html", "page/", "pictures/", "curves/", "bases/", "patches/", "words/", "groups/"}

// WriteClusters writes ClustersFiles into dir, which it creates if needed: the page, its scripts and their data,
// thumbnails of all pictures in contact sheets, and figures about the choice of groups. If ctx ends, it returns the
// error of ctx, and leaves the files written so far. If ctx counts times (internal/timing), the page shows them.
func WriteClusters(ctx context.Context, dir string, c Clusters) error {
	w := &clustersPage{clusters: c, members: c.inOrder(), page: page{
		folder: folder{dir, ctx}, Name: c.Name, Command: c.Command, Settings: c.Settings,
		Assignments: c.Assignments, Warnings: slices.Clone(c.Warnings),
		Styles: []string{pageCSS, clustersCSS}, Scripts: []string{dataFile},
	}}
	if c.Program != "" {
		w.Settings = append(slices.Clip(w.Settings), programSetting(c.Program))
	}
	w.Scripts = append(w.Scripts, lists.Map(scriptFiles, func(name string) string { return "page/" + name })...)
	w.order = slices.Concat(w.members...)
	w.Lead = fmt.Sprintf("%s in %s.", c.Count(len(c.Names)), phrase.Count(len(w.members), "group", "groups"))
	w.About = "Each group holds similar " + c.noun() + "s (method: " + c.Method + "). Group numbers have no meaning."
	if c.Stability != nil {
		w.About += " Stability: " + c.StabilityText() + "."
	}
	return writePage(&w.page, w, clustersSections)
}

// inOrder returns the samples of each group, the most typical first if that is known.
func (c Clusters) inOrder() [][]int {
	order := matrix.Range(len(c.Groups))
	if c.Memberships != nil {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.Memberships[a].Distance, c.Memberships[b].Distance) })
	}
	members := make([][]int, slices.Max(append([]int{-1}, c.Groups...))+1)
	for _, i := range order {
		members[c.Groups[i]] = append(members[c.Groups[i]], i)
	}
	return members
}

func (c Clusters) noun() string {
	if c.Image != nil {
		return "image"
	}
	return "sample"
}

// Count returns a number of samples in words, as in "3 images".
func (c Clusters) Count(n int) string { return phrase.Count(n, c.noun(), c.noun()+"s") }

// groupName returns the class given for group g. Otherwise it returns the class of more than half of the samples with a
// known class, if these are at least half of the group, or "".
func (c Clusters) groupName(g int, members []int) string {
	known, classes, sizes := c.composition(members)
	switch {
	case c.GroupName(g, c.Classes) != "":
		return c.GroupName(g, c.Classes)
	case c.GroupClasses != nil || known == 0 || 2*sizes[classes[0]] <= known || 2*known < len(members):
		return ""
	}
	return "mostly " + c.Classes[classes[0]]
}

// composition returns the number of samples with a known class, their classes, the largest first, and the sizes of all
// classes.
func (c Clusters) composition(members []int) (known int, classes, sizes []int) {
	sizes = make([]int, len(c.Classes))
	for _, sample := range members {
		if c.Labels != nil && c.Labels[sample] >= 0 {
			known++
			sizes[c.Labels[sample]]++
		}
	}
	classes = slices.DeleteFunc(matrix.Range(len(sizes)), func(l int) bool { return sizes[l] == 0 })
	slices.SortStableFunc(classes, func(a, b int) int { return sizes[b] - sizes[a] })
	return known, classes, sizes
}

type plainScore struct {
	eval.Score
	Value    string
	Headline bool
}

func clusterScores(w *clustersPage) any {
	var scores []plainScore
	for _, name := range slices.SortedFunc(maps.Keys(w.clusters.Scores), eval.CompareScores) {
		s, _ := eval.FindScore(name)
		scores = append(scores, plainScore{s, table.WithUnit(s, w.clusters.Scores[name], " "), s.Prominence == eval.Headline})
	}
	return scores
}

const shownFirst = 12 // the number of samples of each group that the page shows without scripts

var (
	//go:embed clusters.css
	clustersCSS string
	//go:embed explore.css
	exploreCSS string
	//go:embed grid.js page.js similar.js map.js explore.js cleaning.js
	scripts embed.FS

	// scriptFiles are the page's scripts in order; page.js starts the others when it is ready.
	scriptFiles = []string{"grid.js", "similar.js", "map.js", "page.js"}
)

type groupView struct {
	Index, Number  int
	Title, Classes string
	Size, More     int // the numbers of samples, and of those after Pictures
	Typical        bool
	Pictures       []tileView
}

type tileView struct {
	Sample                     int
	Name                       string
	Link                       template.URL
	Sheet                      string // the contact sheet with its thumbnail in the given column and row, or ""
	Column, Row, Width, Height int
}

type groupsView struct {
	Framed        bool
	Thing, Things string
	Groups        []groupView
}

// groups shows all groups. Scripts read its files, and its text is the page without scripts.
func groups(w *clustersPage) any {
	c := w.clusters
	var failed []string
	w.data = w.newData()
	concurrently(w.ctx, func() { w.data.codes = c.encodeFeatures(w.ctx) }, func() {
		if c.Image != nil && len(w.order) > 0 {
			w.data.Sheets, failed = c.writeThumbnails(w.folder, w.order)
		}
	})
	w.Warnings, w.Styles = append(w.Warnings, failed...), append(w.Styles, w.data.cellCSS())
	w.writeBytes(dataFile, dataScript(w.data))
	for _, name := range scriptFiles {
		w.writeBytes("page/"+name, guard.Must(scripts.ReadFile(name)))
	}
	view := groupsView{Framed: w.data.Sheets != nil && c.Labels != nil, Thing: c.noun(), Things: c.noun() + "s"}
	for g, members := range w.members {
		view.Groups = append(view.Groups, w.group(g, members))
		w.Links = append(w.Links, link{fmt.Sprintf("group-%d", g+1), view.Groups[g].Title})
	}
	return view
}

func (w *clustersPage) group(g int, members []int) groupView {
	c := w.clusters
	_, classes, sizes := c.composition(members)
	parts := lists.Map(classes, func(l int) string { return fmt.Sprintf("%s (%d)", c.Classes[l], sizes[l]) })
	first := members[:min(len(members), shownFirst)]
	v := groupView{
		Index: g, Number: g + 1, Title: fmt.Sprintf("Group %d", g+1), Classes: strings.Join(parts, ", "),
		Size: len(members), More: len(members) - len(first), Typical: c.Memberships != nil && len(members) > 1,
		Pictures: lists.Map(first, func(sample int) tileView { return w.data.tile(sample, "") }),
	}
	if name := c.groupName(g, members); name != "" {
		v.Title += ": " + name
	}
	return v
}
