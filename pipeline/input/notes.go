package input

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Notes returns the warnings that a reader of the results needs, one a line: SetNotes and SkippedNotes.
func Notes(e *spec.Experiment, in *Inputs, list string) []string {
	return append(SetNotes(e, in.Set), in.SkippedNotes(list)...)
}

// SetNotes returns warnings about an incomplete known set, images without a class, and files beside the samples that
// were ignored.
func SetNotes(e *spec.Experiment, set *datasets.Set) []string {
	var notes []string
	d := e.Data
	info, _ := catalogue.Lookup(set.Known)
	if n := set.Len(); set.Known != "" && d.Samples == 0 && d.Largest == 0 && d.Part == "" && n != info.Samples {
		notes = append(notes, fmt.Sprintf("the folder has %d of the %d samples of %s", n, info.Samples, info.Name))
	}
	if set.FolderClasses {
		beside := matrix.Take(set.Names, lists.Indices(set.Labels, func(label int) bool { return label < 0 }))
		if n := len(beside); n > 0 {
			notes = append(notes, fmt.Sprintf("%s without a class, outside the class folders: %s", phrase.Count(n, "image", "images"), phrase.Some(beside)))
		}
	}
	if left := lists.Map(set.LeftOut, datasets.LeftOut.String); len(left) > 0 {
		notes = append(notes, "ignored: "+strings.Join(left, ", "))
	}
	return notes
}

// SubfoldersNote says how the subfolders of a folder of images were read, and how to change that. It is "" without
// subfolders, for a known set, and if the settings decide it.
func SubfoldersNote(set *datasets.Set) string {
	switch {
	case set.Known != "":
	case set.TimeFolders != nil:
		return fmt.Sprintf("subfolders are not read as classes, because %d of %d look like dates or camera folders (%s); set pool to read them as classes",
			len(set.TimeFolders), set.Folders, phrase.Some(set.TimeFolders))
	case set.FolderClasses:
		return fmt.Sprintf("subfolders read as classes: %d (%s); set no-classes to ignore them", len(set.Classes), phrase.Some(set.Classes))
	}
	return ""
}

// SkippedNotes returns a line with the number of skipped samples of each kind, and list, the file that lists them,
// unless it is "". It is nil if no sample was skipped.
func (in *Inputs) SkippedNotes(list string) []string {
	bad := in.Bad()
	if len(bad) == 0 {
		return nil
	}
	one, many := "file", "files"
	if in.Set.Files == nil {
		one, many = "sample", "samples"
	}
	var parts []string
	skipped := slices.DeleteFunc(slices.Clone(bad), func(b datasets.BadFile) bool { return b.Kind == imagefile.KindUsed })
	if n := len(skipped); n > 0 {
		parts = append(parts, fmt.Sprintf("skipped %d of %s: %s", n, phrase.Count(in.Set.Len()+len(in.Set.Bad), one, many), datasets.CountKinds(skipped)))
	}
	if n := len(bad) - len(skipped); n > 0 {
		parts = append(parts, "used "+phrase.Count(n, "truncated JPEG file in part", "truncated JPEG files in part"))
	}
	text := strings.Join(parts, "; ")
	if list != "" {
		text += "; see " + list
	}
	return []string{text}
}

// Bad returns the skipped files, and the truncated files that are used.
func (in *Inputs) Bad() []datasets.BadFile {
	bad := slices.Clone(in.Set.Bad)
	rows, skipped := in.Rows, in.Skipped
	for i, name := range in.Set.Names {
		if len(rows) > 0 && rows[0] == i {
			if rows = rows[1:]; in.Images.Truncated(i) != "" {
				bad = append(bad, datasets.BadFile{Name: name, Kind: imagefile.KindUsed, Reason: in.Images.Truncated(i)})
			}
			continue
		}
		bad = append(bad, datasets.BadFile{Name: name, Kind: imagefile.KindOf(skipped[0]), Reason: skipped[0].Error()})
		skipped = skipped[1:]
	}
	return bad
}
