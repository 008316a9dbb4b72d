package factor

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Info describes a method of the registry.
type Info struct {
	// Name is what settings call it, such as "cnmf-kl".
	Name string
	// Title is its full name.
	Title string
	// Family groups methods that find the same kind of thing.
	Family string
	// Parts says what it is put together from.
	Parts string
	// Objective and Update are its formulas, in the papers' orientation: X is
	// m×n, a sample a column.
	Objective, Update string
	// Paper is where it comes from.
	Paper string

	zero Method
}

// Register adds a method of the program's own to the registry, so that settings and experiments
// find it by its name. Call it from an init function. It panics if the name is taken.
func Register(i Info, defaults Method) {
	if _, taken := Lookup(i.Name); taken {
		panic("factor: a method " + i.Name + " is registered already")
	}
	i.zero = defaults
	registry = append(registry, i)
}

// Methods returns the methods of the registry, in the order to show them.
func Methods() []Info { return slices.Clone(registry) }

// Lookup returns the method of the name.
func Lookup(name string) (Info, bool) {
	i := slices.IndexFunc(registry, func(m Info) bool { return m.Name == name })
	if i < 0 {
		return Info{}, false
	}
	return registry[i], true
}

// Needs says what the method needs as its paper has it. With other settings it may need
// other things: see [NeedsOf].
func (i Info) Needs() Needs { return NeedsOf(i.zero) }

// Setting describes a setting: its name, default, help, values and range in words.
type Setting = settings.Setting

// Settings returns the method's hyper-parameters: the fields of its struct that
// carry a setting tag, those of embedded structs among them.
func (i Info) Settings() []Setting {
	if own, ok := i.zero.(interface{ Settings() []Setting }); ok {
		return own.Settings()
	}
	return settings.List(i.zero)
}

// New returns the method with the given hyper-parameters, whose values are numbers,
// strings or booleans. A 0 becomes WeightNone where the zero value stands for a default.
func (i Info) New(params map[string]any) (Method, error) {
	method, err := settings.New(settings.Of(params), i.zero)
	if err != nil {
		var e *settings.Error
		if errors.As(err, &e) && e.Key != "" {
			return nil, fmt.Errorf("%s: %s: %w", i.Name, e.Key, err)
		}
		return nil, fmt.Errorf("%s: %w", i.Name, err)
	}
	return method, nil
}

// Needs says what a method needs of the samples, and what it makes of them.
type Needs struct {
	// Labels tells whether the labels of some samples must be known. With Links links
	// between samples will do in their place.
	Labels, Links bool
	// TiesLabels tells whether samples of one class are tied to each other, so that
	// the only labelled one of a class counts for nothing.
	TiesLabels bool
	// Images tells whether samples must be images.
	Images bool
	// Signed tells whether samples may have negative values.
	Signed bool
	// Concept tells whether the basis is made of the samples, U = X·W.
	Concept bool
	// Direct methods are solved at once: they have no iterations and start
	// from nothing.
	Direct bool
	// Classes reports why it cannot learn from samples of which the class is known,
	// given how many there are of each class, 1 or more; nil where it always can.
	Classes func(sizes []int) error
}

// NeedsOf returns what the method needs: what its method Needs() Needs says, or its
// [Parts] do, and nothing if there is neither.
func NeedsOf(m Method) Needs {
	switch m := m.(type) {
	case interface{ Needs() Needs }:
		return m.Needs()
	case Composition:
		return m.AsParts().Needs()
	}
	return Needs{}
}

// Composition is a method that is put together from [Parts].
type Composition interface {
	Method
	AsParts() Parts
}

// Serves reports that the solver does not serve the method, and why.
func Serves(s Solver, m Method) error {
	if c, ok := m.(Composition); ok {
		return s.Serves(c.AsParts())
	}
	return errOwnRule
}

var errOwnRule = errors.New("a solver is for methods that are made of parts, and this one has a rule of its own")
