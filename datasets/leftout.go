package datasets

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// LeftOut counts what was found beside the samples of a set and was left out, for one reason.
type LeftOut struct {
	Reason Reason
	Count  int
	// Names holds the first few, as paths below the set's folder, or the class, or nothing of Unlabelled.
	Names []string
}

// Reason is why something was left out.
type Reason string

// The reasons. What a hidden folder, or one beside IDX files, holds is not counted.
const (
	NotImage   Reason = "not an image"
	Hidden     Reason = "hidden"      // the name begins with a dot
	OtherClass Reason = "other class" // images of a folder that a known set does not count among its classes
	Unlabelled Reason = "unlabelled"  // samples of no known class, which Largest leaves out
	NotIDX     Reason = "not IDX"     // beside the IDX files of a set
)

const leftOutNames = 3 // how many names a LeftOut holds

// String says how many of what, as in "2 files that are no images (a.txt, b.txt)".
func (l LeftOut) String() string {
	names := strings.Join(l.Names, ", ")
	one, several := "file that is no image", "files that are no images"
	switch l.Reason {
	case OtherClass:
		return fmt.Sprintf("%s of the folder %s, which is no class of the set", phrase.Count(l.Count, "image", "images"), names)
	case Unlabelled:
		return phrase.Count(l.Count, "sample", "samples") + " of no known class"
	case Hidden:
		one, several = "hidden file or folder", "hidden files or folders"
	case NotIDX:
		one, several = "file or folder that is no IDX file", "files or folders that are no IDX files"
	}
	if l.Count > len(l.Names) {
		names += ", …"
	}
	return fmt.Sprintf("%s (%s)", phrase.Count(l.Count, one, several), names)
}

// leftOutList gathers what is left out.
type leftOutList []LeftOut

// add counts one more, by its name.
func (l *leftOutList) add(reason Reason, name string) {
	at := slices.IndexFunc(*l, func(of LeftOut) bool { return of.Reason == reason })
	if at < 0 {
		at = len(*l)
		*l = append(*l, LeftOut{Reason: reason})
	}
	of := &(*l)[at]
	if of.Count++; len(of.Names) < leftOutNames {
		of.Names = append(of.Names, name)
	}
}

// several holds what several files of a kind are, where that is said in another way.
var several = map[imagefile.Kind]string{
	imagefile.KindHEIC: "HEIC images (not supported)", imagefile.KindAVIF: "AVIF images (not supported)", imagefile.KindNoImage: "not images",
	imagefile.KindBrokenLink: "links to nothing", imagefile.KindCircle: "links to folders that they lie in",
}

// BadFile is a file or folder that is not used, or with imagefile.KindUsed only in part.
type BadFile struct {
	// Name is its path below the folder of images.
	Name   string
	Kind   imagefile.Kind
	Reason string
}

// CountKinds says how many there are of each kind, the largest number first.
func CountKinds(bad []BadFile) string {
	count := map[imagefile.Kind]int{}
	for _, b := range bad {
		count[b.Kind]++
	}
	kinds := slices.SortedFunc(maps.Keys(count), func(a, b imagefile.Kind) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	var parts []string
	for _, k := range kinds {
		parts = append(parts, phrase.Count(count[k], string(k), cmp.Or(several[k], string(k))))
	}
	return strings.Join(parts, ", ")
}

// WriteBadFiles writes a CSV file of them.
func WriteBadFiles(w io.Writer, bad []BadFile) error {
	return writeRecords(w, []string{"file", "kind", "reason"}, func(put func(...string)) {
		for _, b := range bad {
			put(spreadsheet.Cell(b.Name), string(b.Kind), spreadsheet.Cell(b.Reason))
		}
	})
}
