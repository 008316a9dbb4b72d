package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/naming"
)

// FolderOptions says how the classes of a folder of images are found. Its zero
// value lets Folder see for itself.
type FolderOptions struct {
	// Pattern finds the class in each image's file name, for example
	// "subject{class}.*" or "obj{class}__*.png". A * stands for any run of
	// characters, the longest that fits, {class} for the shortest run up
	// to what follows it, and {number} for a run of digits, as in
	// "{class}{number}". A pattern whose last part holds no dot says nothing of
	// the extension. A pattern with a slash is matched with the path
	// below the folder, for example "{class}/images/*", where {class} is
	// within one name.
	Pattern string
	// LabelsFile is a CSV file of image and class, read by Set.ReadLabels. The
	// folders say nothing of the classes then.
	LabelsFile string
	// TruthFile is a file of the same form that gives the set its classes. Where
	// there is a LabelsFile too, they are its OwnClasses.
	TruthFile string
	// NoClasses takes no folder for a class: all are read through.
	NoClasses bool
	// Pool makes every folder a class, dates and cameras too, and merges folders of the same name, such as train/Coast and
	// test/Coast, and those that differ in case or in blanks around the name.
	Pool bool
	// SkipBad passes over folders and files that cannot be read, and links that lead round in a circle. The set's Bad
	// lists them. Without it the first is an error.
	SkipBad bool
}

// check reports options that do not go together.
func (opt *FolderOptions) check() error {
	type way struct {
		said bool
		what string
	}
	noClasses, truth := way{opt.NoClasses, "no-classes"}, way{opt.TruthFile != "", "truth"}
	pattern, labels, pool := way{opt.Pattern != "", "pattern"}, way{opt.LabelsFile != "", "labels"}, way{opt.Pool, "pool"}
	for _, pair := range [][2]way{{noClasses, truth}, {noClasses, pattern}, {noClasses, pool}, {truth, pattern}, {labels, pattern}} {
		if pair[0].said && pair[1].said {
			return fmt.Errorf("both %s and %s; give one of them", pair[0].what, pair[1].what)
		}
	}
	return nil
}

// saysClasses tells whether the options say where classes are found.
func (opt *FolderOptions) saysClasses() bool {
	return opt.Pattern != "" || opt.LabelsFile != "" || opt.TruthFile != ""
}

// Folder returns the set of the images in the folder dir and the folders below
// it. Where images lie in folders below dir, the folder that holds an image is
// its class, and images in dir itself have none. Where most of these folders are called after dates or by cameras
// (2019-05-12 Trip, 100CANON, Camera Roll) they are no classes: see Set.TimeFolders. The options
// give other ways. Samples and classes are in natural order, s2 before s10.
//
// An image is told by its content. Other files, and files and folders whose
// names begin with a dot, are left out, and counted in the set's LeftOut but for
// the files of labels and of truth; but what is called an image and is none stays in the set, and
// reading it fails with its name.
//
// It is an error if there is no image, if the pattern does not fit one of them, and
// if two class folders have the same name while Pool is not set.
func Folder(ctx context.Context, dir string, opt FolderOptions) (*Set, error) {
	err := opt.check()
	var set *Set
	if err == nil {
		set, err = folder(ctx, dir, opt)
	}
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", dir, err)
	}
	return set, nil
}

func folder(ctx context.Context, dir string, opt FolderOptions) (*Set, error) {
	var bad *[]BadFile
	if opt.SkipBad {
		bad = new([]BadFile)
	}
	names, left, err := findImages(ctx, dir, []string{opt.LabelsFile, opt.TruthFile}, mostFiles, bad)
	if err != nil {
		return nil, err
	}
	set := &Set{Name: naming.ReadableName(folderName(dir)), Names: naming.Readable(names), Files: make([]string, len(names)), LeftOut: left}
	if bad != nil {
		set.Bad = *bad
	}
	for i, name := range names {
		set.Files[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	set.Test = testFolders(names)
	set.setClasses(make([]string, len(names)))
	switch {
	case opt.LabelsFile != "" || opt.TruthFile != "":
		err = set.readTold(&opt)
	case opt.NoClasses:
	case opt.Pattern != "":
		err = set.classesByPattern(opt.Pattern)
	case slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "/") }):
		if set.TimeFolders, set.Folders = timeFolders(names); set.TimeFolders == nil || opt.Pool {
			set.TimeFolders, set.Folders = nil, 0
			err = set.classesByFolder(opt.Pool)
		}
	}
	if err != nil {
		return nil, err
	}
	return set, nil
}

// folderName returns what the folder is called, also where dir is ".".
func folderName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}

// mostFiles is how many files and folders a folder may hold. Links to folders can
// make a few of them into more than anybody can look at.
const mostFiles = 10_000_000

