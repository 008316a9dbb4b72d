package datasets

import (
	"fmt"
	"strings"
)

// LeftOut counts what was found beside the samples of a set and was left out,
// for one reason.
type LeftOut struct {
	Reason Reason
	Count  int
	// Names holds the first few of them, as paths below the set's folder; for
	// OtherClass the class, and for Unlabelled nothing.
	Names []string
}

// Reason is why something was left out.
type Reason string

const (
	// NotImage is for files that are no images.
	NotImage Reason = "not an image"
	// Hidden is for files and folders whose names begin with a dot. What a
	// hidden folder holds is not counted.
	Hidden Reason = "hidden"
	// OtherClass is for images of a folder that a known set does not count
	// among its classes.
	OtherClass Reason = "other class"
	// Unlabelled is for samples of no known class, which Largest leaves out.
	Unlabelled Reason = "unlabelled"
	// NotIDX is for files and folders that lie beside the IDX files of a set.
	// What a folder holds is not counted.
	NotIDX Reason = "not IDX"
)

// leftOutNames is how many names a LeftOut holds.
const leftOutNames = 3

// String says how many of what, as in "2 files that are no images (a.txt, b.txt)".
func (l LeftOut) String() string {
	var what string
	switch l.Reason {
	case OtherClass:
		return fmt.Sprintf("%s of the folder %s, which is no class of the set", counted(l.Count, "image", "images"), strings.Join(l.Names, ", "))
	case Unlabelled:
		return counted(l.Count, "sample", "samples") + " of no known class"
	case Hidden:
		what = counted(l.Count, "hidden file or folder", "hidden files or folders")
	case NotIDX:
		what = counted(l.Count, "file or folder that is no IDX file", "files or folders that are no IDX files")
	default:
		what = counted(l.Count, "file that is no image", "files that are no images")
	}
	names := strings.Join(l.Names, ", ")
	if l.Count > len(l.Names) {
		names += ", …"
	}
	return fmt.Sprintf("%s (%s)", what, names)
}

// counted is a number with what is counted.
func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// leftOutList gathers what is left out.
type leftOutList []LeftOut

// add counts one more, by its name where it has one.
func (l *leftOutList) add(reason Reason, name string) {
	var at *LeftOut
	for i := range *l {
		if (*l)[i].Reason == reason {
			at = &(*l)[i]
		}
	}
	if at == nil {
		*l = append(*l, LeftOut{Reason: reason})
		at = &(*l)[len(*l)-1]
	}
	at.Count++
	if name != "" && len(at.Names) < leftOutNames {
		at.Names = append(at.Names, name)
	}
}
