// Package sorting determines the target folders and the keywords of the images of groups.
package sorting

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	slash "path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/files/filing"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/tagging"
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
	defer guard.Catch(&err)
	g = &Groups{List: path}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		g.Assigned, err = report.ReadAssignmentsFile(path)
		return g, err
	}
	g.Assigned, g.Data, err = report.ReadAssignments(path)
	guard.Check(err)
	g.List = filepath.Join(path, report.AssignmentsFile)
	kept := filepath.Join(path, report.FeedbackFolder)
	if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
		return g, nil
	}
	corrected, unapplied, err := feedback.Pending(kept, guard.Must(output.Sum(filepath.Join(path, report.ModelFile))))
	guard.Check(err)
	if unapplied {
		g.Notes = append(g.Notes, fmt.Sprintf("%s has corrections from an earlier grouping, not used here; partwise explore %s applies them", kept, path))
	} else if corrected != "" {
		g.Notes = append(g.Notes, fmt.Sprintf("using the corrections in %s, which are not yet in %s", corrected, g.List))
		g.List, g.Assigned = corrected, guard.Must(report.ReadAssignmentsFile(corrected))
	}
	return g, nil
}

// Places returns the target of each file and of its partners. files maps names of samples to paths; used entries are
// deleted. A file keeps its base name. If that is taken, its folder is prepended. Partners are renamed with their image.
func (g *Groups) Places(files map[string]string) (items []filing.Item, err error) {
	defer guard.Catch(&err)
	partners := partners(files)
	folder, taken := map[int]string{}, map[string]bool{filing.JournalFile: true}
	for _, a := range g.Assigned {
		file := g.take(files, a)
		if folder[a.Group] == "" {
			name := filename.Folder(g.name(a), runtime.GOOS == "windows")
			folder[a.Group] = unusedName([]string{name}, []string{""}, taken)
		}
		base := filepath.Base(file)
		ofPartner := func(partner string) string { return partnerExt(base, partner) }
		exts := append([]string{slash.Ext(base)}, lists.Map(partners[file], ofPartner)...)
		stems := lists.Map([]string{base, strings.ReplaceAll(a.Sample, "/", "-")}, func(name string) string {
			return folder[a.Group] + "/" + strings.TrimSuffix(name, exts[0])
		})
		stem := unusedName(stems, exts, taken)
		items = append(items, filing.Item{From: file, To: stem + exts[0]})
		for i, partner := range partners[file] {
			items = append(items, filing.Item{From: filepath.Join(filepath.Dir(file), partner), To: stem + exts[1+i], With: file})
		}
	}
	return items, nil
}

// take returns the file of a sample and deletes it from files, so that a second listing is an error, by guard.Fail.
func (g *Groups) take(files map[string]string, a report.Assignment) string {
	file, ok := files[a.Sample]
	if !ok {
		guard.Fail("%s: line %d: no photo is called %q: if it was moved, run partwise cluster again", g.List, a.Line, a.Sample)
	}
	delete(files, a.Sample)
	return file
}

// name returns the name of a group, or its number.
func (g *Groups) name(a report.Assignment) string {
	most := slices.Max(lists.Map(g.Assigned, func(a report.Assignment) int { return a.Group }))
	return cmp.Or(a.Name, fmt.Sprintf("group-%0*d", len(fmt.Sprint(most)), a.Group))
}

// Tags returns the name of the group of each file in a group, and the file's XMP sidecar: an existing one, else one with
// the full name of the file, as in a.jpg.xmp. files is as for Places.
func (g *Groups) Tags(files map[string]string) (tags []tagging.Tag, err error) {
	defer guard.Catch(&err)
	partners := partners(files)
	names := map[int]string{}
	for _, a := range g.Assigned {
		file := g.take(files, a)
		if a.Group == 0 {
			continue
		}
		if names[a.Group] == "" {
			names[a.Group] = g.name(a)
		}
		sidecar := ""
		base := filepath.Base(file)
		for _, name := range partners[file] {
			isXMP := strings.EqualFold(filepath.Ext(name), ".xmp")
			switch full := filename.Key(base) + ".xmp"; {
			case isXMP && filename.Key(name) == full, isXMP && sidecar == "" && imagefile.Stem(name) == imagefile.Stem(base):
				sidecar = name
			}
		}
		tags = append(tags, tagging.Tag{
			Image: file, Sidecar: filepath.Join(filepath.Dir(file), cmp.Or(sidecar, base+".xmp")), Name: names[a.Group],
		})
	}
	return tags, nil
}

// partners returns the names of the partners of each file in files.
func partners(files map[string]string) map[string][]string {
	folders := map[string][]string{}
	for _, sample := range slices.SortedFunc(maps.Keys(files), naming.CompareNatural) {
		dir, base := filepath.Split(files[sample])
		folders[dir] = append(folders[dir], base)
	}
	found := map[string][]string{}
	for dir, images := range folders {
		entries, err := os.ReadDir(dir)
		if !errors.Is(err, fs.ErrNotExist) { // a missing image is an error of filing
			guard.Check(err)
		}
		names := lists.Map(entries, os.DirEntry.Name)
		for image, of := range imagefile.Partners(images, names) {
			seen := map[string]bool{} // file systems may treat a.xmp and a.XMP as one
			found[dir+image] = slices.DeleteFunc(of, func(name string) bool {
				info, err := os.Stat(dir + name)
				twice := seen[filename.Key(name)]
				seen[filename.Key(name)] = true
				return err != nil || !info.Mode().IsRegular() || twice
			})
		}
	}
	return found
}

// partnerExt returns the text that follows the stem of an image in the name of its partner.
func partnerExt(image, partner string) string {
	ext := slash.Ext(partner)
	if inner := slash.Ext(strings.TrimSuffix(partner, ext)); imagefile.Stem(partner) != imagefile.Stem(image) {
		return inner + ext
	}
	return ext
}

// unusedName returns the first of some stems, or a stem with a number, for which no name with any of the extensions is
// taken. It marks the names as taken.
func unusedName(stems, exts []string, taken map[string]bool) string {
	last := stems[len(stems)-1]
	for n := 2; ; n++ {
		for _, stem := range stems {
			if !slices.ContainsFunc(exts, func(ext string) bool { return taken[filename.Key(stem+ext)] }) {
				for _, ext := range exts {
					taken[filename.Key(stem+ext)] = true
				}
				return stem
			}
		}
		stems = []string{fmt.Sprintf("%s-%d", last, n)}
	}
}

// Home returns a function that reports whether a file may be moved back to a path: it must be inside the folder of the
// images. If that is unknown, paths of the journal, which is not trusted, are accepted only with the extension of an
// image or of a partner.
func Home(pictures string) func(string) (bool, error) {
	return func(name string) (bool, error) {
		if pictures == "" {
			return imagefile.HasExtension(name) || imagefile.IsPartner(name), nil
		}
		return output.Inside(pictures, name)
	}
}
