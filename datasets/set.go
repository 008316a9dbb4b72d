// Package datasets makes sets of samples: image files in folders, and vectors in files.
//
// Open takes the name of a known set, of a file or of a folder and returns a Set, whose n
// samples are image files, decoded when they are asked for, or the rows of an n×m matrix.
// Package catalogue lists and downloads the known sets, vectorfile reads and writes files of
// vectors, imagefile decodes images, and demo draws the generated set.
//
// Files may be damaged or hostile: an error names the file and the place in it, memory is
// taken only as far as the file's bytes back it, no matrix holds a NaN or an infinite value,
// and an archive cannot write outside the folder that it is unpacked in.
package datasets

import (
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
)

// Set is a set of n samples with what is known of their classes. Its samples
// are either image files, decoded when they are asked for, or vectors.
type Set struct {
	// Name is what the set is called in tables and pages.
	Name string
	// Names holds a unique name for each sample: for a file its path below
	// the set's folder with forward slashes, else "FILE row 17" (from 1).
	Names []string
	// Classes holds the classes' names. It is empty where no class is known.
	Classes []string
	// Labels holds for each sample an index into Classes, or -1 where its class is not known.
	Labels []int
	// FolderClasses tells that the classes are the folders that hold the images. An image
	// without a class then lies beside them.
	FolderClasses bool
	// TimeFolders are the folders that look as if a date or a camera had named them, where these are most of those that
	// hold images: none of them is a class then. Folders is how many there are.
	TimeFolders []string
	Folders     int
	// OwnClasses and OwnLabels are what Classes and Labels were before ReadLabels
	// put others in their place, or nil.
	OwnClasses []string
	OwnLabels  []int
	// LabelsFile is the file that ReadLabels read, and LabelLines holds the line, from 1, in
	// which it gives each sample its class, or 0. They are "" and nil without.
	LabelsFile string
	LabelLines []int
	// Test tells of each sample whether it is of the test part and not of the training part, or is nil
	// where the data are not in these two parts: folders train and test, or IDX files of both.
	Test []bool
	// Files holds each sample's image file, or is nil for a set of vectors.
	Files []string
	// Vectors is n×m, a sample a row, or nil for a set of image files. It is
	// a *mat.Dense, a *vectorfile.Bytes or, for sparse data, a *sparse.CSR, or a *vectorfile.Stored with
	// OpenOptions.OnDisk.
	Vectors mat.Matrix
	// Pictures holds the image file that each vector is of, by the sample's name, or "". It is
	// nil for a set of files, and where no name is that of a file.
	Pictures []string
	// Height and Width are the size of the images that the vectors hold, row
	// by row and upright, or 0 where the vectors are no images.
	Height, Width int
	// Features says of vectors in which several features stand side by side which columns
	// are whose. Write writes it; it is not read.
	Features []vectorfile.Columns
	// LeftOut counts what lay beside the samples and is none of them.
	LeftOut []LeftOut
	// Bad holds what could not be looked at in a folder of images, with OpenOptions.SkipBad.
	Bad []BadFile
	// Beside are files that were read beside that of the vectors: of labels or topics.
	Beside []string
	// Known is the name of the known set that this is or is a part of, "" for a file or folder.
	Known string

	inParts bool // read of IDX files, of which Part chooses
}

// Len returns the number of samples.
func (s *Set) Len() int { return len(s.Names) }
