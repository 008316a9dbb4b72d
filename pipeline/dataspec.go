package pipeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// Data says where the samples come from. In a file it is a known set's name or
// a path, or {set: …} with settings beside it.
type Data struct {
	// Set is a known set's name or a path.
	Set string `setting:"set,text" help:"a known set or a path"`
	// From picks the "raw" images or the "mat" file of a known set that has
	// both.
	From string `setting:"from" values:"raw,mat" help:"the images or the MATLAB file of a known set that has both"`
	// Part picks the "train" or the "test" part of a set of IDX files.
	Part string `setting:"part" values:"train,test" help:"part of a set of IDX files"`
	// Pattern, Labels, Truth, NoClasses and Pool are how classes are found in a folder of
	// images: see datasets.FolderOptions.
	Pattern   string `setting:"pattern" help:"where the class is in a file's name: subject{class}.* or {class}{number}"`
	Labels    string `setting:"labels" help:"a CSV file of file names and classes"`
	Truth     string `setting:"truth" help:"the same, of classes that groups are compared with and no method is told"`
	NoClasses bool   `setting:"no-classes" help:"folders of images are no classes"`
	Pool      bool   `setting:"pool" help:"every folder is a class, dates and cameras too; folders of the same name, such as train/Coast and test/Coast, are one class"`
	// Fea and Gnd name the variables of a .mat or .npz file that hold the
	// vectors and the classes, and Shape is the size of the images that the
	// vectors are, where the file's own do not tell.
	Fea   string        `setting:"fea" help:"the variable of a .mat or .npz file that holds the vectors"`
	Gnd   string        `setting:"gnd" help:"the variable of a .mat or .npz file that holds the classes"`
	Shape features.Size `setting:"shape" help:"the size of the images that the vectors are, 32 or 28x20"`
	// Largest is how many classes are kept, those with the most samples, or 0
	// for all.
	Largest int `setting:"largest" default:"all" help:"how many classes are kept, those with the most samples"`
	// Samples is the size of a random part of the set, or 0 for all of it.
	Samples int `setting:"samples" default:"all" help:"the size of a random part of the set"`
	// OnDisk leaves the vectors of a NumPy or an IDX file on disk: see
	// vectorfile.Options. It is not part of the file.
	OnDisk bool
	// Labelled leaves out samples of no known class. It is not part of the file.
	Labelled bool
	// OneImage takes an image file for a set of one sample. It is not part of the file.
	OneImage bool
	// Root is the folder that holds the known sets. It is not part of the
	// file.
	Root string
}

// open returns the set, or the part of it that is asked for.
func (d Data) open(ctx context.Context, seed uint64, skipBad bool) (*datasets.Set, error) {
	set, err := datasets.Open(ctx, d.Set, datasets.OpenOptions{
		Root: d.Root, From: d.From, Part: d.Part,
		Vectors:  vectorfile.Options{Features: d.Fea, Labels: d.Gnd, Height: d.Shape.Height, Width: d.Shape.Width, OnDisk: d.OnDisk},
		OneImage: d.OneImage,
		Folder:   datasets.FolderOptions{Pattern: d.Pattern, LabelsFile: d.Labels, TruthFile: d.Truth, NoClasses: d.NoClasses, Pool: d.Pool, SkipBad: skipBad},
	})
	if err != nil {
		return nil, err
	}
	if d.Labelled && len(set.Classes) > 0 {
		set = set.Labelled()
	}
	if d.Largest > len(set.Classes) {
		return nil, fmt.Errorf("largest: %d classes are asked for, and %s has %d", d.Largest, set.Name, len(set.Classes))
	}
	if d.Largest > 0 {
		set = set.Largest(d.Largest)
	}
	if d.Samples == 0 {
		return set, nil
	}
	if d.Samples > set.Len() {
		return nil, fmt.Errorf("samples: %d are asked for, and %s has %d", d.Samples, set.Name, set.Len())
	}
	rows := rng.New(seed, "samples").Perm(set.Len())[:d.Samples]
	slices.Sort(rows)
	return set.Subset(rows), nil
}
