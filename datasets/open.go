package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/datasets/demo"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/naming"
)

// OpenOptions are the options of Open and Folder. The zero value suits most sets. Fields with a setting tag are
// settings of an experiment file.
type OpenOptions struct {
	// From chooses the images or the MATLAB file of a known set; "" is the first that exists.
	From string `setting:"from" values:"raw,mat" help:"form of a known set: raw (images) or mat (MATLAB file)"`
	// Part chooses the training or the test samples of IDX files; "" means both.
	Part string `setting:"part" values:"train,test" help:"part of a set of IDX files"`
	// Pattern finds the class in an image's file name, for example "subject{class}.*" or "obj{class}__*.png". * matches
	// the longest run of any characters, {class} the shortest, and {number} a run of digits, as in "{class}{number}". A
	// pattern whose last part has no dot ignores the extension. A pattern with a slash matches the path below the
	// folder, as in "{class}/images/*"; {class} then lies within one name.
	Pattern string `setting:"pattern" help:"class in the file name, such as {class}-* or {class}{number}"`
	// Labels is a CSV file of samples and classes (see Set.ReadLabels), which replaces the classes of folders.
	Labels string `setting:"labels" help:"CSV file of labels: file name and class"`
	// Truth is a CSV file of the set's own classes. If Labels is also set, they become OwnClasses.
	Truth string `setting:"truth" help:"CSV file of classes (file,class), used only for scores"`
	// NoClasses ignores the classes of folders and of vectors.
	NoClasses bool `setting:"no-classes" help:"do not read subfolders as classes"`
	// Pool makes every folder a class, even if a date or camera named it, and merges folders of the same name, such as
	// train/Coast and test/Coast, ignoring case and surrounding blanks.
	Pool bool `setting:"pool" help:"read every subfolder as a class; merge folders of the same name"`
	// Fea, Gnd and Shape are Features, Labels, Height and Width of [vectorfile.Options].
	Fea   string `setting:"fea" help:"variable with the vectors in a .mat or .npz file"`
	Gnd   string `setting:"gnd" help:"variable with the classes in a .mat or .npz file"`
	Shape Size   `setting:"shape" help:"image size of vectors that are images, such as 32 or 28x20"`
	// Missing "nan" accepts vectors with missing values: NaN, or an empty cell of a CSV file.
	Missing string `setting:"missing" values:"nan" help:"nan: accept missing values in vectors (NaN or an empty cell)"`
	// Weights is a file of vectors with the weights of the values, n×m, or of the samples, n×1. 0 means missing.
	Weights string `setting:"weights" help:"file of weights from 0, of each value or each sample"`

	// Mask is a folder with a picture for each image, of the same name with any extension, or one picture for all. Values are
	// missing where it is white.
	Mask string `setting:"mask" help:"pictures named as the images, or one picture: white is missing"`

	Root string // the data folder that is searched first for known sets
	// OnDisk and Limit are as in [vectorfile.Options].
	OnDisk   bool
	Limit    int64
	OneImage bool // accepts an image file as a set of one sample, otherwise an error
	// SkipBad lists unreadable files and cyclic links in the set's Bad. Otherwise they are errors.
	SkipBad bool
	Seed    uint64 // the seed of the generated set
}

func (opt *OpenOptions) vectors() vectorfile.Options {
	return vectorfile.Options{Features: opt.Fea, Labels: opt.Gnd, Height: opt.Shape.Height, Width: opt.Shape.Width, Limit: opt.Limit, OnDisk: opt.OnDisk, Missing: opt.Missing != ""}
}

