package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
)

// Method is a method of an experiment with its settings. In a file it is a
// name, or {name: ccf, init: nmf, iterations: 1000} with the method's own
// parameters beside the settings that all have; see [Methods].
type Method struct {
	// Name is what the method is called in the registry.
	Name string `json:"name"`
	// As is what it is called in tables; empty means its name.
	As string `json:"-"`
	// Swept are those of its settings that are one value of several. They
	// stand behind its name in tables.
	Swept []Setting `json:"-"`
	// Params are the method's own parameters.
	Params map[string]any `json:"params,omitempty"`
	// Init, Iterations and Tolerance are those of factor.Options.
	Init       factor.Init `json:"init,omitempty"`
	Iterations int         `json:"iterations,omitempty"`
	Tolerance  float64     `json:"tolerance,omitempty"`
	// Recode represents the training samples of a classification as the test
	// samples are, with the basis held and without ties and penalties. nil
	// stands for true where the basis is made of the samples (U = X·W): there the
	// coefficients that a run of the usual length ends with are far from those.
	// It stands for false elsewhere.
	Recode *bool `json:"recode,omitempty"`
	// By clusters its representation otherwise than the experiment says.
	By string `json:"cluster,omitempty"`
}

// The methods that make no representation, but take the features as they are:
// those that cluster them, k-means first of all, and the one that classifies
// them.
const (
	KMeans   = "kmeans"
	Original = "original"
)

// maxName is the length of the longest name of a method in tables, in bytes.
const maxName = 200

// builtin returns the task of a method that makes no representation.
func builtin(name string) (task Task, ok bool) {
	if name == Original {
		return Classification, true
	}
	_, ok = cluster.Lookup(name)
	return Clustering, ok
}

// read reads a method and checks that it is one. A setting that is in chosen has
// the value there in place of its own.
func (m *Method) read(node ast.Node, chosen map[string]ast.Node) error {
	if s, ok := text(node); ok {
		m.Name = s
		return m.check(node, nil)
	}
	if pairs(node) == nil {
		return refuse(node, "want a method's name, or {name: …} with its settings")
	}
	at := map[string]ast.Node{}
	err := fields(node, func(key string, value ast.Node) error {
		if one, ok := chosen[key]; ok {
			value = one
		}
		at[key] = value
		var err error
		s, isText := text(value)
		switch key {
		case "name":
			m.Name = s
		case "as":
			if m.As = s; strings.TrimSpace(s) == "" {
				return refuse(value, "want a name")
			}
			if len(s) > maxName {
				return refuse(value, "want a name of at most %d bytes", maxName)
			}
		case "init":
			m.Init = factor.Init(s)
			if !slices.Contains([]factor.Init{factor.Random, factor.NNDSVDa, factor.FromNMF}, m.Init) {
				return refuse(value, "there is no init %q; there are %s, %s and %s", s, factor.Random, factor.NNDSVDa, factor.FromNMF)
			}
		case "iterations":
			m.Iterations, err = positive(value)
		case "cluster":
			var c Cluster
			if err := c.setBy(value); err != nil {
				return err
			}
			m.By = c.By
		case "recode":
			var recode bool
			if yaml.NodeToValue(value, &recode) != nil {
				return refuse(value, "want true or false")
			}
			m.Recode = &recode
		case "tolerance":
			if err := yaml.NodeToValue(value, &m.Tolerance); err != nil || !(m.Tolerance >= 0 && m.Tolerance < 1) {
				return refuse(value, "want a share of the objective from 0 to 1, such as 1e-5")
			}
		default:
			if m.Params == nil {
				m.Params = map[string]any{}
			}
			var v any
			if err := yaml.NodeToValue(value, &v); err != nil {
				return refuse(value, "%s cannot be read: %v", key, err)
			}
			if isText && v == nil {
				v = s
			}
			switch value.(type) {
			case *ast.NullNode, *ast.MappingNode, *ast.MappingValueNode:
				return refuse(value, "%s: want a single value", key)
			}
			m.Params[key] = v
		}
		return err
	})
	if err != nil {
		return err
	}
	if m.Name == "" {
		return refuse(node, "the method has no name")
	}
	return m.check(node, at)
}

