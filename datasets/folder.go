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
)

// FolderOptions says how the classes of a folder of images are found. Its zero
// value lets Folder see for itself.
type FolderOptions struct {
	// Pattern finds the class in each image's file name, for example
	// "subject{class}.*" or "obj{class}__*.png". A * stands for any run of
	// characters, the longest that fits, and {class} for the shortest run up
	// to what follows it. A pattern with a slash is matched with the path
	// below the folder, for example "{class}/images/*", where {class} is
	// within one name.
	Pattern string
	// LabelsFile is a CSV file of image and class, read by Set.ReadLabels. The
	// folders say nothing of the classes then.
	LabelsFile string
	// Pool merges class folders of one name, such as train/Coast and
	// test/Coast, and those that differ in case or in blanks around the name.
	Pool bool
}

// Folder returns the set of the images in the folder dir and the folders below
// it. Where images lie in folders below dir, the folder that holds an image is
// its class; where all lie in dir itself, they have no class. The options
// give other ways. Samples and classes are in natural order, s2 before s10.
//
// An image is told by its content. Other files, and files and folders whose
// names begin with a dot, are left out, and counted in the set's LeftOut but for
// the labels file; but what is called an image and is none stays in the set, and
// reading it fails with its name.
//
// It is an error if there is no image, if images lie both in dir and below it,
// if the pattern does not fit one of them, and if two class folders have the
// same name while Pool is not set.
func Folder(ctx context.Context, dir string, opt FolderOptions) (*Set, error) {
	set, err := folder(ctx, dir, opt)
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", dir, err)
	}
	return set, nil
}

func folder(ctx context.Context, dir string, opt FolderOptions) (*Set, error) {
	if opt.Pattern != "" && opt.LabelsFile != "" {
		return nil, errors.New("both a pattern and a labels file; give one of them")
	}
	names, left, err := findImages(ctx, dir, opt.LabelsFile, mostFiles)
	if err != nil {
		return nil, err
	}
	set := &Set{Name: readableName(folderName(dir)), Names: readable(names), Files: make([]string, len(names)), LeftOut: left}
	for i, name := range names {
		set.Files[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	set.setClasses(make([]string, len(names)))
	switch {
	case opt.LabelsFile != "":
		err = set.ReadLabels(opt.LabelsFile)
	case opt.Pattern != "":
		err = set.classesByPattern(opt.Pattern)
	case slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "/") }):
		err = set.classesByFolder(opt.Pool)
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
// labels file. More files and folders than most are an error.
func findImages(ctx context.Context, dir, labelsFile string, most int) (images []string, left []LeftOut, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		return nil, nil, errors.New("not a folder")
	}
	labels, _ := os.Stat(labelsFile) // one that is not there is told later
	var others leftOutList
	seen := 0
	// above holds the folders from dir down to the one that is being read: a
	// link to one of them would lead round in a circle.
	var walk func(below string, above []fs.FileInfo) error
	walk = func(below string, above []fs.FileInfo) error {
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(below)))
		if err != nil {
			return err
		}
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return compareNatural(a.Name(), b.Name()) })
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
			case err != nil && hasImageExtension(file):
				images = append(images, name) // a link to nothing, which reading it will tell
			case err != nil:
				others.add(NotImage, name)
			case info.IsDir():
				if slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }) {
					return fmt.Errorf("%s is a link to a folder that it lies in", file)
				}
				if err := walk(name, append(above, info)); err != nil {
					return err
				}
			case labels != nil && os.SameFile(labels, info):
			case !info.Mode().IsRegular():
				others.add(NotImage, name)
			default:
				isImage, err := looksLikeImage(file)
				if err != nil {
					return err
				}
				if isImage {
					images = append(images, name)
				} else {
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
	if hasImageExtension(file) {
		return true, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, magicLen)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	return formatOf(head[:n]) != nil, nil
}

func (s *Set) classesByPattern(text string) error {
	p, err := parsePattern(text)
	if err != nil {
		return err
	}
	classes := make([]string, s.Len())
	for i, name := range s.Names {
		if classes[i], err = p.class(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
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
			return fmt.Errorf("%s lies beside folders with images; move it into one of them, or give a pattern or a labels file", name)
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
	return nil
}

func className(folder string) string {
	name := path.Base(folder)
	return cmp.Or(strings.TrimSpace(name), name)
}
