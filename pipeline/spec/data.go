package spec

import (
	"fmt"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Data says where the samples come from. In a file it is a known set's name or
// a path, or {set: …} with settings beside it.
type Data struct {
	Set string `setting:"set,text" help:"a known set or a path"`
	// OpenOptions say how it is read, and how its classes are found.
	datasets.OpenOptions
	// 0 means all for both.
	Largest int `setting:"largest" default:"all" help:"how many classes are kept, those with the most samples"`
	Samples int `setting:"samples" default:"all" help:"the size of a random part of the set"`
	// Labelled leaves out samples of no known class. It is not part of the file.
	Labelled bool
}

// String returns the data in words: the set as it was named, and its settings.
func (d Data) String() string {
	words, held := []string{d.Set}, settings.Encode(d)
	for _, name := range settings.Names(d)[1:] {
		if value, ok := held[name]; ok {
			words = append(words, fmt.Sprintf("%s %v", name, value))
		}
	}
	return strings.Join(words, ", ")
}
