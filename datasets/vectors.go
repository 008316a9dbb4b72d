package datasets

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/datasets/demo"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/naming"
)

// idxFolder reads the set of all pairs of IDX files in dir, those of the training part first, and counts
// what else is there in its LeftOut. If part is "train" or "test" it reads only these.
func idxFolder(ctx context.Context, dir, part string, opt vectorfile.Options) (*Set, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	var left leftOutList
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, "."):
			left.add(Hidden, name)
			continue
		case e.IsDir() || !vectorfile.IsIDXImages(name) && !vectorfile.IsIDXLabels(name):
			left.add(NotIDX, name)
			continue
		}
		again := slices.Contains(files, strings.TrimSuffix(name, ".gz")) // a file beside its gzipped self
		if !vectorfile.IsIDXImages(name) || again || part != "" && vectorfile.IDXPart(name) != part {
			continue
		}
		files = append(files, name)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no IDX files of %s images: %w", dir, part, fs.ErrNotExist)
	}
	read, err := vectorfile.IDXFolder(ctx, dir, files, opt)
	if err != nil {
		return nil, err
	}
	s := setOf(dir, read)
	s.Name, s.LeftOut, s.Test, s.inParts = naming.ReadableName(filepath.Base(dir)), left, bothParts(read.Test), true
	return s, nil
}

// setOf returns the set of what the file at path holds.
func setOf(path string, c *vectorfile.Content) *Set {
	s := &Set{
		Name: c.Name, Names: c.Names, Classes: c.Classes, Labels: c.Labels,
		Vectors: c.Vectors, Height: c.Height, Width: c.Width, Beside: c.Beside,
	}
	s.findPictures(path)
	return s
}

// content returns the vectors of the set with what is known of them.
func (s *Set) content() *vectorfile.Content {
	return &vectorfile.Content{
		Name: s.Name, Names: s.Names, Classes: s.Classes, Labels: s.Labels,
		Vectors: s.Vectors, Height: s.Height, Width: s.Width, Features: s.Features,
	}
}

// Write writes a set of vectors to a file, as [vectorfile.Write] does.
func Write(ctx context.Context, path string, s *Set) error {
	return vectorfile.Write(ctx, path, s.content())
}

// WriteNew is Write for a file that must not be there: if it is, or appears while it is
// written, the error holds fs.ErrExist and the file stays as it is.
func WriteNew(ctx context.Context, path string, s *Set) error {
	return vectorfile.WriteNew(ctx, path, s.content())
}

// Generated returns a set that needs no download: 20 drawn objects in 36 views each, as grey
// images of 32×32 pixels with values 0 to 255. The same seed makes the same set.
func Generated(seed uint64) *Set {
	pixels, names, classes, labels := demo.Images(seed)
	return &Set{
		Name: catalogue.Generated, Names: names, Classes: classes, Labels: labels,
		Vectors: vectorfile.NewBytes(len(names), demo.Side*demo.Side, pixels), Height: demo.Side, Width: demo.Side,
	}
}
