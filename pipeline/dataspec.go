package pipeline

import (
	"fmt"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets"
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

// String returns the data in words: the set as it was named, and its settings.
func (d Data) String() string {
	words := []string{d.Set}
	add := func(name, value string) {
		if value != "" {
			words = append(words, name+" "+value)
		}
	}
	number := func(name string, n int) {
		if n > 0 {
			add(name, fmt.Sprint(n))
		}
	}
	add("from", d.From)
	add("part", d.Part)
	add("pattern", d.Pattern)
	add("labels", d.Labels)
	add("truth", d.Truth)
	if d.NoClasses {
		add("no-classes", "true")
	}
	if d.Pool {
		add("pool", "true")
	}
	add("fea", d.Fea)
	add("gnd", d.Gnd)
	if d.Shape.Height > 0 {
		add("shape", fmt.Sprintf("%dx%d", d.Shape.Height, d.Shape.Width))
	}
	number("largest", d.Largest)
	number("samples", d.Samples)
	return strings.Join(words, ", ")
}
