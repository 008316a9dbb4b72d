package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"image"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/report/figure"
)

// The files of a grouping, beside the files of its page.
const (
	AssignmentsFile = "assignments.csv"   // the groups of the samples
	ModelFile       = "model.npz"         // a models.Model
	LabelsFile      = feedback.LabelsFile // the given labels and links, which partwise cluster can read
	LinksFile       = feedback.LinksFile
	PicturesFile    = "pictures.csv"  // copies, outliers, blurred and blank pictures
	SkippedFile     = "skipped.csv"   // the skipped files, if any
	FeedbackFolder  = feedback.Folder // corrections, which later groupings leave in place
)

// GroupingFiles are the files and folders of a GroupingFolder.
var GroupingFiles = append([]string{AssignmentsFile, LabelsFile, LinksFile, SkippedFile, PicturesFile, ModelFile, results.ScalesFile, cleaningFolder}, ClustersFiles...)

// GroupingFolder is the folder of a grouping, locked for writing. Close unlocks it, and removes it if OpenGrouping
// created it and nothing was written.
type GroupingFolder struct {
	*output.Folder
	NotSame [][2]string // the pairs of NotSameFile
}

// OpenGrouping locks the folder dir until Close, and creates it if needed. It refuses a folder with foreign files under
// the names of a grouping's files. With sameData, it also refuses a grouping of other data than data, a path or name.
func OpenGrouping(dir, data string, sameData bool) (*GroupingFolder, error) {
	return openGrouping(dir, output.Spec{Command: "cluster", Data: data, SameData: sameData, Names: GroupingFiles})
}

func openGrouping(dir string, spec output.Spec) (*GroupingFolder, error) {
	folder, err := output.Open(dir, spec)
	if err != nil {
		return nil, err
	}
	pairs, err := addNotSame(dir, nil)
	if err != nil {
		err = errors.Join(err, folder.Close())
	}
	return &GroupingFolder{folder, pairs}, err
}

// ExploreGrouping locks the folder of an existing grouping with its feedback until Close. It returns the path or name
// of the grouped data.
func ExploreGrouping(dir string) (*GroupingFolder, string, error) {
	data, err := groupedData(dir)
	if err != nil {
		return nil, "", err
	}
	folder, err := openGrouping(dir, output.Spec{Command: "cluster", Data: data, Names: append(slices.Clip(GroupingFiles), FeedbackFolder)})
	return folder, data, err
}

func groupedData(dir string) (string, error) {
	command, data, err := output.Written(dir)
	if err == nil && command != "cluster" {
		err = fmt.Errorf("%s has results of partwise %s, but no groups", dir, command)
	}
	return data, err
}

// Publish replaces the content of the folder by a grouping of the inputs, calls from.Published, and closes the folder.
// c has the name, command, method, settings, warnings and pictures; Publish fills in all other fields and returns c.
func (f *GroupingFolder) Publish(ctx context.Context, in *input.Inputs, found *grouping.Grouping, c Clusters, from Sources) (_ Clusters, err error) {
	defer guard.Catch(&err)
	c.count = counting(from.Progress)
	c.setResults(ctx, in, found, f.Folder.Dir())
	stage := guard.Must(f.Folder.Stage(GroupingFiles...))
	defer stage.Discard()
	to := folder{stage.Dir(), ctx}
	c.writeLists(to, in)
	// Compressing the model takes as long as drawing the page.
	concurrently(ctx, func() {
		m := guard.Must(found.Model(ctx, in))
		m.Program, m.Groups.Opened, m.Groups.ByDay = c.Program, c.Opened, c.ByDay
		to.write(ModelFile, m.Save)
	}, func() {
		c.Shown = guard.Must(found.Illustrate(ctx, in))
		guard.Check(WriteClusters(ctx, stage.Dir(), c))
	})
	err = stage.Publish()
	if err == nil && from.Published != nil {
		err = from.Published()
	}
	return c, errors.Join(err, f.Close())
}

// Draw writes only the page of a grouping of the inputs into dir, as Publish does.
func (c Clusters) Draw(ctx context.Context, in *input.Inputs, found *grouping.Grouping, dir string, from Sources) (_ Clusters, err error) {
	defer guard.Catch(&err)
	c.count = counting(from.Progress)
	c.setResults(ctx, in, found, dir)
	return c, WriteClusters(ctx, dir, c)
}

