// Package usedfiles detects, before any work is done, that a command would replace a file that it reads.
package usedfiles

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/internal/files/output"
)

// Files holds the files that a command reads and writes. A file that is read must not be replaced.
type Files struct {
	List string // the list of skipped files, or "" if none is written

	read    []string
	written []Written
}

// Written is a file that is written, or a results folder with files and folders of the given names.
type Written struct {
	Label, Path string   // name in messages, such as --out, and path
	Names       []string // nil for a file
}

// Conflict is the error for a file that is read and would be replaced, or that is written twice.
type Conflict struct{ error }

// Reads records files, folders and catalogued data sets that are read.
func (f *Files) Reads(paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			if at, err := catalogue.Find(path, "", ""); err == nil && at != "" {
				path = at
			}
		}
		f.read = append(f.read, path)
		for _, w := range f.written {
			if err := w.conflict(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReadsSet records the files of a data set that was opened by path, and their folders, including targets of links.
func (f *Files) ReadsSet(set *datasets.Set, path string) error {
	if err := f.Reads(set.Beside...); err != nil {
		return err
	}
	folders := map[string]bool{}
	for i := range set.Names {
		file := set.File(i)
		folder := filepath.Dir(file)
		isFirst := set.Files != nil && !folders[folder] && !output.SameFile(file, path)
		folders[folder] = folders[folder] || isFirst
		info, err := os.Lstat(file)
		isLink := err == nil && info.Mode()&fs.ModeSymlink != 0
		for _, w := range f.written {
			var err error
			switch _, missing := os.Lstat(w.Path); {
			case missing != nil:
				continue
			case isFirst:
				err = w.conflict(folder)
			}
			if err == nil && (isLink && w.Names != nil || w.Names == nil && output.SameFile(w.Path, file)) {
				err = w.conflict(file)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Writes records a file or a results folder that is written.
func (f *Files) Writes(w Written) error {
	for _, other := range f.written {
		a, errA := output.Resolve(w.Path)
		b, errB := output.Resolve(other.Path)
		if w.Names == nil && other.Names == nil && errA == nil && errB == nil && a == b {
			return Conflict{fmt.Errorf("%s and %s are both %s; choose different files", other.Label, w.Label, w.Path)}
		}
	}
	f.written = append(f.written, w)
	for _, path := range f.read {
		if err := w.conflict(path); err != nil {
			return err
		}
	}
	if w.Names != nil {
		return f.Reads(w.Path) // a command can resume from its results
	}
	return nil
}

// Written returns the existing ones of the files, outside results folders, that the command writes.
func (f *Files) Written() (paths []string) {
	for _, w := range f.written {
		if info, err := os.Stat(w.Path); w.Names == nil && err == nil && info.Mode().IsRegular() {
			paths = append(paths, w.Path)
		}
	}
	return paths
}

// conflict returns an error if w would replace the file or folder read, or a file in that folder.
func (w Written) conflict(read string) error {
	for _, name := range w.Names {
		at := filepath.Join(w.Path, filepath.FromSlash(name))
		if inside, err := output.Inside(at, read); err == nil && inside {
			return Conflict{fmt.Errorf("the input %s would be replaced by %s %s, in %s; choose another folder", read, w.Label, w.Path, at)}
		}
	}
	if there, err := os.Lstat(w.Path); w.Names != nil || err != nil || there.IsDir() {
		return nil
	}
	if output.SameFile(w.Path, read) {
		return Conflict{fmt.Errorf("the input %s would be replaced by %s %s; choose another file", read, w.Label, w.Path)}
	}
	if info, err := os.Stat(read); err != nil || !info.IsDir() {
		return nil
	}
	for _, path := range []string{w.Path, filepath.Dir(w.Path)} { // w.Path may be a link
		if inside, err := output.Inside(read, path); err == nil && inside {
			return Conflict{fmt.Errorf("a file of the input %s would be replaced by %s %s; choose another file", read, w.Label, w.Path)}
		}
	}
	return nil
}
