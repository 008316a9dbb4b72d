// Package datasets makes sets of samples: image files in folders, and vectors in files. Open takes the name of
// a known set, of a file or of a folder and returns a Set.
//
// Files may be damaged or hostile: an error names the file and the place in it, memory is taken only as far as
// the file's bytes back it, no matrix holds a NaN or an infinite value, and an archive cannot write outside the
// folder that it is unpacked in.
package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Set is a set of n samples with what is known of their classes: image files or vectors.
type Set struct {
	Name string // what the set is called in tables and pages
	// Names holds a unique name for each sample: a path below the set's folder, or "FILE row 17" (from 1).
	Names []string
	// Classes holds the names of the known classes, and Labels for each sample an index into them, or -1.
	Classes []string
	Labels  []int
	// FolderClasses tells that the classes are folders, beside which images without a class lie.
	FolderClasses bool
	// TimeFolders are the folders that look as if a date or a camera had named them, where these are most of the
	// Folders that hold images: none of them is a class then.
	TimeFolders []string
	Folders     int
	// OwnClasses and OwnLabels are the Classes and Labels that ReadLabels replaced, or nil.
	OwnClasses []string
	OwnLabels  []int
	// LabelsFile is the file that ReadLabels read, and LabelLines holds each sample's line in it, or 0.
	LabelsFile string
	LabelLines []int
	// Test tells of each sample whether it is of the test part and not of the training part, or is nil where
	// the data are not in these two parts: folders train and test, or IDX files of both.
	Test  []bool
	Files []string // each sample's image file, or nil for a set of vectors
	// Vectors is n×m, a sample a row, or nil for a set of image files. It is a *mat.Dense, a *vectorfile.Bytes
	// or, for sparse data, a *sparse.CSR, or a *vectorfile.Stored with OpenOptions.OnDisk.
	Vectors  mat.Matrix
	Pictures []string // the image file of each vector, by the sample's name, or "", or nil
	// Height and Width are the size of the images that the vectors hold, row by row and upright, or 0.
	Height, Width int
	// Features says which columns of the vectors belong to which feature. Write writes it; it is not read.
	Features []vectorfile.Columns
	LeftOut  []LeftOut // counts what lay beside the samples and is none of them
	Bad      []BadFile // what could not be looked at in a folder of images, with OpenOptions.SkipBad
	Beside   []string  // files that were read beside that of the vectors: of labels or topics
	Known    string    // the name of the known set that this is or is a part of, "" for a file or folder

	inParts bool // read of IDX files, of which Part chooses
}

// Len returns the number of samples.
func (s *Set) Len() int { return len(s.Names) }

// Subset returns the set of the given samples, in their order, and of their classes. It panics for other rows.
func (s *Set) Subset(rows []int) *Set {
	out := *s
	out.Names, out.Files, out.Pictures = take(s.Names, rows), take(s.Files, rows), take(s.Pictures, rows)
	out.Test, out.LabelLines, out.LeftOut = take(s.Test, rows), take(s.LabelLines, rows), slices.Clone(s.LeftOut)
	switch x := s.Vectors.(type) {
	case nil:
	case *vectorfile.Bytes:
		out.Vectors = x.SelectRows(rows)
	case *sparse.CSR:
		out.Vectors = x.SelectRows(rows)
	default:
		dense := &mat.Dense{}
		if _, m := x.Dims(); len(rows) > 0 && m > 0 {
			dense = mat.NewDense(len(rows), m, nil)
		}
		for at, i := range rows {
			vectorfile.Row(dense.RawRowView(at), i, x)
		}
		out.Vectors = dense
	}
	out.Classes, out.Labels = subsetClasses(s.Classes, s.Labels, rows)
	if s.OwnLabels != nil {
		out.OwnClasses, out.OwnLabels = subsetClasses(s.OwnClasses, s.OwnLabels, rows)
	}
	return &out
}

