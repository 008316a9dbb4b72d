// Package sorting decides into which folders the pictures of groups go.
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

// Groups says which pictures are in which group.
type Groups struct {
	Assigned   []report.Assignment
	Data, List string   // where the pictures are, "" where that is not known, and the file that lists them
	Notes      []string // what should be known of the list
}

// Read reads the groups of a folder of results, with the corrections that are not in them yet, or of a list.
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
		g.Notes = append(g.Notes, fmt.Sprintf("%s has corrections of earlier groups, which are ignored; partwise explore %s applies them", kept, path))
	case corrected != "":
		g.Notes = append(g.Notes, fmt.Sprintf("using the corrections in %s, which are not yet in %s", corrected, g.List))
		g.List = corrected
		g.Assigned, err = report.ReadAssignmentsFile(corrected)
	}
	return g, err
}

// Places returns where each file goes: files are the paths of pictures by their names, and each is used up. A
// file keeps its name; of two that would have one, the folder that it comes from stands before it.
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
		delete(files, a.Sample) // listed once
		if folder[a.Group] == "" {
			name := fmt.Sprintf("group-%0*d", len(fmt.Sprint(most)), a.Group)
			if a.Name != "" {
				name = filename.Folder(a.Name, runtime.GOOS == "windows")
			}
			folder[a.Group] = unused(name, "", taken)
		}
		place := slash.Join(folder[a.Group], filepath.Base(file))
		if taken[filename.Key(place)] {
			place = slash.Join(folder[a.Group], strings.ReplaceAll(a.Sample, "/", "-"))
		}
		ext := slash.Ext(place)
		items = append(items, filing.Item{From: file, To: unused(strings.TrimSuffix(place, ext), ext, taken)})
	}
	return items, nil
}

// unused returns and takes a name that is not taken, if need be with a number before its extension.
func unused(name, ext string, taken map[string]bool) string {
	try := name + ext
	for n := 2; taken[filename.Key(try)]; n++ {
		try = fmt.Sprintf("%s-%d%s", name, n, ext)
	}
	taken[filename.Key(try)] = true
	return try
}

// Home tells to which paths files may be moved back: into the folder of the pictures. Where that is not known
// the journal, which may be a stranger's, is believed for files that are called as images are, which do no
// harm.
func Home(pictures string) func(string) (bool, error) {
	return func(name string) (bool, error) {
		if pictures == "" {
			return imagefile.HasExtension(name), nil
		}
		return output.Inside(pictures, name)
	}
}
