package pipeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// Data says where the samples come from. In a file it is a known set's name or
// a path, or {set: …} with settings beside it.
type Data struct {
	// Set is a known set's name or a path.
	Set string `setting:"set,text" help:"a known set or a path"`
	// OpenOptions say how it is read, and how its classes are found.
	datasets.OpenOptions
	// Largest is how many classes are kept, those with the most samples, or 0
	// for all.
	Largest int `setting:"largest" default:"all" help:"how many classes are kept, those with the most samples"`
	// Samples is the size of a random part of the set, or 0 for all of it.
	Samples int `setting:"samples" default:"all" help:"the size of a random part of the set"`
	// Labelled leaves out samples of no known class. It is not part of the file.
	Labelled bool
}

// open returns the set, or the part of it that is asked for.
func (d Data) open(ctx context.Context, seed uint64, skipBad bool) (*datasets.Set, error) {
	opt := d.OpenOptions
	opt.SkipBad = skipBad
	set, err := datasets.Open(ctx, d.Set, opt)
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