// check builds the method, to find at once what cannot be set.
func (m *Method) check(node ast.Node, at map[string]ast.Node) error {
	place := func(key string) ast.Node {
		if n, ok := at[key]; ok {
			return n
		}
		return node
	}
	if _, own := builtin(m.Name); own {
		for _, key := range slices.Sorted(maps.Keys(at)) {
			if key != "name" && key != "as" {
				return refuse(keyOf(node, key), "%s has no parameter %q", m.Name, key)
			}
		}
		return nil
	}
	_, err := m.build()
	var param *factor.ParamError
	if errors.Is(err, factor.ErrNoParam) && errors.As(err, &param) {
		keys := []string{"as", "init", "iterations", "tolerance", "cluster", "recode"}
		info, _ := factor.Lookup(m.Name)
		for _, p := range info.Params() {
			keys = append(keys, p.Name)
		}
		return refuse(keyOf(node, param.Param), "%v; the keys here are name, %s", err, strings.Join(keys, ", "))
	}
	if errors.As(err, &param) {
		return refuse(place(param.Param), "%v", err)
	}
	if err != nil {
		return refuse(place("name"), "%v", err)
	}
	return nil
}

// build returns the method itself.
func (m Method) build() (factor.Method, error) {
	info, ok := factor.Lookup(m.Name)
	if !ok {
		return nil, fmt.Errorf("there is no method %q; there are %s", m.Name, strings.Join(MethodNames(), ", "))
	}
	return info.New(m.Params)
}

// MethodNames returns the names of all methods.
func MethodNames() []string {
	names := append(Clusterers(), Original)
	for _, i := range factor.Methods() {
		names = append(names, i.Name)
	}
	return names
}

// title is what the method is called, whatever is swept.
func (m Method) title() string { return cmp.Or(m.As, m.Name) }

// Label returns what the method is called in tables.
func (m Method) Label() string {
	label := m.title()
	for _, s := range m.Swept {
		label += " " + s.Name + "=" + s.Value
	}
	return label
}

// String returns the method and its settings in words.
func (m Method) String() string { return m.words(nil) }

// words is the method and those of its settings that are not left out.
func (m Method) words(leaveOut []string) string {
	out := m.Name
	add := func(key, format string, args ...any) {
		if !slices.Contains(leaveOut, key) {
			out += ", " + fmt.Sprintf(format, args...)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m.Params)) {
		add(key, "%s %v", key, m.Params[key])
	}
	if m.Init != "" {
		add("init", "init %s", m.Init)
	}
	if m.Iterations > 0 {
		add("iterations", "%d iterations", m.Iterations)
	}
	if m.By != "" {
		add("cluster", "clustered by %s", m.By)
	}
	if m.Recode != nil {
		add("recode", "recode %v", *m.Recode)
	}
	if m.Tolerance > 0 {
		add("tolerance", "tolerance %v", m.Tolerance)
	}
	return out
}

// recodes tells whether a classification represents the training samples as the
// test samples.
func (m Method) recodes() bool {
	if m.Recode != nil {
		return *m.Recode
	}
	return m.isConcept()
}

// info returns what the registry says of it, nothing of what is no factorisation.
func (m Method) info() factor.Info {
	info, _ := factor.Lookup(m.Name)
	return info
}

// isConcept tells whether its basis is made of the samples.
func (m Method) isConcept() bool { return m.info().Concept || m.Params["basis"] == "concept" }

// isRankOne tells whether its basis is made of rank-one images.
func (m Method) isRankOne() bool { return m.info().Images || m.Params["basis"] == "rank-one" }

// needsLabels tells whether it must know the labels of some samples, or links.
func (m Method) needsLabels() bool {
	for _, by := range []string{m.Name, m.By} {
		if a, ok := cluster.Lookup(by); ok && a.NeedsLabels {
			return true
		}
	}
	return m.info().NeedsLabels || m.tiesLabels() || m.Params["penalty"] == "links"
}

// tiesLabels tells whether it ties samples of one class to each other, so that the
// only labelled one of a class counts for nothing in it.
func (m Method) tiesLabels() bool {
	return m.info().TiesLabels || m.Params["tie"] == "labels" || m.Params["label-edges"] == true
}

// checkClasses reports why it cannot learn from labelled samples, so many of each
// class.
func (m Method) checkClasses(sizes []int) error {
	if err := m.info().CheckClasses(sizes); err != nil {
		return fmt.Errorf("%s: %w", m.Label(), err)
	}
	return nil
}

// checkFeatures reports that the method is for images, and the features are none.
func (m Method) checkFeatures(f Features) error {
	if m.isRankOne() && (f.Words != nil || f.HOG) {
		return fmt.Errorf("%s is for images, and the features are %s (--features pixels=32, for example)", m.Label(), f)
	}
	return nil
}

// takesLinks tells whether links will do where it has no labels.
func (m Method) takesLinks() bool {
	for _, by := range []string{m.Name, m.By} {
		if a, ok := cluster.Lookup(by); ok && a.TakesLinks {
			return true
		}
	}
	return m.info().TakesLinks || m.Params["penalty"] == "links"
}
