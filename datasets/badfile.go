package datasets

import (
	"cmp"
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

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
		parts = append(parts, counted(count[k], string(k), cmp.Or(several[k], string(k))))
	}
	return strings.Join(parts, ", ")
}

// WriteBadFiles writes a CSV file of them.
func WriteBadFiles(w io.Writer, bad []BadFile) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"file", "kind", "reason"}) // Flush tells what fails
	for _, b := range bad {
		_ = out.Write([]string{spreadsheet.Cell(b.Name), string(b.Kind), spreadsheet.Cell(b.Reason)})
	}
	out.Flush()
	return out.Error()
}