// Open returns the set called name: "generated", a known set (see package catalogue), or a file or folder. It searches
// a known set in opt.Root, in the folder in the environment variable PARTWISE_DATA, and in partwise in the user's cache
// folder. If the current folder also has a file or folder of that name, the name alone is an error: "set:" before it
// means the known set, "./" the local one.
//
// A folder with IDX files is read by [vectorfile.IDXFolder], and any other by Folder, with the file name pattern of a
// known set if all images match it. A file is read by [vectorfile.Open].
func Open(ctx context.Context, name string, opt OpenOptions) (*Set, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !slices.Contains([]string{"", "train", "test"}, opt.Part):
		return nil, fmt.Errorf("part %q: expected train or test", opt.Part)
	case !slices.Contains([]string{"", "mat", "raw"}, opt.From):
		return nil, fmt.Errorf("from %q: expected raw or mat", opt.From)
	case !slices.Contains([]string{"", "nan"}, opt.Missing):
		return nil, fmt.Errorf("missing %q: expected nan", opt.Missing)
	case opt.OnDisk && opt.Weights != "":
		return nil, errors.New("weights are not supported in batches")
	}
	if err := opt.validate(); err != nil {
		return nil, err
	}
	if opt.Limit == 0 {
		opt.Limit = max(limits.FromContext(ctx).Free(), 1)
	}
	s, err := guard.Interruptible(ctx, func() (*Set, error) { // readers of vector files do not check ctx
		s := open(ctx, name, opt)
		if ctx.Err() != nil {
			s.Close()
			return nil, ctx.Err()
		}
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	if err := guard.Try(func() { s.complete(ctx, name, opt) }); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// complete checks that the options fit the set, and reads the files of classes, weights and masks. It calls guard.Fail.
func (s *Set) complete(ctx context.Context, name string, opt OpenOptions) {
	_, stored := s.Vectors.(*vectorfile.Stored)
	switch {
	case opt.OnDisk && s.Vectors != nil && !stored:
		guard.Check(vectorfile.NotOnDisk(name))
	case opt.Part != "" && !s.inParts:
		guard.Fail("%s has no part %q; only folders of IDX files have parts", name, opt.Part)
	case s.Vectors == nil && (opt.Missing != "" && opt.Mask == "" || opt.Weights != ""):
		guard.Fail("%s: missing values and weights need vectors, but the set is a folder of images, which can have a mask", name)
	case s.Vectors != nil:
		if opt.NoClasses {
			s.forgetClasses()
		}
		s.Missing = opt.Missing != "" && (stored || math.IsNaN(mat.Sum(s.Vectors)))
		s.readGivenClasses(&opt)
		if opt.Weights != "" {
			s.Weights = readWeights(ctx, opt, s.Vectors)
		}
	}
	if opt.Mask != "" {
		s.readMasks(ctx, opt.Mask)
	}
}

// readMasks sets Masks to the pictures in a folder or file.
func (s *Set) readMasks(ctx context.Context, path string) {
	of, err := Open(ctx, path, OpenOptions{OneImage: true, NoClasses: true})
	guard.Check(guard.Wrap(err, "mask"))
	base := func(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }
	place, rows := map[string]int{}, make([]int, s.Len())
	for i, name := range of.Names {
		place[base(name)] = i
	}
	info, err := os.Stat(path)
	guard.FailIf(err != nil || of.Files == nil, "mask %s: expected a folder of pictures, or one picture", path)
	for i, name := range s.Names {
		if info.IsDir() {
			at, ok := place[base(name)]
			guard.FailIf(!ok, "mask %s: no picture %s with any extension, the mask of %s", path, base(name), name)
			rows[i] = at
		}
	}
	s.Masks = of.Subset(rows)
	s.Masks.Names = s.Names
}

// readWeights reads the file of weights of the vectors x.
func readWeights(ctx context.Context, opt OpenOptions, x mat.Matrix) mat.Matrix {
	c := guard.Must(vectorfile.Open(ctx, opt.Weights, vectorfile.Options{Labels: "-", Limit: opt.Limit}))
	n, m := x.Dims()
	r, columns := c.Vectors.Dims()
	guard.FailIf(r != n || columns != m && columns != 1, "%s: the weights are %d×%d; expected %d×%d, as the vectors, or %d×1", opt.Weights, r, columns, n, m, n)
	return c.Vectors
}

// open is Open without checks of options. It calls guard.Fail.
func open(ctx context.Context, name string, opt OpenOptions) *Set {
	info, isKnown := resolveName(name, opt)
	switch {
	case isKnown && info.Name == catalogue.Generated:
		s := Generated(opt.Seed)
		s.Known = catalogue.Generated
		return s
	case isKnown:
		return openKnown(ctx, &info, opt)
	case strings.HasPrefix(name, catalogue.SetPrefix):
		guard.Check(catalogue.Unknown(name))
	}
	stat, err := os.Stat(name)
	if err != nil && strings.ContainsAny(name, "*?[") {
		if shards := guard.Must(vectorfile.Shards(name)); shards != nil {
			return setOf(name, guard.Must(vectorfile.OpenShards(ctx, shards, opt.vectors())))
		}
	}
	if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(name, `/\`) {
		err = catalogue.Unknown(name)
	}
	guard.Check(err)
	if stat.IsDir() {
		return openFolder(ctx, name, opt)
	}
	if opt.OneImage {
		if isImage, err := imagefile.IsFile(name); err == nil && isImage {
			sample := naming.ReadableName(filepath.Base(name))
			return &Set{Name: sample, Names: []string{sample}, Labels: []int{-1}, Files: []string{name}}
		}
	}
	return setOf(name, guard.Must(vectorfile.Open(ctx, name, opt.vectors())))
}

// resolveName returns the known set that name means, if any. It fails for a path of the same name.
func resolveName(name string, opt OpenOptions) (info catalogue.Info, isKnown bool) {
	info, isKnown = catalogue.Lookup(name)
	if !isKnown || strings.HasPrefix(name, catalogue.SetPrefix) {
		return info, isKnown
	}
	here, err := os.Stat(name)
	if err != nil {
		return info, true // no file or folder has this name
	}
	if name != info.Name {
		return info, false // a folder such as Yale
	}
	where := "generated"
	if name != catalogue.Generated {
		_, at, err := info.Find(opt.Root, opt.From)
		if errors.Is(err, fs.ErrNotExist) {
			return info, false
		}
		guard.Check(err)
		if guard.Must(output.Inside(name, at)) {
			return info, true // the local one is the known set
		}
		where = "in " + at
	}
	kind := "file"
	if here.IsDir() {
		kind = "folder"
	}
	guard.Fail("%q is both a %s here and a known set, %s: write %[4]s for the %[2]s or %[5]s for the set",
		name, kind, where, "."+string(filepath.Separator)+name, catalogue.SetPrefix+name)
	return info, false
}

func openKnown(ctx context.Context, info *catalogue.Info, opt OpenOptions) (s *Set) {
	form, path, err := info.Find(opt.Root, opt.From)
	guard.Check(err)
	guard.Within(func() {
		s = openForm(ctx, form, path, opt)
		if form.IDX && opt.Part == "" && s.Len() != info.Samples {
			s.Close()
			guard.Fail("%s has %d of its %d samples", path, s.Len(), info.Samples)
		}
	}, "the set %s", info.Name)
	s.Name, s.Known = info.Name, info.Name
	if len(s.Classes) != info.Classes {
		s.Name = naming.ReadableName(filepath.Base(path)) // an extract should not look like the whole set
	}
	return s
}

func openFolder(ctx context.Context, dir string, opt OpenOptions) (s *Set) {
	for _, e := range guard.Must(os.ReadDir(dir)) {
		if !e.IsDir() && vectorfile.IsIDXImages(e.Name()) {
			return guard.Must(idxFolder(ctx, dir, opt.Part, opt.vectors()))
		}
		if _, isShard := vectorfile.ShardOf(e.Name()); isShard {
			if shards := guard.Must(vectorfile.Shards(dir)); shards != nil {
				return setOf(dir, guard.Must(vectorfile.OpenShards(ctx, shards, opt.vectors())))
			}
		}
	}
	if !opt.definesClasses() && !opt.NoClasses {
		for _, info := range catalogue.Known() {
			for i := range info.Forms {
				if f := &info.Forms[i]; f.Looks && f.FindIn(dir, 0) != "" {
					if err := guard.Try(func() { s = openForm(ctx, f, dir, opt) }); !errors.Is(err, errPattern) {
						guard.Check(err)
						return s
					}
				}
			}
		}
	}
	return guard.Must(Folder(ctx, dir, opt))
}

func openForm(ctx context.Context, f *catalogue.Form, path string, opt OpenOptions) *Set {
	vectors := opt.vectors()
	if f.VectorFile != "" {
		if vectors.Height == 0 && vectors.Width == 0 {
			vectors.Height, vectors.Width = f.Height, f.Width
		}
		return setOf(path, guard.Must(vectorfile.Open(ctx, path, vectors)))
	}
	if f.IDX {
		return guard.Must(idxFolder(ctx, path, opt.Part, vectors))
	}
	folder := OpenOptions{Pattern: f.Pattern, Pool: f.Pool || opt.Pool}
	if opt.definesClasses() {
		folder.Pattern, folder.Labels, folder.Truth = opt.Pattern, opt.Labels, opt.Truth
	}
	s := guard.Must(Folder(ctx, path, folder)).withoutClasses(f.Omit)
	if opt.NoClasses && opt.Labels == "" {
		s.forgetClasses()
	}
	return s
}

// withoutClasses returns the set without the samples of some classes, and counts these in LeftOut.
func (s *Set) withoutClasses(classes []string) *Set {
	var rows []int
	omitted := map[string]int{}
	for i, l := range s.Labels {
		if l < 0 || !slices.Contains(classes, s.Classes[l]) {
			rows = append(rows, i)
		} else {
			omitted[s.Classes[l]]++
		}
	}
	if len(omitted) == 0 {
		return s
	}
	out := s.Subset(rows)
	for _, class := range s.Classes {
		if n := omitted[class]; n > 0 {
			out.LeftOut = append(out.LeftOut, LeftOut{Reason: OtherClass, Count: n, Names: []string{class}})
		}
	}
	return out
}

// idxFolder reads the IDX files of a part in dir, or all, and counts other files in LeftOut.
func idxFolder(ctx context.Context, dir, part string, opt vectorfile.Options) (*Set, error) {
	read, others, err := vectorfile.IDXFolder(ctx, dir, part, opt)
	if err != nil {
		return nil, err
	}
	s := setOf(dir, read)
	for _, name := range others {
		reason := NotIDX
		if strings.HasPrefix(name, ".") {
			reason = Hidden
		}
		(*leftOutList)(&s.LeftOut).add(reason, name)
	}
	s.Name, s.Test, s.inParts = naming.ReadableName(filepath.Base(dir)), bothParts(read.Test), true
	return s, nil
}

// setOf returns the set with the content of the file at path.
func setOf(path string, c *vectorfile.Content) *Set {
	s := &Set{Name: c.Name, Names: c.Names, Classes: c.Classes, Labels: c.Labels,
		Vectors: c.Vectors, Height: c.Height, Width: c.Width, Settings: c.Settings, Beside: c.Beside}
	s.findPictures(path)
	return s
}

// Content returns the vectors of the set, with their names and classes, for [vectorfile.Write].
func (s *Set) Content() *vectorfile.Content {
	return &vectorfile.Content{Name: s.Name, Names: s.Names, Classes: s.Classes, Labels: s.Labels,
		Vectors: s.Vectors, Height: s.Height, Width: s.Width, Features: s.Features, Settings: s.Settings, Single: s.Single, Lists: s.Lists}
}

// Generated draws 20 objects in 36 views each, as grey images of 32×32 pixels. Equal seeds give equal images.
func Generated(seed uint64) *Set {
	pixels, names, classes, labels := demo.Images(seed)
	return &Set{
		Name: catalogue.Generated, Names: names, Classes: classes, Labels: labels,
		Vectors: vectorfile.NewBytes(len(names), demo.Side*demo.Side, pixels), Height: demo.Side, Width: demo.Side,
	}
}
