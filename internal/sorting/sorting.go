// Package sorting determines the target folders of the images of groups.
package sorting

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	slash "path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/files/filing"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
	"github.com/seed4492f2cd/partwise/report"
)

// Groups holds the assignment of images to groups.
type Groups struct {
	Assigned   []report.Assignment
	Data, List string   // folder of the images, or "" if unknown, and the file that lists them
	Notes      []string // remarks for the user
}

// Read reads the groups of a results folder, including pending corrections, or of an assignments file.
func Read(path string) (g *Groups, err error) {
	g = &Groups{List: path}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		g.Assigned, err = report.ReadAssignmentsFile(path)
		return g, err
	}
	if g.Assigned, g.Data, err = report.ReadAssignments(path); err != nil {
		return nil, err
	}
	g.List = filepath.Join(path, report.AssignmentsFile)
	kept := filepath.Join(path, report.FeedbackFolder)
	if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
		return g, nil
	}
	model, err := output.ReadFile(filepath.Join(path, report.ModelFile))
	if err != nil {
		return nil, err
	}
	corrected, unapplied, err := feedback.Pending(kept, fmt.Sprintf("%x", sha256.Sum256(model)))
	switch {
	case err != nil:
		return nil, err
	case unapplied:
		g.Notes = append(g.Notes, fmt.Sprintf("%s has corrections from an earlier grouping, not used here; partwise explore %s applies them", kept, path))
	case corrected != "":
		g.Notes = append(g.Notes, fmt.Sprintf("using the corrections in %s, which are not yet in %s", corrected, g.List))
		g.List = corrected
		g.Assigned, err = report.ReadAssignmentsFile(corrected)
	}
	return g, err
}

// Places returns the target of each file. files maps names of samples to paths; used entries are deleted. A file
// keeps its base name. If that is taken, its folder is prepended.
func (g *Groups) Places(files map[string]string) ([]filing.Item, error) {
	most := 0
	for _, a := range g.Assigned {
		most = max(most, a.Group)
	}
	folder, taken := map[int]string{}, map[string]bool{filing.JournalFile: true}
	var items []filing.Item
	for _, a := range g.Assigned {
		file, ok := files[a.Sample]
		if !ok {
			return nil, fmt.Errorf("%s: line %d: no photo is called %q", g.List, a.Line, a.Sample)
		}
		delete(files, a.Sample) // a second listing is an error
		if folder[a.Group] == "" {
			name := fmt.Sprintf("group-%0*d", len(fmt.Sprint(most)), a.Group)
			if a.Name != "" {
				name = filename.Folder(a.Name, runtime.GOOS == "windows")
			}
			folder[a.Group] = unusedName(name, "", taken)
		}
		place := slash.Join(folder[a.Group], filepath.Base(file))
		if taken[filename.Key(place)] {
			place = slash.Join(folder[a.Group], strings.ReplaceAll(a.Sample, "/", "-"))
		}
		ext := slash.Ext(place)
		items = append(items, filing.Item{From: file, To: unusedName(strings.TrimSuffix(place, ext), ext, taken)})
	}
	return items, nil
}

// unusedName returns a name that is not taken, if necessary with a number before the extension, and marks it as taken.
func unusedName(name, ext string, taken map[string]bool) string {
	try := name + ext
	for n := 2; taken[filename.Key(try)]; n++ {
		try = fmt.Sprintf("%s-%d%s", name, n, ext)
	}
	taken[filename.Key(try)] = true
	return try
}

// Home returns a function that reports whether a file may be moved back to a path: it must be inside the folder of the
// images. If that is unknown, paths of the journal, which is not trusted, are accepted only with the extension of an
// image.
func Home(pictures string) func(string) (bool, error) {
	return func(name string) (bool, error) {
		if pictures == "" {
			return imagefile.HasExtension(name), nil
		}
		return output.Inside(pictures, name)
	}
}
