package pipeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// Data says where the samples come from. In a file it is a known set's name or
// a path, or {set: …} with settings beside it.
type Data struct {
	// Set is a known set's name or a path.
	Set string
	// From picks the "raw" images or the "mat" file of a known set that has
	// both.
	From string
	// Part picks the "train" or the "test" part of a set of IDX files.
	Part string
	// Pattern, Labels and Pool are how classes are found in a folder of
	// images: see datasets.FolderOptions.
	Pattern, Labels string
	Pool            bool
	// Fea and Gnd name the variables of a .mat or .npz file that hold the
	// vectors and the classes, and Height and Width are the size of the images
	// that the vectors are, where the file's own do not tell.
	Fea, Gnd      string
	Height, Width int
	// Largest is how many classes are kept, those with the most samples, or 0
	// for all.
	Largest int
	// Samples is the size of a random part of the set, or 0 for all of it.
	Samples int
	// Root is the folder that holds the known sets. It is not part of the
	// file.
	Root string
}

// UnmarshalYAML reads a name or {set: coil20, from: raw, …}.
func (d *Data) UnmarshalYAML(node ast.Node) error {
	*d = Data{Root: d.Root}
	if s, ok := text(node); ok {
		d.Set = s
		return nil
	}
	return fields(node, func(key string, value ast.Node) error {
		s, isText := text(value)
		var err error
		switch key {
		case "set", "from", "part", "pattern", "labels", "fea", "gnd":
			if !isText || s == "" {
				return refuse(value, "want a name")
			}
			*map[string]*string{"set": &d.Set, "from": &d.From, "part": &d.Part,
				"pattern": &d.Pattern, "labels": &d.Labels, "fea": &d.Fea, "gnd": &d.Gnd}[key] = s
			if key == "from" && s != "raw" && s != "mat" {
				return refuse(value, "from is %q; want raw or mat", s)
			}
			if key == "part" && s != "train" && s != "test" {
				return refuse(value, "part is %q; want train or test", s)
			}
		case "shape":
			d.Height, d.Width, err = size(value)
		case "pool":
			if yaml.NodeToValue(value, &d.Pool) != nil {
				return refuse(value, "want true or false")
			}
		case "largest":
			d.Largest, err = positive(value)
		case "samples":
			d.Samples, err = positive(value)
		default:
			return unknownKey("set, from, part, pattern, labels, pool, fea, gnd, shape, largest and samples")
		}
		return err
	})
}

// open returns the set, or the part of it that is asked for.
func (d Data) open(ctx context.Context, seed Seed) (*datasets.Set, error) {
	set, err := datasets.Open(ctx, d.Set, datasets.OpenOptions{
		Root: d.Root, From: d.From, Part: d.Part,
		Features: d.Fea, Labels: d.Gnd, Height: d.Height, Width: d.Width,
		Folder: datasets.FolderOptions{Pattern: d.Pattern, LabelsFile: d.Labels, Pool: d.Pool},
	})
	if err != nil {
		return nil, err
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
	rows := rng.New(uint64(seed), "samples").Perm(set.Len())[:d.Samples]
	slices.Sort(rows)
	return set.Subset(rows), nil
}