// setResults sets the fields that follow from the inputs and the grouping, for a page in the folder dir.
func (c *Clusters) setResults(ctx context.Context, in *input.Inputs, found *grouping.Grouping, dir string) {
	c.Grouping, c.Classes, c.Assignments = found, in.Set.Classes, AssignmentsFile
	c.Names = make([]string, len(found.Groups))
	files := make([]string, len(in.Rows))
	for i, row := range in.Rows {
		c.Names[i], files[i] = in.Set.Names[row], in.Set.File(row)
	}
	if len(in.Set.Classes) > 0 {
		c.Labels = in.Labels()
	}
	if in.Set.HasImages() {
		c.Image = func(i int) (image.Image, error) {
			defer c.count(1, 0)
			return in.Thumbnail(ctx, i)
		}
		c.count(0, len(c.Names))
		c.Side = max(in.Set.Height, in.Set.Width)
		for _, i := range figure.Evenly(matrix.Range(len(files)), 32) {
			w, h, _ := imagefile.Size(files[i]) // unreadable files are reported later
			c.Side = max(c.Side, w, h)
		}
	}
	if in.Set.Files != nil || in.Set.Pictures != nil {
		c.Links = linksTo(files, dir)
	}
	// Sparse features, and features that are not all in memory, are compared by their coefficients, if any.
	if x, ok := in.X.(*mat.Dense); ok {
		c.Features = x
	} else if found.Result != nil {
		c.Features = found.Result.Coefficients
	}
	c.Cosine = found.Cluster.Distance == cluster.DistanceCosine
	if pixels := in.Pixels(); found.Result != nil && found.Result.Basis != nil && pixels.Height > 0 {
		c.Basis = &Basis{found.Method, pixels.Of(found.Result.Basis), pixels.Height, pixels.Width, pixels.Channels}
	}
}

// linksTo returns links to files from a page in a folder: relative, or absolute between Windows drives.
func linksTo(files []string, dir string) []string {
	links := make([]string, len(files))
	from, err := filepath.Abs(dir)
	for i, file := range files {
		to, err2 := filepath.Abs(file)
		if file == "" || err != nil || err2 != nil {
			continue
		}
		if relative, err := filepath.Rel(from, to); err == nil {
			links[i] = escapePath(filepath.ToSlash(relative))
		} else {
			links[i] = "file:///" + escapePath(filepath.ToSlash(to))
		}
	}
	return links
}

// writeLists calls guard.Fail.
func (c Clusters) writeLists(to folder, in *input.Inputs) {
	to.writeBytes(AssignmentsFile, listText(len(c.Names), c.assignments()))
	if c.Pictures != nil {
		to.writeBytes(PicturesFile, PicturesCSV(c.Names, c.Pictures))
	}
	if bad := in.Bad(); len(bad) > 0 {
		to.write(SkippedFile, func(w io.Writer) error { return datasets.WriteBadFiles(w, bad) })
	}
	if c.GroupClasses != nil {
		classes := make([]string, in.Set.Len())
		for i, label := range in.Set.Labels {
			if label >= 0 {
				classes[i] = in.Set.Classes[label]
			}
		}
		to.write(LabelsFile, func(w io.Writer) error { return in.Set.WriteLabels(w, classes) })
	}
	if !c.Grouping.Links.None() {
		to.write(LinksFile, func(w io.Writer) error { return in.Set.WriteLinks(w, c.Grouping.Links) })
	}
	if in.Scales != nil {
		to.writeBytes(results.ScalesFile, results.Scales(in.Scales))
	}
}

// listColumn is a column of a CSV file with a line for each sample.
type listColumn struct {
	name string
	cell func(sample int) string
}

// PicturesCSV returns the content of PicturesFile.
func PicturesCSV(names []string, p *input.Pictures) []byte {
	return listText(len(names), Clusters{Names: names, Pictures: p}.pictures())
}

func listText(n int, columns []listColumn) []byte {
	var text bytes.Buffer
	out := csv.NewWriter(&text)
	out.Write(lists.Map(columns, func(c listColumn) string { return c.name })) // cannot fail
	for i := range n {
		out.Write(lists.Map(columns, func(c listColumn) string { return c.cell(i) }))
	}
	out.Flush()
	return text.Bytes()
}

// assignments has the group of each sample, the classes of both, if known, and the confidence.
func (c Clusters) assignments() []listColumn {
	class := func(l int) string {
		if l < 0 {
			return ""
		}
		return spreadsheet.Cell(c.Classes[l])
	}
	columns := []listColumn{
		{"file", func(i int) string { return spreadsheet.Cell(c.Names[i]) }},
		{"group", func(i int) string { return strconv.Itoa(c.Groups[i] + 1) }},
	}
	if c.Labels != nil {
		columns = append(columns, listColumn{"class", func(i int) string { return class(c.Labels[i]) }})
	}
	if c.GroupClasses != nil || c.Others {
		columns = append(columns, listColumn{"name", func(i int) string { return spreadsheet.Cell(c.GroupName(c.Groups[i], c.Classes)) }})
	}
	if c.Memberships != nil {
		columns = append(columns, listColumn{"confidence", func(i int) string { return decimals(c.Memberships[i].Confidence, 2, true) }})
	}
	return columns
}

