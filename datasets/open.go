package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"

	"github.com/seed4492f2cd/partwise/internal/guard"
	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/naming"
)

// OpenOptions says where Open finds a set and how it reads it. The zero value
// suits most sets.
type OpenOptions struct {
	// Root is the data folder that is looked through first for known sets.
	Root string
	// From chooses among the forms of a known set: "mat" for vectors from a
	// MATLAB file, "raw" for the images; with "" the first that is there.
	From string
	// Part chooses from IDX files the "train" or the "test" ones; with "" both
	// are read.
	Part string
	// Folder says how classes are found in a folder of images. Its LabelsFile, TruthFile
	// and NoClasses are also for a set of vectors.
	Folder FolderOptions
	// Vectors says what to read from a file of vectors. A Limit of 0 stands for what is free of
	// the memory budget of the context. OnDisk is an error of sets that are neither images
	// nor in a file that allows it.
	Vectors vectorfile.Options
	// OneImage takes an image file for a set of one sample, which is an error otherwise.
	OneImage bool
	// Seed is the seed of the generated set.
	Seed uint64
}

// Open returns the set called name: "generated", a known set (see package catalogue), or a
// file or folder. A known set is looked for in opt.Root, in the folder that
// the environment variable PARTWISE_DATA names and in partwise in the user's
// cache folder.
//
// Where a known set is there and the current folder holds a file or folder of
// its name too, the name alone is an error: "set:" before it is for the known
// set, "./" for what is here. Where one of them is there, the name stands for it.
//
// A folder is read as one of IDX files if it holds them, and else by Folder, by
// the pattern of a known set's file names where all of its images fit it. What
// a known set leaves out is left out by its name only: a folder is read whole. A
// file is read by MAT, IDX, NPY, NPZ, Indexed or CSV, which its content tells, not its
// name.
func Open(ctx context.Context, name string, opt OpenOptions) (_ *Set, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if opt.Part != "" && opt.Part != "train" && opt.Part != "test" {
		return nil, fmt.Errorf("part %q is neither train nor test", opt.Part)
	}
	if opt.From != "" && opt.From != "mat" && opt.From != "raw" {
		return nil, fmt.Errorf("from %q is neither raw nor mat", opt.From)
	}
	if err := opt.Folder.check(); err != nil {
		return nil, err
	}
	if opt.Vectors.Limit == 0 {
		opt.Vectors.Limit = max(limits.FromContext(ctx).Free(), 1)
	}
	var parts bool
	s, err := guard.Interruptible(ctx, func() (*Set, error) { // files of vectors are read without looking at ctx
		s, inParts, err := open(ctx, name, opt)
		if err == nil && ctx.Err() != nil {
			s.Close()
			return nil, ctx.Err()
		}
		parts = inParts
		return s, err
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if _, stored := s.Vectors.(*vectorfile.Stored); opt.Vectors.OnDisk && s.Vectors != nil && !stored {
		return nil, vectorfile.NotOnDisk(name)
	}
	if opt.Part != "" && !parts {
		return nil, fmt.Errorf("%s has no part %q: only folders of IDX files have", name, opt.Part)
	}
	if s.Vectors != nil {
		if opt.Folder.NoClasses {
			s.forgetClasses()
		}
		if err := s.readTold(&opt.Folder); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// open returns the set called name and whether it consists of parts.
func open(ctx context.Context, name string, opt OpenOptions) (s *Set, parts bool, err error) {
	info, isKnown, err := knownOrHere(name, opt)
	switch {
	case err != nil:
		return nil, false, err
	case isKnown && info.Name == catalogue.Generated:
		s := Generated(opt.Seed)
		s.Known = catalogue.Generated
		return s, false, nil
	case isKnown:
		return openKnown(ctx, &info, opt)
	case strings.HasPrefix(name, catalogue.SetPrefix):
		return nil, false, catalogue.Unknown(name)
	}
	stat, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(name, `/\`) {
		return nil, false, catalogue.Unknown(name)
	}
	if err != nil {
		return nil, false, err
	}
	if stat.IsDir() {
		return openFolder(ctx, name, opt)
	}
	if opt.OneImage {
		if head, err := headOf(name); err == nil && imagefile.Is(head) {
			sample := naming.ReadableName(filepath.Base(name))
			return &Set{Name: sample, Names: []string{sample}, Labels: []int{-1}, Files: []string{name}}, false, nil
		}
	}
	s, err = openFile(ctx, name, opt.Vectors)
	return s, false, err
}

// headOf returns the first bytes of a file.
func headOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 1024)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	return head[:n], nil
}

// knownOrHere tells whether name stands for a known set, and which. It is an
// error where it could be a path as well.
func knownOrHere(name string, opt OpenOptions) (info catalogue.Info, isKnown bool, err error) {
	info, isKnown = catalogue.Lookup(name)
	if !isKnown || strings.HasPrefix(name, catalogue.SetPrefix) {
		return info, isKnown, nil
	}
	here, err := os.Stat(name)
	if err != nil {
		return info, true, nil // nothing of this name is here
	}
	if name != info.Name {
		return info, false, nil // a folder such as Yale
	}
	at, where := "", "made when asked for"
	if name != catalogue.Generated {
		_, at, err = info.Find(opt.Root, opt.From)
		if errors.Is(err, fs.ErrNotExist) {
			return info, false, nil
		}
		if err != nil || within(at, here) {
			return info, true, err // what is here is the known set
		}
		where = "in " + at
	}
	kind := "file"
	if here.IsDir() {
		kind = "folder"
	}
	return info, false, fmt.Errorf("%q is both a %s here and a known set, %s: write %[4]s for the %[2]s or %[5]s for the set",
		name, kind, where, "."+string(filepath.Separator)+name, catalogue.SetPrefix+name)
}

// within tells whether path is the file or folder or lies in it.
func within(path string, folder fs.FileInfo) bool {
	path, err := filepath.Abs(path)
	for err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(path); err == nil && os.SameFile(info, folder) {
			return true
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
	return false
}

func openKnown(ctx context.Context, info *catalogue.Info, opt OpenOptions) (s *Set, parts bool, err error) {
	form, path, err := info.Find(opt.Root, opt.From)
	if err != nil {
		return nil, false, err
	}
	s, err = openForm(ctx, form, path, opt)
	if err != nil {
		return nil, false, fmt.Errorf("the set %s: %w", info.Name, err)
	}
	if form.IDX && opt.Part == "" && s.Len() != info.Samples {
		s.Close()
		return nil, false, fmt.Errorf("the set %s: %s holds %d of its %d samples", info.Name, path, s.Len(), info.Samples)
	}
	s.Name, s.Known = info.Name, info.Name
	if len(s.Classes) != info.Classes {
		s.Name = naming.ReadableName(filepath.Base(path)) // an extract should not pass for the whole
	}
	return s, form.IDX, nil
}

func openFolder(ctx context.Context, dir string, opt OpenOptions) (s *Set, parts bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, false, err
	}
	for _, e := range entries {
		if !e.IsDir() && vectorfile.IsIDXImages(e.Name()) {
			s, err = idxFolder(ctx, dir, opt.Part, opt.Vectors)
			return s, true, err
		}
	}
	if !opt.Folder.saysClasses() && !opt.Folder.NoClasses {
		for _, info := range catalogue.Known() {
			for i := range info.Forms {
				if f := &info.Forms[i]; f.Looks && f.FindIn(dir, 0) != "" {
					if s, err = openForm(ctx, f, dir, opt); !errors.Is(err, errPattern) {
						return s, false, err
					}
				}
			}
		}
	}
	s, err = Folder(ctx, dir, opt.Folder)
	return s, false, err
}

func openFile(ctx context.Context, path string, opt vectorfile.Options) (*Set, error) {
	c, err := vectorfile.Open(ctx, path, opt)
	if err != nil {
		return nil, err
	}
	return setOf(path, c), nil
}

// openForm reads a known set in this form from path.
func openForm(ctx context.Context, f *catalogue.Form, path string, opt OpenOptions) (*Set, error) {
	vectors := opt.Vectors
	if f.VectorFile != "" {
		if vectors.Height == 0 && vectors.Width == 0 {
			vectors.Height, vectors.Width = f.Height, f.Width
		}
		return openFile(ctx, path, vectors)
	}
	if f.IDX {
		return idxFolder(ctx, path, opt.Part, vectors)
	}
	folder := FolderOptions{Pattern: f.Pattern, Pool: f.Pool || opt.Folder.Pool}
	if opt.Folder.saysClasses() {
		folder.Pattern, folder.LabelsFile, folder.TruthFile = opt.Folder.Pattern, opt.Folder.LabelsFile, opt.Folder.TruthFile
	}
	s, err := Folder(ctx, path, folder)
	if err != nil {
		return nil, err
	}
	s = s.without(f.Omit)
	if opt.Folder.NoClasses && opt.Folder.LabelsFile == "" {
		s.forgetClasses()
	}
	return s, nil
}

// without returns the set without the samples of the given classes, which are
// counted in LeftOut.
func (s *Set) without(classes []string) *Set {
	var rows []int
	omitted := make([]int, len(s.Classes))
	for i, l := range s.Labels {
		if l < 0 || !slices.Contains(classes, s.Classes[l]) {
			rows = append(rows, i)
		} else {
			omitted[l]++
		}
	}
	if len(rows) == s.Len() {
		return s
	}
	out := s.Subset(rows)
	for l, n := range omitted {
		if n > 0 {
			out.LeftOut = append(out.LeftOut, LeftOut{Reason: OtherClass, Count: n, Names: []string{s.Classes[l]}})
		}
	}
	return out
}
