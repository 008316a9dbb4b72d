package report

import (
	"context"
	"fmt"
	"image"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/phrase"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// Clusters is what is reported of one grouping of n samples, somebody's own
// pictures for instance.
type Clusters struct {
	// Name heads the page.
	Name string
	// Command is the command line that does it again.
	Command string
	// Program is the version of the program, which the page and the saved model tell.
	Program string
	// Opened is how the data were opened, of which the saved model tells what explore needs.
	Opened pipeline.Data
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
	// Confidence says for each sample how well it goes with its group, from 0 to 1, as
	// cluster.Membership does. Nil where it is not known.
	Confidence []float64
	// Assignments is the name of a file in the same folder that lists which
	// sample is in which group, or empty.
	Assignments string
	// Labels holds for each sample an index into Classes, or -1 where its
	// class is not known. Nil means that no class is known.
	Labels  []int
	Classes []string
	// GroupClasses holds for each group the index of the class that was told of samples in
	// it, or -1. Nil means that no class was told, and Labels are the data's own. A
	// group is called after a class that is worth it (see mostly).
	GroupClasses []int
	// Counts says how the number of groups was chosen, or is nil where it was told.
	Counts *pipeline.CountCurve
	// Ranks says how the number of basis vectors was chosen, or is nil where it was told.
	Ranks *pipeline.RankChoice
	// Scores are shares, named as in pipeline.Record; empty where no class is
	// known.
	Scores map[string]float64
	// Image returns the picture of sample i. It is called once for each sample, for several
	// at once; a picture that it cannot return is left out and named in a warning, but
	// for a context's error, which ends the writing. Nil means that the samples are no pictures.
	Image func(i int) (image.Image, error)
	// Pictures tells which samples are copies, outliers, blurred or blank, or is nil where
	// that was not looked for.
	Pictures *Pictures
	// Side is the longer side of the pictures in pixels, of the largest where they
	// differ. Thumbnails are no larger than figure.PhotographCell, which 0 stands for.
	Side int
	// Features is n×m: the rows by which samples are compared, of unit length with Cosine, on
	// the map and where similar ones are looked for. Nil means neither.
	Features *mat.Dense
	Cosine   bool
	// Links holds for each sample where its picture is, percent-encoded and relative to the
	// page, or "" where it is in no file. Nil means that none is.
	Links []string
	// Basis is what was learned, or nil where it cannot be shown.
	Basis *Basis
	// Patches show what was learned on photographs, and Words the visual words
	// that it was learned of, or nil.
	Patches  []Patches
	Words    *Words
	Warnings []string
}

// clustersPage is the page of a grouping.
type clustersPage struct {
	page
	clusters Clusters
	members  [][]int // the samples of each group, in the order in which they are shown
	order    []int   // all of them
	sheets   *thumbnails
	codes    *codes
}

// clustersSections lists the sections of the page, in their order.
var clustersSections = []func(*clustersPage) section{
	clusterScoresSection,
	groupsSection,
	folding(countsSection),
	folding(chosenRankSection),
	folding(partsOfGroupsSection),
	folding(clustersPhotographs),
	folding(clustersTimes),
}

// folding returns a section that is folded away.
func folding(of func(*clustersPage) section) func(*clustersPage) section {
	return func(w *clustersPage) section {
		s := of(w)
		s.folded = true
		return s
	}
}

// ClustersFiles are what WriteClusters writes: names of files and, with a slash at
// their ends, of folders. In groups/ earlier versions wrote.
var ClustersFiles = []string{"index.html", "page/", "pictures/", "curves/", "bases/", "patches/", "words/", "groups/"}

// WriteClusters writes into dir, which it makes if need be:
//
//	index.html           the page
//	page/page.js         its script, and what the script shows
//	page/similar.js, map.js, data.js
//	pictures/000.jpg, …  thumbnails of all pictures, a few hundred in a file; .png where
//	                     the pictures are tiny
//	curves/groups.png    how the number of groups was chosen, as .svg and .pdf too
//	bases/METHOD.png     the learned parts
//	patches/METHOD/examples.png, 1.png, … and words/1.png, …
//
// It is an error if the lengths do not fit each
// other or a group or label is out of range. Once ctx is done its error is
// returned, and the files written by then stay. Where it counts times, the page
// shows them (see internal/timing).
func WriteClusters(ctx context.Context, dir string, c Clusters) error {
	if err := c.check(); err != nil {
		return err
	}
	w := &clustersPage{clusters: c, members: c.inOrder(), page: page{
		folder: folder{dir, ctx}, Name: c.Name, Command: c.Command, Settings: c.Settings,
		Assignments: c.Assignments, Warnings: slices.Clone(c.Warnings),
		Styles: []string{pageCSS, clustersCSS, cellCSS(c.grid())}, Scripts: []string{dataFile},
	}}
	if c.Program != "" {
		w.Settings = append(slices.Clip(w.Settings), programSetting(c.Program))
	}
	for _, name := range scriptFiles {
		w.Scripts = append(w.Scripts, "page/"+name)
	}
	w.order = slices.Concat(w.members...)
	w.Lead = fmt.Sprintf("%s sorted into %s.", c.count(len(c.Names)), phrase.Count(len(w.members), "group", "groups"))
	w.About = c.things() + " that look alike to the method (" + c.Method + ") are in one group. Which group has which number means nothing."
	return w.writeSections(sections(w, clustersSections))
}

// check returns an error where the parts do not fit each other.
func (c Clusters) check() error {
	n := len(c.Names)
	for _, of := range []struct {
		what string
		n    int
		any  bool
	}{
		{"groups", len(c.Groups), true},
		{"distances", len(c.Distances), c.Distances != nil},
		{"confidences", len(c.Confidence), c.Confidence != nil},
		{"labels", len(c.Labels), c.Labels != nil},
		{"links", len(c.Links), c.Links != nil},
	} {
		if of.any && of.n != n {
			return fmt.Errorf("report: %d samples, but %s of %d", n, of.what, of.n)
		}
	}
	if c.Features != nil && c.Features.RawMatrix().Rows != n {
		return fmt.Errorf("report: %d samples, but features of %d", n, c.Features.RawMatrix().Rows)
	}
	if err := checkPictures(c.Pictures, n); err != nil {
		return err
	}
	for i, g := range c.Groups {
		if g < 0 || g >= n {
			return fmt.Errorf("report: %s is in group %d of %d samples", c.Names[i], g, n)
		}
	}
	if c.GroupClasses != nil && len(c.GroupClasses) <= slices.Max(c.Groups) {
		return fmt.Errorf("report: classes told of %d groups, and there is group %d", len(c.GroupClasses), slices.Max(c.Groups)+1)
	}
	for _, l := range c.GroupClasses {
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

// members returns the samples of each group.
func (c Clusters) members() [][]int {
	var members [][]int
	for i, g := range c.Groups {
		for g >= len(members) {
			members = append(members, nil)
		}
		members[g] = append(members[g], i)
	}
	return members
}

// thing is what a sample is called.
func (c Clusters) thing() string {
	if c.Image != nil {
		return "picture"
	}
	return "sample"
}

// things is what samples are called at the beginning of a sentence.
func (c Clusters) things() string {
	if c.Image != nil {
		return "Pictures"
	}
	return "Samples"
}

// count is a number of samples in words.
func (c Clusters) count(n int) string { return phrase.Count(n, c.thing(), c.thing()+"s") }