// findImages returns the paths of all images below dir, relative to it and
// with forward slashes, in natural order, and what else lies there but for the
// files about them. More files and folders than most are an error. What cannot be looked at goes into bad, or is an error
// where that is nil.
func findImages(ctx context.Context, dir string, about []string, most int, bad *[]BadFile) (images []string, left []LeftOut, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		return nil, nil, errors.New("not a folder")
	}
	var known []fs.FileInfo
	for _, file := range about {
		if info, err := os.Stat(file); err == nil { // one that is not there is told later
			known = append(known, info)
		}
	}
	var others leftOutList
	seen := 0
	skip := func(name string, err error) error {
		if bad == nil || name == "" {
			return err
		}
		*bad = append(*bad, BadFile{naming.ReadableName(name), imagefile.KindOfFile(err), err.Error()})
		return nil
	}
	// above holds the folders from dir down to the one that is being read: a
	// link to one of them would lead round in a circle.
	var walk func(below string, above []fs.FileInfo) error
	walk = func(below string, above []fs.FileInfo) error {
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(below)))
		if err != nil {
			return skip(below, err)
		}
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return naming.CompareNatural(a.Name(), b.Name()) })
		for _, entry := range entries {
			if err := ctx.Err(); err != nil {
				return err
			}
			name := path.Join(below, entry.Name())
			if seen++; seen > most {
				return fmt.Errorf("more than %d files and folders, the last of them %s; links to folders count each time", most, name)
			}
			if strings.HasPrefix(entry.Name(), ".") {
				others.add(Hidden, name)
				continue
			}
			file := filepath.Join(dir, filepath.FromSlash(name))
			info, err := os.Stat(file)
			switch {
			case err != nil && imagefile.HasExtension(file):
				images = append(images, name) // a link to nothing, which reading it will tell
			case err != nil:
				others.add(NotImage, name)
			case info.IsDir():
				if slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
					if err := skip(name, imagefile.NewError(imagefile.KindCircle, "%s is a link to a folder that it lies in", file)); err != nil {
						return err
					}
					continue
				}
				if err := walk(name, append(above, info)); err != nil {
					return err
				}
			case slices.ContainsFunc(known, func(k fs.FileInfo) bool { return os.SameFile(k, info) }):
			case !info.Mode().IsRegular():
				others.add(NotImage, name)
			default:
				isImage, err := looksLikeImage(file)
				switch {
				case err != nil:
					if err := skip(name, err); err != nil {
						return err
					}
				case isImage:
					images = append(images, name)
				default:
					others.add(NotImage, name)
				}
			}
		}
		return nil
	}
	if err := walk("", []fs.FileInfo{info}); err != nil {
		return nil, nil, err
	}
	switch {
	case len(images) == 0 && bad != nil && len(*bad) > 0:
		return nil, nil, fmt.Errorf("it holds no image that can be used: %s, the first of them %s", CountKinds(*bad), (*bad)[0].Reason)
	case len(images) == 0 && others == nil:
		return nil, nil, errors.New("it holds no files")
	case len(images) == 0:
		var what []string
		for _, l := range others {
			what = append(what, l.String())
		}
		return nil, nil, fmt.Errorf("it holds no image, only %s", strings.Join(what, " and "))
	}
	return images, others, nil
}

// looksLikeImage tells images by what they are called or begin with.
func looksLikeImage(file string) (bool, error) {
	if imagefile.HasExtension(file) {
		return true, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, imagefile.MagicLength)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	return imagefile.Is(head[:n]), nil
}

// testFolders tells of each name whether it begins with the folder test. It is nil unless all
// begin with that or with train, and there are both.
func testFolders(names []string) []bool {
	test := make([]bool, len(names))
	for i, name := range names {
		part, _, _ := strings.Cut(name, "/")
		if test[i] = strings.EqualFold(part, "test"); !test[i] && !strings.EqualFold(part, "train") {
			return nil
		}
	}
	return bothParts(test)
}

// bothParts returns what tells test samples from training samples, nil where one kind is
// missing.
func bothParts(test []bool) []bool {
	if !slices.Contains(test, true) || !slices.Contains(test, false) {
		return nil
	}
	return test
}

func (s *Set) classesByPattern(text string) error {
	p, err := parsePattern(text)
	if err != nil {
		return err
	}
	classes := make([]string, s.Len())
	wrong, first := 0, ""
	for i, name := range s.Names {
		if classes[i], err = p.class(name); err == nil {
			continue
		}
		if wrong++; wrong == 1 {
			first = name
		}
	}
	switch {
	case wrong == s.Len():
		return fmt.Errorf("%w %q fits none of the names of the %s, such as %s", errPattern, text, counted(wrong, "image", "images"), first)
	case wrong > 0:
		return fmt.Errorf("%s: %w %q does not fit it, nor %d more of the %d names", first, errPattern, text, wrong-1, s.Len())
	}
	s.setClasses(classes)
	return nil
}

func (s *Set) classesByFolder(pool bool) error {
	classes := make([]string, s.Len())
	first := map[string]string{} // the first folder of each class, case aside
	for i, name := range s.Names {
		in := path.Dir(name)
		if in == "." {
			continue // beside the class folders
		}
		key := strings.ToLower(className(in))
		other, seen := first[key]
		switch {
		case !seen:
			other = in
			first[key] = in
		case other != in && !pool:
			return fmt.Errorf("the folders %q and %q stand for one class; pool merges them", other, in)
		}
		classes[i] = className(other)
	}
	s.setClasses(classes)
	s.FolderClasses = true
	return nil
}

func className(folder string) string {
	name := path.Base(folder)
	return cmp.Or(strings.TrimSpace(name), name)
}
