package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
)

// ReadLabels reads the classes of the samples from the CSV file at file and
// puts them in the place of the set's own, which it keeps as OwnClasses and
// OwnLabels where there are any. A line holds a sample's name and
// its class: a name as in Names, or, in a set of vectors, also the sample's
// number from 1. Samples that no line names, and those whose class is left
// empty, have the label -1. The first line may be a header such as
// "file,class"; one that begins so may name more columns, of which the classes are that
// called "class", or else the second. Classes are put in natural order. An apostrophe
// before a text that begins as a formula does, which Write puts there, is taken away.
//
// A line that names no sample, one with another number of fields and one that
// gives a sample a second class are errors that name file, line and value;
// the set is unchanged then.
func (s *Set) ReadLabels(file string) error { return s.readClasses("labels", file) }

// readClasses is ReadLabels of a file that is called what in errors.
func (s *Set) readClasses(what, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer f.Close()
	classes, err := s.parseLabels(f)
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, file, err)
	}
	if len(s.Classes) > 0 && s.OwnClasses == nil {
		s.OwnClasses, s.OwnLabels = s.Classes, s.Labels
	}
	s.setClasses(classes)
	return nil
}

// readTold reads the files of truth and of labels. With the first the set's own classes
// are forgotten.
func (s *Set) readTold(opt *FolderOptions) error {
	if opt.TruthFile != "" {
		s.forgetClasses()
		if err := s.readClasses("truth", opt.TruthFile); err != nil {
			return err
		}
	}
	if opt.LabelsFile == "" {
		return nil
	}
	return s.ReadLabels(opt.LabelsFile)
}

// forgetClasses makes the class of no sample known.
func (s *Set) forgetClasses() {
	s.setClasses(make([]string, s.Len()))
	s.Classes, s.OwnClasses, s.OwnLabels = nil, nil, nil
}

// setClasses makes labels of the samples' class names, "" for none.
func (s *Set) setClasses(classes []string) {
	classes = readable(classes)
	s.Classes, s.FolderClasses = slices.Clone(classes), false
	slices.SortFunc(s.Classes, compareNatural)
	s.Classes = slices.Compact(s.Classes)
	if len(s.Classes) > 0 && s.Classes[0] == "" {
		s.Classes = s.Classes[1:]
	}
	label := map[string]int{"": -1}
	for i, class := range s.Classes {
		label[class] = i
	}
	s.Labels = make([]int, len(classes))
	for i, class := range classes {
		s.Labels[i] = label[class]
	}
}

// Bounds on a line of a file of labels or links, which holds two names or three.
const (
	mostNamesLine   = 1 << 20
	mostNamesFields = 1 << 10
)

// finder returns a function that finds samples by what a CSV file calls them.
func (s *Set) finder() func(name string) (int, bool) {
	index := make(map[string]int, s.Len())
	for i, name := range s.Names {
		index[name] = i
	}
	return func(name string) (int, bool) {
		for _, n := range []string{name, spreadsheet.Text(name)} {
			if i, ok := index[n]; ok {
				return i, true
			}
		}
		if s.Files != nil {
			i, ok := index[path.Clean(name)]
			return i, ok
		}
		i, err := strconv.Atoi(name)
		return i - 1, err == nil && i >= 1 && i <= s.Len()
	}
}

// labelHeaders are the names that a header may give the first column.
var labelHeaders = []string{"file", "filename", "file name", "image", "name", "path", "row", "sample", "id"}

// parseLabels returns each sample's class, "" for none.
func (s *Set) parseLabels(r io.Reader) ([]string, error) {
	classes := make([]string, s.Len())
	from := make([]int, s.Len()) // the line that gave the class
	at := 1                      // the column of classes
	lines := namedLines{fields: 2, samples: 1, want: "two, file,class", headers: labelHeaders, wider: func(header []string) {
		at = max(at, slices.Index(header, "class"))
	}}
	err := s.parseLines(context.Background(), r, lines, func(line int, record []string, sample func(field int) (int, error)) error {
		i, err := sample(0)
		if err != nil {
			return err
		}
		switch class := spreadsheet.Text(record[at]); {
		case class == "":
		case from[i] != 0 && classes[i] != class:
			return fmt.Errorf("line %d: %q is of class %q, but of class %q in line %d", line, record[0], class, classes[i], from[i])
		default:
			classes[i], from[i] = strings.Clone(class), line
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(from, func(line int) bool { return line != 0 }) {
		return nil, errors.New("it gives no sample a class")
	}
	return classes, nil
}