// subsetClasses returns the classes that the given samples have, in order, and their labels.
func subsetClasses(classes []string, labels, rows []int) (left []string, renumbered []int) {
	renumbered = take(labels, rows)
	label := make([]int, len(classes))
	for c, class := range classes {
		if slices.Contains(renumbered, c) {
			label[c] = len(left)
			left = append(left, class)
		}
	}
	for i, l := range renumbered {
		if l >= 0 {
			renumbered[i] = label[l]
		}
	}
	return left, renumbered
}

// Labelled returns the set of the samples whose class is known. The others are counted in LeftOut.
func (s *Set) Labelled() *Set {
	if !slices.Contains(s.Labels, -1) {
		return s
	}
	return s.Largest(len(s.Classes))
}

// Largest returns the set of the k classes with the most samples, in their order; of classes of one size the
// first. Samples of no known class are left out, and counted in LeftOut.
func (s *Set) Largest(k int) *Set {
	size, order := make([]int, len(s.Classes)), make([]int, len(s.Classes))
	for c := range order {
		order[c] = c
	}
	unlabelled := 0
	for _, l := range s.Labels {
		if l < 0 {
			unlabelled++
		} else {
			size[l]++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return size[b] - size[a] })
	order = order[:min(k, len(order))]
	var rows []int
	for i, l := range s.Labels {
		if slices.Contains(order, l) {
			rows = append(rows, i)
		}
	}
	out := s.Subset(rows)
	if unlabelled > 0 {
		out.LeftOut = append(out.LeftOut, LeftOut{Reason: Unlabelled, Count: unlabelled})
	}
	return out
}

// take returns the values of these rows, or nil where there are none at all.
func take[T any](values []T, rows []int) []T {
	if values == nil {
		return nil
	}
	out := make([]T, len(rows))
	for at, i := range rows {
		out[at] = values[i]
	}
	return out
}

// findPictures takes the samples' names for those of image files, if there is one of the first that end so.
func (s *Set) findPictures(path string) {
	if s.Height > 0 {
		return // the vectors are images
	}
	const tried = 100
	found := make([]string, s.Len())
	images := 0
	for i, name := range s.Names {
		if !imagefile.HasExtension(name) {
			continue
		}
		if images++; images > tried && s.Pictures == nil {
			return
		}
		file := filepath.FromSlash(name)
		places := []string{filepath.Join(filepath.Dir(path), file), file}
		if filepath.IsAbs(file) {
			places = places[1:]
		}
		for _, at := range places {
			if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
				found[i], s.Pictures = at, found
				break
			}
		}
	}
}

// File returns the image file that sample i is, or that its vector is of, "" where there is none.
func (s *Set) File(i int) string {
	switch {
	case s.Files != nil:
		return s.Files[i]
	case s.Pictures != nil:
		return s.Pictures[i]
	}
	return ""
}

// HasImages tells whether there is something to see of the samples: they are images, or some have image files.
func (s *Set) HasImages() bool { return s.Files != nil || s.Height > 0 || s.Pictures != nil }

// PictureFiles returns the samples as a set of their Pictures.
func (s *Set) PictureFiles() *Set { return &Set{Name: s.Name, Names: s.Names, Files: s.Pictures} }

// MaxSide is the largest height or width of a Size that is read from text.
const MaxSide = 4096

// Size is the height and width of images in pixels.
type Size struct{ Height, Width int }

// UnmarshalText reads the side of a square, or HEIGHTxWIDTH.
func (s *Size) UnmarshalText(text []byte) error {
	h, w, both := strings.Cut(string(text), "x")
	if !both {
		w = h
	}
	height, err1 := strconv.Atoi(h)
	width, err2 := strconv.Atoi(w)
	if err1 != nil || err2 != nil || height < 1 || width < 1 || height > MaxSide || width > MaxSide {
		return fmt.Errorf("invalid size %q; expected a side such as 32, or HEIGHTxWIDTH, at most %d", text, MaxSide)
	}
	*s = Size{height, width}
	return nil
}

// MarshalText returns what UnmarshalText reads.
func (s Size) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%dx%d", s.Height, s.Width), nil }

// String returns the size as in "24×32".
func (s Size) String() string { return fmt.Sprintf("%d×%d", s.Height, s.Width) }
