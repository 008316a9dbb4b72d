package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"image"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/output"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/report/figure"
)

const (
	// AssignmentsFile is the file of a grouping that lists which sample is in which
	// group, ModelFile its pipeline.Model, and results.ScalesFile that of the
	// scales of several features.
	AssignmentsFile = "assignments.csv"
	ModelFile       = "model.npz"
	// LabelsFile and LinksFile are what was told of single samples, where anything was, as
	// partwise cluster --labels and --links read it.
	LabelsFile = "labels.csv"
	LinksFile  = "links.csv"
	// SkippedFile lists the files that were skipped, where any were.
	SkippedFile = "skipped.csv"
	// FeedbackFolder is the folder of a feedback.Store, which groupings that follow leave alone.
	FeedbackFolder = "feedback/"
)

// GroupingFiles are what a GroupingFolder holds.
var GroupingFiles = append([]string{AssignmentsFile, LabelsFile, LinksFile, SkippedFile, PicturesFile, ModelFile, results.ScalesFile}, ClustersFiles...)

// GroupingFolder is the folder of a grouping, open for writing.
type GroupingFolder struct{ folder *output.Folder }

// OpenGrouping makes the folder dir if need be and takes it for this process until
// Close. It refuses a folder that holds what partwise did not write where a grouping
// would stand, and with sameData one that holds a grouping of other data than the path
// or name given.
func OpenGrouping(dir, data string, sameData bool) (*GroupingFolder, error) {
	folder, err := output.Open(dir, output.Spec{Command: "cluster", Data: data, SameData: sameData, Names: GroupingFiles})
	if err != nil {
		return nil, err
	}
	return &GroupingFolder{folder}, nil
}

// ExploreGrouping takes the folder of a grouping, which must be there, for this process until Close,
// with what was said of it, and returns the path or name of the data that were grouped.
func ExploreGrouping(dir string) (folder *GroupingFolder, data string, err error) {
	command, data, err := output.Written(dir)
	if err != nil {
		return nil, "", err
	}
	if command != "cluster" {
		return nil, "", fmt.Errorf("%s holds results of partwise %s, and no groups", dir, command)
	}
	open, err := output.Open(dir, output.Spec{Command: command, Data: data, Names: append(slices.Clip(GroupingFiles), FeedbackFolder)})
	if err != nil {
		return nil, "", err
	}
	return &GroupingFolder{open}, data, nil
}

// Feedback returns the store of what is said of the groups, in the folder of the grouping.
func (f *GroupingFolder) Feedback() feedback.Store { return feedbackStore{f.folder} }

// feedbackStore is the FeedbackFolder of a folder.
type feedbackStore struct{ *output.Folder }

// Dir implements feedback.Store.
func (f feedbackStore) Dir() string { return filepath.Join(f.Folder.Dir(), FeedbackFolder) }

// Read implements feedback.Store.
func (f feedbackStore) Read(name string) ([]byte, error) {
	return output.ReadFile(filepath.Join(f.Dir(), name))
}

// Write implements feedback.Store.
func (f feedbackStore) Write(name string, text []byte) error {
	return f.Folder.Write(FeedbackFolder+name, text)
}

// Remove implements feedback.Store.
func (f feedbackStore) Remove(name string) error { return f.Folder.Remove(FeedbackFolder + name) }

// Close gives the folder to others. It removes the folder if OpenGrouping made it and
// nothing was written.
func (f *GroupingFolder) Close() error { return f.folder.Close() }

