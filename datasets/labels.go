package datasets

import (
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// ReadLabels reads the classes of the samples from a CSV file and puts them in the place of the set's own,
// which it keeps as OwnClasses and OwnLabels where there are any. A line holds a sample's name and its
// class, divided by a comma, a semicolon or a tab: a name as in Names, also with the name of the set's
// folder before it, as a path from here, or without any folder where one sample alone is called so; in a
// set of vectors also the sample's number from 1. The text is in UTF-8, or in UTF-16 with its mark. Samples
// that no line names, and those whose class is left empty, have the label -1. The first line may be a
// header such as "file,class"; one that begins so may name more columns, of which the classes are that
// called "class", or else the second. Classes are put in natural order. An apostrophe before a text that
// begins as a formula does, which WriteLabels puts there, is taken away.
//
// A line that names no sample, one with another number of fields and one that gives a sample a second class
// are errors that name file, line and value; the set is unchanged then.
func (s *Set) ReadLabels(file string) error { return s.readClasses("labels", file) }

// readClasses is ReadLabels of a file that is called what in errors.
func (s *Set) readClasses(what, file string) error {
	classes, lines, err := s.labelledLines(what, file)
	if err != nil {
		return err
	}
	s.TellClasses(classes)
	s.LabelsFile, s.LabelLines = file, lines
	return nil
}

// TellClasses puts a class for each sample, "" for none, in the place of the set's own, which it
// keeps as ReadLabels does.
func (s *Set) TellClasses(classes []string) {
	if len(s.Classes) > 0 && s.OwnClasses == nil {
		s.OwnClasses, s.OwnLabels = s.Classes, s.Labels
	}
	s.setClasses(classes)
}

// ReadClasses returns the class of each sample that a file of labels names, "" for others, and
// leaves the set as it is.
func (s *Set) ReadClasses(file string) ([]string, error) {
	classes, _, err := s.labelledLines("labels", file)
	return classes, err
}

// classHeaders are the names that a header may give the column of classes.
var classHeaders = []string{"class", "label", "category"}

// labelledLines returns each sample's class, "" for none, and the line that gives it.
func (s *Set) labelledLines(what, file string) (classes []string, from []int, err error) {
	classes, from = make([]string, s.Len()), make([]int, s.Len())
	at := 1 // the column of classes
	lines := namedLines{fields: 2, samples: 1, want: "two, file,class", headers: naming.Headers, others: classHeaders, wider: func(header []string) {
		at = max(at, slices.IndexFunc(header, func(name string) bool { return strings.EqualFold(name, "class") }))
	}}
	none := true
	err = s.readLines(context.Background(), what, file, lines, func(line int, record []string, sample func(field int) (int, error)) error {
		i, err := sample(0)
		if err != nil {
			return err
		}
		switch class := spreadsheet.Text(record[at]); {
		case class == "":
		case from[i] != 0 && classes[i] != class:
			return fmt.Errorf("%q is of class %q, but of class %q in line %d", record[0], class, classes[i], from[i])
		default:
			classes[i], from[i], none = strings.Clone(class), line, false
		}
		return nil
	})
	if err == nil && none {
		err = fmt.Errorf("%s %s: it gives no sample a class", what, file)
	}
	return classes, from, err
}

// WriteLabels writes a CSV file of classes, one for each sample of the set or "" where none is
// known, as ReadLabels reads it.
func (s *Set) WriteLabels(w io.Writer, classes []string) error {
	return writeRecords(w, []string{"file", "class"}, func(put func(...string)) {
		for i, class := range classes {
			if class != "" {
				put(spreadsheet.Cell(s.Names[i]), spreadsheet.Cell(class))
			}
		}
	})
}

// readTold reads the files of truth and of labels. With the first the set's own classes are forgotten.
func (s *Set) readTold(opt *OpenOptions) error {
	if opt.Truth != "" {
		s.forgetClasses()
		if err := s.readClasses("truth", opt.Truth); err != nil {
			return err
		}
	}
	if opt.Labels == "" {
		return nil
	}
	return s.ReadLabels(opt.Labels)
}

// forgetClasses makes the class of no sample known.
func (s *Set) forgetClasses() {
	s.setClasses(make([]string, s.Len()))
	s.Classes, s.OwnClasses, s.OwnLabels = nil, nil, nil
}

// setClasses makes labels of the samples' class names, "" for none.
func (s *Set) setClasses(words []string) {
	s.Classes, s.Labels = vectorfile.Classes(words)
	s.FolderClasses = false
}

// finder finds a sample by what a CSV file calls it. It returns -1 where there is none, and
// the names of several where it may be any of these.
type finder func(name string) (at int, several []string)

// finder returns the finder of the set's samples. An image file is found by its name below
// the set's folder, with that folder's name before it, by its path from here, and where no
// other is called so by its name without a folder.
func (s *Set) finder() finder {
	index := make(map[string]int, s.Len())
	for i, name := range s.Names {
		index[name] = i
	}
	paths := sync.OnceValue(func() map[string]int {
		out := make(map[string]int, len(s.Files))
		for i, file := range s.Files {
			out[absolute(file)] = i
		}
		return out
	})
	plain := sync.OnceValue(func() map[string][]int {
		out := make(map[string][]int, s.Len())
		for i, name := range s.Names {
			base := path.Base(name)
			out[base] = append(out[base], i)
		}
		return out
	})
	return func(name string) (int, []string) {
		for _, n := range []string{name, spreadsheet.Text(name)} {
			if i, ok := index[n]; ok {
				return i, nil
			}
		}
		if s.Files == nil {
			if i, err := strconv.Atoi(name); err == nil && i >= 1 && i <= s.Len() {
				return i - 1, nil
			}
		}
		for _, n := range []string{path.Clean(name), path.Clean(strings.ReplaceAll(name, `\`, "/"))} {
			if s.Files != nil {
				for _, n := range []string{n, strings.TrimPrefix(n, s.Name+"/")} {
					if i, ok := index[n]; ok {
						return i, nil
					}
				}
			}
			if strings.Contains(n, "/") {
				if i, ok := paths()[absolute(n)]; ok {
					return i, nil
				}
				continue
			}
			switch at := plain()[n]; {
			case len(at) == 1:
				return at[0], nil
			case len(at) > 1:
				return -1, take(s.Names, at)
			}
		}
		return -1, nil
	}
}

// absolute returns the absolute path of a file, or the path itself where there is none.
func absolute(file string) string {
	if a, err := filepath.Abs(filepath.FromSlash(file)); err == nil {
		return a
	}
	return file
}
