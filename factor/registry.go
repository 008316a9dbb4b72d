package factor

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Info describes a method of the registry.
type Info struct {
	// Name is what settings call it, such as "cnmf-kl".
	Name string
	// Title is its full name.
	Title string
	// Family groups methods that find the same kind of thing.
	Family string
	// Parts says what the method is made of.
	Parts string
	// Objective and Update are its formulas, in the papers' orientation: X is
	// m×n, a sample a column.
	Objective, Update string
	// Paper is where it comes from.
	Paper string
	// NeedsLabels tells whether it must know the labels of some samples, and
	// Signed whether it takes data with negative values.
	NeedsLabels, Signed bool
	// Concept tells whether the basis is made of the samples, U = X·W, and Images
	// whether it is for images, of rank one.
	Concept, Images bool
	// TiesLabels tells whether samples of one class are tied to each other, so that
	// the only labelled one of a class counts for nothing, and TakesLinks whether links
	// between samples will do in place of labels.
	TiesLabels, TakesLinks bool
	// Direct methods are solved at once: they have no iterations and start
	// from nothing.
	Direct bool

	zero Method
	// classes reports why the method cannot learn from labelled samples, so many
	// of each class; nil where it always can.
	classes func(sizes []int) error
}

// CheckClasses reports why the method cannot learn from samples of which the class is
// known. sizes holds how many there are of each class, 1 or more.
func (i Info) CheckClasses(sizes []int) error {
	if i.classes == nil {
		return nil
	}
	return i.classes(sizes)
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

// Param is a hyper-parameter of a method.
type Param struct {
	Name string
	// Default is the paper's, in words.
	Default string
	Help    string
}

// Params returns the method's hyper-parameters: those fields of its struct that
// carry a param tag, the fields of embedded structs among them.
func (i Info) Params() []Param {
	var out []Param
	v := reflect.ValueOf(i.zero)
	for _, f := range paramFields(v.Type()) {
		def := f.Tag.Get("default")
		if def == "" {
			def = fmt.Sprint(v.FieldByIndex(f.Index).Interface())
		}
		out = append(out, Param{Name: f.Tag.Get("param"), Default: def, Help: f.Tag.Get("help")})
	}
	return out
}

func paramFields(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
		return f.Tag.Get("param") == ""
	})
}

// ParamError says that a hyper-parameter cannot be set.
type ParamError struct {
	Method, Param string
	Err           error
}

// ErrNoParam is in the ParamError of a parameter that the method does not have.
var ErrNoParam = errors.New("there is no such parameter")

func (e *ParamError) Error() string { return fmt.Sprintf("%s: %s: %v", e.Method, e.Param, e.Err) }

// Unwrap returns the cause.
func (e *ParamError) Unwrap() error { return e.Err }

// New returns the method with the given hyper-parameters, whose values are
// numbers, strings or booleans as settings hold them. A parameter that the
// method does not have, or a value it cannot have, is a *ParamError.
func (i Info) New(params map[string]any) (Method, error) {
	v := reflect.New(reflect.TypeOf(i.zero)).Elem()
	v.Set(reflect.ValueOf(i.zero))
	fields := paramFields(v.Type())
	for _, name := range slices.Sorted(maps.Keys(params)) {
		at := slices.IndexFunc(fields, func(f reflect.StructField) bool { return f.Tag.Get("param") == name })
		if at < 0 {
			return nil, &ParamError{i.Name, name, fmt.Errorf("%w; %s", ErrNoParam, i.list())}
		}
		if err := setParam(v.FieldByIndex(fields[at].Index), fields[at].Tag.Get("default") != "", params[name]); err != nil {
			return nil, &ParamError{i.Name, name, err}
		}
	}
	return v.Interface().(Method), nil
}

func (i Info) list() string {
	var names []string
	for _, p := range i.Params() {
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		return i.Name + " has none"
	}
	return i.Name + " has " + strings.Join(names, ", ")
}