// Publish replaces what the folder holds by what was found in the inputs, calls from.Published, and
// closes the folder. c says how it was done: its name, command, method, settings and warnings, and what is
// told of the pictures; all else
// is filled in, and returned. Sources.Shown is not used.
func (f *GroupingFolder) Publish(ctx context.Context, in *pipeline.Inputs, found *pipeline.Grouping, c Clusters, from Sources) (Clusters, error) {
	count := newCounter(from.Progress)
	c.Groups, c.Scores = found.Groups, found.Scores
	for _, m := range found.Memberships {
		c.Distances, c.Confidence = append(c.Distances, m.Distance), append(c.Confidence, m.Confidence)
	}
	c.Classes, c.Assignments = in.Set.Classes, AssignmentsFile
	c.Names = make([]string, len(found.Groups))
	for i, row := range in.Rows {
		c.Names[i] = in.Set.Names[row]
	}
	if len(in.Set.Classes) > 0 {
		c.Labels, c.GroupClasses = in.Labels(), found.GroupClasses
	}
	if in.Set.HasImages() {
		c.Image = func(i int) (image.Image, error) {
			defer count.step()
			return in.Thumbnail(ctx, i)
		}
		c.Side = longestSide(in)
	}
	if in.Set.Files != nil || in.Set.Pictures != nil {
		files := make([]string, len(in.Rows))
		for i, row := range in.Rows {
			files[i] = in.Set.File(row)
		}
		c.Links = linksTo(files, f.folder.Dir())
	}
	c.Features, c.Cosine = comparedBy(in, found), found.Cluster.Distance == cluster.DistanceCosine
	if found.Result != nil && found.Result.Basis != nil && in.Height > 0 {
		c.Basis = &Basis{Method: found.Method, Vectors: found.Result.Basis, Height: in.Height, Width: in.Width, Channels: in.Channels}
	}
	stage, err := f.folder.Stage(GroupingFiles...)
	if err != nil {
		return c, err
	}
	defer stage.Discard()
	if err := c.writeAssignments(filepath.Join(stage.Dir(), AssignmentsFile)); err != nil {
		return c, err
	}
	if c.Pictures != nil {
		if err := c.writePictures(filepath.Join(stage.Dir(), PicturesFile)); err != nil {
			return c, err
		}
	}
	if bad := in.Bad(); len(bad) > 0 {
		if err := atomicfile.WriteFunc(filepath.Join(stage.Dir(), SkippedFile), func(w io.Writer) error { return datasets.WriteBadFiles(w, bad) }); err != nil {
			return c, err
		}
	}
	if err := writeTold(in, found, stage.Dir()); err != nil {
		return c, err
	}
	if in.Scales != nil {
		if err := atomicfile.Write(filepath.Join(stage.Dir(), results.ScalesFile), results.Scales(in.Scales)); err != nil {
			return c, err
		}
	}
	model := func() error {
		m, err := found.Model(ctx, in)
		if err != nil {
			return err
		}
		m.Program, m.Groups.Opened = c.Program, c.Opened
		return atomicfile.WriteFunc(filepath.Join(stage.Dir(), ModelFile), m.Save)
	}
	page := func() (err error) {
		if from.Shown, err = found.Illustrate(ctx, in); err != nil {
			return err
		}
		count.total = 0
		if c.Image != nil {
			count.total = len(c.Names)
		}
		c.Patches, c.Words = from.illustrations(ctx, count)
		return WriteClusters(ctx, stage.Dir(), c)
	}
	// Beside each other: to compress the model takes as long as the page.
	if err := each(ctx, 2, func(i int) error { return []func() error{model, page}[i]() }); err != nil {
		return c, err
	}
	err = stage.Publish()
	if err == nil && from.Published != nil {
		err = from.Published()
	}
	return c, errors.Join(err, f.Close())
}

// writeTold writes what was told of single samples.
func writeTold(in *pipeline.Inputs, found *pipeline.Grouping, dir string) error {
	if found.GroupClasses != nil {
		classes := make([]string, in.Set.Len())
		for i, label := range in.Set.Labels {
			if label >= 0 {
				classes[i] = in.Set.Classes[label]
			}
		}
		if err := atomicfile.WriteFunc(filepath.Join(dir, LabelsFile), func(w io.Writer) error { return in.Set.WriteLabels(w, classes) }); err != nil {
			return err
		}
	}
	if found.Links.None() {
		return nil
	}
	return atomicfile.WriteFunc(filepath.Join(dir, LinksFile), func(w io.Writer) error { return in.Set.WriteLinks(w, found.Links) })
}

// comparedBy returns the features, or where they are sparse or not all in memory what the
// method made of them; nil where it made nothing.
func comparedBy(in *pipeline.Inputs, found *pipeline.Grouping) *mat.Dense {
	if x, ok := in.X.(*mat.Dense); ok {
		return x
	}
	if found.Result != nil {
		return found.Result.Coefficients
	}
	return nil
}

// longestSide is the longer side of the largest picture, in pixels, of a few where they are
// files.
func longestSide(in *pipeline.Inputs) int {
	side := max(in.Set.Height, in.Set.Width)
	for _, row := range figure.Evenly(in.Rows, 32) {
		if file := in.Set.File(row); file != "" {
			w, h, _ := datasets.ImageSize(file) // what cannot be read is found out later
			side = max(side, w, h)
		}
	}
	return side
}

// linksTo returns links to files from a page in a folder: relative ones, or where there are
// none, as between the drives of Windows, absolute ones.
func linksTo(files []string, dir string) []string {
	links := make([]string, len(files))
	from, err := filepath.Abs(dir)
	for i, file := range files {
		if file == "" {
			continue
		}
		to, err2 := filepath.Abs(file)
		if err != nil || err2 != nil {
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

// writeAssignments writes which sample is in which group, from 1, its class where it is
// known, the class that was told of its group where classes were told, and how well it goes
// with its group.
func (c Clusters) writeAssignments(path string) error {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	header := []string{"file", "group"}
	if c.Labels != nil {
		header = append(header, "class")
	}
	if c.GroupClasses != nil {
		header = append(header, "name")
	}
	if c.Confidence != nil {
		header = append(header, "confidence")
	}
	_ = w.Write(header) // a buffer takes everything
	for i, name := range c.Names {
		line := []string{spreadsheet.Cell(name), strconv.Itoa(c.Groups[i] + 1)}
		if c.Labels != nil {
			class := ""
			if c.Labels[i] >= 0 {
				class = spreadsheet.Cell(c.Classes[c.Labels[i]])
			}
			line = append(line, class)
		}
		if c.GroupClasses != nil {
			name := ""
			if told := c.GroupClasses[c.Groups[i]]; told >= 0 {
				name = spreadsheet.Cell(c.Classes[told])
			}
			line = append(line, name)
		}
		if c.Confidence != nil {
			line = append(line, strconv.FormatFloat(c.Confidence[i], 'f', 2, 64))
		}
		_ = w.Write(line)
	}
	w.Flush()
	return atomicfile.Write(path, text.Bytes())
}
