package figure

import (
	"slices"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// Looks are the numbers by which methods have their colours, marks and dashes, so
// that a method looks the same in all figures. Without Looks, nil, they are numbered
// in each figure for itself.
type Looks map[string]int

// NewLooks numbers the methods of an experiment in their order. All settings of a
// sweep, and the sweep by its own name, have one number.
func NewLooks(methods []string, sweeps []pipeline.Sweep) Looks {
	looks := Looks{}
	for _, method := range methods {
		name := method
		if at := slices.IndexFunc(sweeps, func(s pipeline.Sweep) bool { return slices.Contains(s.Methods, method) }); at >= 0 {
			name = sweeps[at].Name
		}
		number, ok := looks[name]
		if !ok {
			number = looks.len()
			looks[name] = number
		}
		looks[method] = number
	}
	return looks
}

// len is how many numbers are given.
func (l Looks) len() int {
	n := 0
	for _, number := range l {
		n = max(n, number+1)
	}
	return n
}

// of returns the number of a method that is at the given place in a figure.
func (l Looks) of(method string, place int) int {
	if number, ok := l[method]; ok {
		return number
	}
	return l.len() + place
}