func (c Clusters) pictures() []listColumn {
	p := c.Pictures
	ofCopy := func(i int, text string) string { return map[bool]string{false: text}[p.CopyOf[i] == i] }
	return []listColumn{
		{"file", func(i int) string { return spreadsheet.Cell(c.Names[i]) }},
		{"copy_of", func(i int) string { return ofCopy(i, spreadsheet.Cell(c.Names[p.CopyOf[i]])) }},
		{"copy", func(i int) string {
			near := map[bool]string{true: NearCopy}[p.Near[i]]
			return cmp.Or(map[bool]string{true: BurstCopy}[p.Burst[i]], near, ofCopy(i, ExactCopy))
		}},
		{"outlier", func(i int) string { return decimals(p.Outlier[i], 2, p.Outlier[i] > 0) }},
		{"sharpness", func(i int) string { return decimals(p.Sharpness[i], 2, p.Sharpness[i] >= 0) }},
		{"remark", func(i int) string { return p.Remark[i] }},
		{"width", func(i int) string { return strconv.Itoa(p.Size[i].X) }},
		{"height", func(i int) string { return strconv.Itoa(p.Size[i].Y) }},
		{"bytes", func(i int) string { return strconv.FormatInt(p.Bytes[i], 10) }},
		{"taken", func(i int) string { return takenText(p.Capture[i].Taken) }},
		{"latitude", func(i int) string { return degrees(p.Capture[i].Latitude, p.Capture[i].Longitude) }},
		{"longitude", func(i int) string { return degrees(p.Capture[i].Longitude, p.Capture[i].Latitude) }},
		{"camera", func(i int) string { return spreadsheet.Cell(p.Capture[i].Camera) }},
	}
}

func takenText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateTime)
}

// degrees returns a coordinate, or "" if this and the other one are zero, which means unknown.
func degrees(x, other float64) string { return decimals(x, 6, x != 0 || other != 0) }

func decimals(x float64, places int, known bool) string {
	if !known {
		return ""
	}
	return strconv.FormatFloat(x, 'f', places, 64)
}

// PicturesFound summarises the findings about pictures, as in "12 copies in 5 stacks, 3 blurred, 1 outlier"; "" for
// nothing.
func PicturesFound(p *input.Pictures) string {
	if p == nil {
		return ""
	}
	copies, outliers, counts, stacks := 0, 0, map[string]int{}, map[int]bool{}
	for i, first := range p.CopyOf {
		if first != i {
			copies++
			stacks[first] = true
		}
		if p.Outlier[i] > 0 {
			outliers++
		}
		counts[p.Remark[i]]++
	}
	var parts []string
	if copies > 0 {
		parts = append(parts, phrase.Count(copies, "copy", "copies")+" of "+phrase.Count(len(stacks), "image", "images"))
	}
	parts = append(parts, remarks(counts)...)
	if outliers > 0 {
		parts = append(parts, phrase.Count(outliers, "outlier", "outliers"))
	}
	return strings.Join(parts, ", ")
}

// Assignment is a line of a grouping's AssignmentsFile.
type Assignment struct {
	Line   int    // from 1
	Sample string // the sample's name
	Group  int    // from 1, or 0 for no group
	Name   string // the given class of the group, or ""
}

// ReadAssignments returns the groups of samples in the folder of a grouping, and the path or name of the data. The file
// may have been edited by hand: columns other than "file", "group" and "name" are ignored.
func ReadAssignments(dir string) (found []Assignment, data string, err error) {
	if data, err = groupedData(dir); err == nil {
		found, err = ReadAssignmentsFile(filepath.Join(dir, AssignmentsFile))
	}
	return found, data, err
}

// ReadAssignmentsFile returns the groups of samples in a file with the format of AssignmentsFile.
func ReadAssignmentsFile(path string) (found []Assignment, err error) {
	err = readList(path, []string{"file", "group"}, func(line int, cells map[string]string) {
		group, err := strconv.Atoi(cells["group"])
		if err != nil || group < 0 {
			guard.Fail("group %q: expected a number from 1, or 0 for no group", cells["group"])
		}
		found = append(found, Assignment{Line: line, Sample: cells["file"], Name: cells["name"], Group: group})
	})
	if err == nil && found == nil {
		err = fmt.Errorf("%s: the file lists no samples", path)
	}
	return found, err
}
