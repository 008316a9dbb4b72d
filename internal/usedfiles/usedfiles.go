// Package usedfiles finds before any work that a file which is read would be replaced.
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

// Files are what a command reads and writes. What is read is never replaced.
type Files struct {
	List string // the list of skipped files, "" where none is written

	read    []string
	written []Written
}

// Written is a file that is written, or a folder of results with files and folders of these names.
type Written struct {
	Label, Path string   // what messages call it, such as --out, and where it is
	Names       []string // nil for a file
}

// Conflict is the error of a file that is read and would be replaced, or is written twice.
type Conflict struct{ error }

// Reads notes files, folders and known sets that are read.
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
			if err := w.check(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReadsSet notes the files of a set that was opened by a name or path, and their folders, which may lie behind links.
func (f *Files) ReadsSet(set *datasets.Set, path string) error {
	if err := f.Reads(set.Beside...); err != nil {
		return err
	}
	folders := map[string]bool{}
	for i := range set.Names {
		file := set.File(i)
		folder := filepath.Dir(file)
		isFirst := set.Files != nil && !folders[folder] && !sameFile(file, path)
		folders[folder] = folders[folder] || isFirst
		info, err := os.Lstat(file)
		isLink := err == nil && info.Mode()&fs.ModeSymlink != 0
		for _, w := range f.written {
			var err error
			switch _, missing := os.Lstat(w.Path); {
			case missing != nil:
				continue
			case isFirst:
				err = w.check(folder)
			}
			if err == nil && (isLink && w.Names != nil || w.Names == nil && sameFile(w.Path, file)) {
				err = w.check(file)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Writes notes a file, or a folder of results, that is written.
func (f *Files) Writes(w Written) error {
	for _, other := range f.written {
		a, errA := output.Resolve(w.Path)
		b, errB := output.Resolve(other.Path)
		if w.Names == nil && other.Names == nil && errA == nil && errB == nil && a == b {
			return Conflict{fmt.Errorf("%s and %s are both %s", other.Label, w.Label, w.Path)}
		}
	}
	f.written = append(f.written, w)
	for _, path := range f.read {
		if err := w.check(path); err != nil {
			return err
		}
	}
	if w.Names != nil {
		return f.Reads(w.Path) // to go on from there
	}
	return nil
}

// check returns an error if a file or folder that is read, or a file in that folder, would be replaced.
func (w Written) check(read string) error {
	for _, name := range w.Names {
		at := filepath.Join(w.Path, filepath.FromSlash(name))
		if inside, err := output.Inside(at, read); err == nil && inside {
			return Conflict{fmt.Errorf("the input %s would be replaced by %s %s, in %s; choose another folder", read, w.Label, w.Path, at)}
		}
	}
	if there, err := os.Lstat(w.Path); w.Names != nil || err != nil || there.IsDir() {
		return nil
	}
	if sameFile(w.Path, read) {
		return Conflict{fmt.Errorf("the input %s would be replaced by %s %s; choose another file", read, w.Label, w.Path)}
	}
	if info, err := os.Stat(read); err != nil || !info.IsDir() {
		return nil
	}
	for _, path := range []string{w.Path, filepath.Dir(w.Path)} { // which may be a link
		if inside, err := output.Inside(read, path); err == nil && inside {
			return Conflict{fmt.Errorf("a file of the input %s would be replaced by %s %s; choose another", read, w.Label, w.Path)}
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
