// Package datasets reads sets of samples: folders of images, and files of vectors. [Open] takes the name of a known
// set, or the path of a file or folder, and returns a [Set].
//
// Files may be damaged or hostile. An error names the file and the place in it, memory is allocated only as the file's
// size justifies, no matrix holds NaN or infinite values, and an archive cannot write outside of its folder.
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
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
)

// Set is a set of n samples, images or vectors, with their classes if known.
type Set struct {
	Name string // the name in tables and pages
	// Names holds a unique name for each sample: a path below the set's folder, or "FILE row 17" (from 1).
	Names []string
	// Classes holds the names of the classes, and Labels for each sample an index into Classes, or −1.
	Classes []string
	Labels  []int
	// FolderClasses is true if folders are the classes and images without a class lie beside them.
	FolderClasses bool
	// Folders is the number of folders with images. TimeFolders are those named like a date or by a camera, if they are
	// at least half; then no folder is a class.
	TimeFolders []string
	Folders     int
	// OwnClasses and OwnLabels are the Classes and Labels before ReadLabels, or nil.
	OwnClasses []string
	OwnLabels  []int
	// Test is true for samples in the test part. It is nil unless the data have both parts: folders
	// train and test, or both IDX files.
	Test  []bool
	Files []string // the image file of each sample, nil for a set of vectors
	// Vectors is n×m, one sample a row, nil for a set of image files. It is a *mat.Dense, a *vectorfile.Bytes, for
	// sparse data a *sparse.CSR, or with OpenOptions.OnDisk a *vectorfile.Stored.
	Vectors  mat.Matrix
	Missing  bool       // whether Vectors has missing values, NaN, or may have them on disk
	Weights  mat.Matrix // the weights of the vectors, n×m, or of the samples, n×1, or nil
	Masks    *Set       // the mask of each sample, a picture that is white where values are missing, or nil
	Pictures []string   // the image file of each vector, found by the sample's name, or ""; nil if there are none
	// Height and Width are the size of images in the vectors, row by row and upright, or 0.
	Height, Width int
	// Features describes which columns belong to which feature, and Lists are further lists. Write stores them; Open does
	// not read them.
	Features []vectorfile.Columns
	Lists    []vectorfile.List
	Single   bool      // Write stores Vectors in single precision
	Settings string    // the settings of the features of Vectors, in JSON, or ""
	LeftOut  []LeftOut // counts files and samples that are not in the set
	Bad      []BadFile // unreadable files in a folder of images, with OpenOptions.SkipBad
	Beside   []string  // further files that were read, with labels or topics
	Known    string    // the known set to which the samples belong, or ""

	// SkipUnknown, if set, skips lines of labels and links of unknown samples. It gets a note of the skipped lines of a file.
	SkipUnknown func(note string)

	inParts bool // read from IDX files, from which Part chooses
}

// Len returns the number of samples.
func (s *Set) Len() int { return len(s.Names) }

// Shard returns the set of the shard's samples, with the classes of all samples.
func (s *Set) Shard(of vectorfile.Shard) (*Set, error) {
	from, to := of.Rows(s.Len())
	if from == to {
		return nil, fmt.Errorf("%s: shard %s of %d samples is empty", s.Name, of, s.Len())
	}
	out := s.Subset(matrix.Range(to)[from:])
	out.Classes, out.Labels, out.Known = s.Classes, s.Labels[from:to], ""
	if s.OwnLabels != nil {
		out.OwnClasses, out.OwnLabels = s.OwnClasses, s.OwnLabels[from:to]
	}
	return out, nil
}

// Subset returns the set of the samples with these indices, in this order. It panics for an invalid index.
func (s *Set) Subset(rows []int) *Set {
	out := *s
	out.Names, out.Files, out.Pictures = matrix.Take(s.Names, rows), matrix.Take(s.Files, rows), matrix.Take(s.Pictures, rows)
	out.Test, out.LeftOut = matrix.Take(s.Test, rows), slices.Clone(s.LeftOut)
	if s.Vectors != nil {
		out.Vectors = matrix.SelectRows(s.Vectors, rows)
	}
	if s.Weights != nil {
		out.Weights = matrix.SelectRows(s.Weights, rows)
	}
	if s.Masks != nil {
		out.Masks = s.Masks.Subset(rows)
	}
	out.Classes, out.Labels = subsetClasses(s.Classes, s.Labels, rows)
	if s.OwnLabels != nil {
		out.OwnClasses, out.OwnLabels = subsetClasses(s.OwnClasses, s.OwnLabels, rows)
	}
	return &out
}

// subsetClasses returns the classes of the samples with these indices, in order, and their labels.
func subsetClasses(classes []string, labels, rows []int) (left []string, renumbered []int) {
	renumbered = matrix.Take(labels, rows)
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

// Labelled returns the set of the samples with a known class. LeftOut counts the others.
func (s *Set) Labelled() *Set {
	if !slices.Contains(s.Labels, -1) {
		return s
	}
	return s.Largest(len(s.Classes))
}

// Largest returns the set of the k classes with the most samples, in their order. Ties go to the first class. LeftOut
// counts samples without a known class.
func (s *Set) Largest(k int) *Set {
	size, order := make([]int, len(s.Classes)), matrix.Range(len(s.Classes))
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
	out := s.Subset(lists.Indices(s.Labels, func(l int) bool { return slices.Contains(order, l) }))
	if unlabelled > 0 {
		out.LeftOut = append(out.LeftOut, LeftOut{Reason: Unlabelled, Count: unlabelled})
	}
	return out
}

// findPictures looks for image files with the samples' names, if one of the first names has an image's extension.
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

// File returns the image file of sample i or of its vector, or "".
func (s *Set) File(i int) string {
	switch {
	case s.Files != nil:
		return s.Files[i]
	case s.Pictures != nil:
		return s.Pictures[i]
	}
	return ""
}

// HasImages reports whether samples can be shown: they are images, or some have image files.
func (s *Set) HasImages() bool { return s.Files != nil || s.Height > 0 || s.Pictures != nil }

// PictureFiles returns the samples as a set of their Pictures.
func (s *Set) PictureFiles() *Set { return &Set{Name: s.Name, Names: s.Names, Files: s.Pictures} }

// MaxSide is the largest height or width of a Size in text.
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
