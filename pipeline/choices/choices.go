// Package choices lists the methods, solvers, penalties, clustering algorithms, features and scores of experiments with
// their settings, and completes their short forms for a shell.
package choices

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Kind is one list of choices, such as the methods or the features.
type Kind struct {
	// Name and One are the plural and the singular, Title describes the list, and Example names an entry.
	Name, One, Title, Example string
	// Columns are the names of the facts that a table of the entries shows.
	Columns []string
	Entries func() []Entry
}

// Entry is one choice, such as the method nmf.
type Entry struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	Family string   `json:"family,omitempty"`
	Facts  Facts    `json:"facts,omitempty"`
	Needs  []string `json:"needs,omitempty"` // labels, links (enough without labels; optional if alone) and images
	// Supports are properties of the data that a method supports: signed, missing, weights (of samples) and new (samples).
	Supports []string           `json:"supports,omitempty"`
	Solvers  []string           `json:"solvers,omitempty"` // that serve a method as its paper describes it
	Settings []settings.Setting `json:"settings,omitempty"`
	Shared   []settings.Setting `json:"shared,omitempty"` // the settings that all entries of the kind share
}

// Facts are pairs of a column of a Kind and a text.
type Facts [][2]string

// MarshalJSON returns an object.
func (f Facts) MarshalJSON() ([]byte, error) {
	texts := map[string]string{}
	for _, fact := range f {
		texts[fact[0]] = fact[1]
	}
	return json.Marshal(texts)
}

// list returns the words whose conditions hold, given as pairs of a word and a bool.
func list(pairs ...any) (words []string) {
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1].(bool) {
			words = append(words, pair[0].(string))
		}
	}
	return words
}

// Kinds are all lists of choices.
var Kinds = []Kind{
	{"methods", "method", "factorisations, embeddings and baselines", "ccf", []string{"parts", "paper"}, methodEntries},
	{"solvers", "solver", "optimisation algorithms", "mu", []string{"about"}, solverEntries},
	{"penalties", "penalty", "terms added to the objective of the method parts", "graph", []string{"term", "needs"}, penaltyEntries},
	{"clusterers", "clusterer", "clustering algorithms", "ncut", []string{"needs"}, clustererEntries},
	{"features", "feature", "features and descriptors of images", "hog", []string{"about"}, featureEntries},
	{"scores", "score", "measures of clustering, classification and factors", "NMI", []string{"task", "values", "better"}, scoreEntries},
}

func methodEntries() (out []Entry) {
	shared := slices.DeleteFunc(settings.List(spec.Method{}), func(s settings.Setting) bool { return slices.Contains([]string{"name", "as", "results"}, s.Name) })
	for _, i := range factor.Methods() {
		needs := i.Needs()
		data := "non-negative values"
		if needs.Signed {
			data = "values of any sign"
		}
		if needs.Labels {
			data += "; needs some labels"
		}
		if needs.NoModel {
			data += "; no new samples"
		}
		method, _ := i.New(nil)
		_, missing := factor.ForWeights(method, true)
		_, weights := factor.ForWeights(method, false)
		if missing == nil {
			data += "; missing values and weights"
		} else if weights == nil {
			data += "; weights of samples"
		}
		e := Entry{Name: i.Name, Title: i.Title, Family: i.Family, Settings: i.Settings(), Shared: shared, Facts: [][2]string{
			{"family", i.Family}, {"parts", i.Parts}, {"minimises", i.Objective}, {"updates", i.Update}, {"paper", i.Paper}, {"data", data}},
			Needs:    list("labels", needs.Labels, "links", needs.Links, "images", needs.Images),
			Supports: list("signed", needs.Signed, "missing", missing == nil, "weights", weights == nil, "new", !needs.NoModel)}
		_, composed := method.(factor.Composition)
		unseeded := needs.Direct || needs.Unseeded
		lacks := map[string]bool{"init": unseeded, "restarts": unseeded, "consensus": unseeded, "iterations": needs.Direct,
			"tolerance": needs.Direct, "solver": !composed, "fixed-basis": !composed, "recode": needs.NoModel}
		e.Shared = slices.DeleteFunc(slices.Clone(shared), func(s settings.Setting) bool { return lacks[s.Name] })
		if composed {
			for _, s := range factor.Solvers() {
				if factor.Serves(s.Solver, method) == nil {
					e.Solvers = append(e.Solvers, s.Name)
				}
			}
			if e.Solvers != nil {
				e.Facts = append(e.Facts, [2]string{"solvers", strings.Join(e.Solvers, ", ")})
			}
		}
		out = append(out, e)
	}
	const family = "baseline without factorisation"
	for _, e := range clustererEntries() {
		e.Family, e.Settings = family, nil // they belong to the key cluster
		e.Facts = append(e.Facts, [2]string{"data", "values of any sign"})
		out = append(out, e)
	}
	return append(out, Entry{Name: spec.Original, Title: "the features themselves, as a baseline of classification", Family: family, Facts: [][2]string{{"data", "values of any sign"}}})
}

func solverEntries() (out []Entry) {
	return lists.Map(factor.Solvers(), func(s factor.SolverInfo) Entry {
		return Entry{Name: s.Name, Title: s.Title, Facts: [][2]string{{"about", s.Help}}}
	})
}

func penaltyEntries() (out []Entry) {
	for _, i := range factor.PenaltyList() {
		in, needs := "the coefficients V", ""
		if i.OnBasis() {
			in = "the basis vectors U"
		}
		switch n := i.Needs(); {
		case n.Links:
			needs = "labels or links"
		case n.Images:
			needs = "images"
		}
		out = append(out, Entry{Name: i.Name, Title: i.Title, Settings: i.Settings(), Facts: [][2]string{
			{"term", i.Term}, {"in", in}, {"paper", i.Paper}, {"needs", needs}}})
	}
	return out
}

func clustererEntries() (out []Entry) {
	for _, a := range cluster.Algorithms() {
		needs := list("labels", a.NeedsLabels || a.TakesLinks, "or links", a.TakesLinks)
		out = append(out, Entry{Name: a.Name, Title: a.Title, Settings: a.Settings(), Facts: Facts{{"needs", strings.Join(needs, " ")}},
			Needs: list("labels", a.NeedsLabels, "links", a.TakesLinks), Supports: []string{"signed", "new"}})
	}
	return append(out, Entry{Name: spec.Largest, Title: "each sample joins the cluster of its largest coefficient"})
}

func featureEntries() (out []Entry) {
	for _, i := range features.Extractors() {
		name := i.Name
		if i.Form != "" {
			name += "=" + i.Form
		}
		out = append(out, Entry{Name: name, Title: i.Title, Facts: [][2]string{{"about", i.Help}, {"images", i.Images}}, Settings: settings.List(i.Zero)})
	}
	return out
}

func scoreEntries() (out []Entry) {
	for _, s := range eval.Scores() {
		scale, better := 1.0, "higher"
		if s.Unit == eval.UnitPercent {
			scale = 100
		}
		values := fmt.Sprintf("from %g to %g", scale*s.Min, scale*s.Max)
		if math.IsInf(s.Max, 1) {
			values = fmt.Sprintf("%g or more", s.Min)
		}
		if s.LowerIsBetter {
			better = "lower"
		}
		facts := [][2]string{{"about", s.Help}, {"task", s.Task.String()}, {"values", values}, {"unit", string(s.Unit)}, {"better", better}}
		if s.Optional {
			facts = append(facts, [2]string{"computed", fmt.Sprintf("on request (scores: [%s])", s.Name)})
		}
		out = append(out, Entry{Name: s.Name, Title: s.Title, Facts: facts})
	}
	return out
}

// Names returns the names of the entries.
func (k Kind) Names() (names []string) {
	return lists.Map(k.Entries(), func(e Entry) string { return e.Name })
}

// Names returns the names of the entries of the kind called kind.
func Names(kind string) []string {
	return Kinds[slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == kind })].Names()
}

// Complete returns the values that complete begun for a setting of type field, in the setting's short form. more is
// true if a value can continue, for instance with a comma.
func Complete(setting settings.Setting, field reflect.Type, begun string) (values []string, more bool) {
	switch setting.Name {
	case "methods":
		return settingValues(begun, "", Names("methods"), func(name string) []settings.Setting {
			e, _ := lists.Find(methodEntries(), func(e Entry) bool { return e.Name == name })
			return slices.Concat(e.Settings, e.Shared)
		}), true
	case "features":
		return featureValues(begun), true
	case "scores":
		before := begun[:strings.LastIndexByte(begun, ',')+1]
		for _, s := range eval.Scores() {
			if s.Optional {
				values = append(values, before+s.Name)
			}
		}
		return withPrefix(begun, values), false
	}
	if field.Kind() == reflect.Slice {
		field = field.Elem()
	}
	if field.Kind() != reflect.Struct || setting.Values != nil {
		return withPrefix(begun, setting.Values), false
	}
	list, by := settings.List(reflect.Zero(field).Interface()), spec.FirstKey(setting.Name)
	var first []string
	if setting.Name == "data" {
		first = lists.Map(catalogue.Known(), func(s catalogue.Info) string { return s.Name })
	} else if i := slices.IndexFunc(list, func(s settings.Setting) bool { return s.Name == by }); i >= 0 {
		first = valuesOf(list[i])
	}
	return settingValues(begun, by, first, func(string) []settings.Setting { return list }), true
}

func withPrefix(begun string, words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, begun) })
}

// settingValues completes a value such as ccf,init=nmf: first a name, whose key is by, then keys and values. of returns
// the settings that belong to a name.
func settingValues(begun, by string, first []string, of func(string) []settings.Setting) (out []string) {
	comma := strings.LastIndexByte(begun, ',')
	before, last := begun[:comma+1], begun[comma+1:]
	name, _, _ := strings.Cut(before, ",")
	key, _, hasValue := strings.Cut(last, "=")
	if comma < 0 {
		out = slices.Clone(first)
	}
	for _, s := range of(name) {
		switch {
		case s.Name == by && (comma >= 0 || !hasValue) && !strings.Contains(name, "="):
		case hasValue && s.Name == key:
			for _, v := range valuesOf(s) {
				out = append(out, before+key+"="+v)
			}
		case !hasValue && !strings.Contains(","+before, ","+s.Name+"="):
			out = append(out, before+s.Name+"=")
		}
	}
	return withPrefix(begun, out)
}

// valuesOf returns the values of a setting with a short list of values, else nil.
func valuesOf(s settings.Setting) []string {
	switch {
	case s.Values != nil:
		return s.Values
	case s.Default == "true" || s.Default == "false":
		return []string{"true", "false"}
	case s.Name == "by":
		return append(spec.Clusterers(), spec.Largest)
	case s.Name == "solver":
		return Names("solvers")
	}
	return nil
}

func featureValues(begun string) (out []string) {
	plus := strings.LastIndexByte(begun, '+')
	before, last := begun[:plus+1], begun[plus+1:]
	var first []string
	own := map[string][]settings.Setting{}
	for _, i := range features.Extractors() {
		first = append(first, i.Name)
		own[i.Name] = append(own[i.Name], settings.List(i.Zero)...)
		if i.Form != "" {
			first = append(first, i.Name+"="+i.Form)
		}
		if i.Descriptors() {
			own[i.Name] = append(own[i.Name], settings.List(spec.Words{})...)
			own[i.Name] = append(own[i.Name], settings.Setting{Name: "words"})
		}
	}
	shared := slices.Concat(settings.List(spec.Weighted{}), settings.List(spec.Features{}))
	for _, v := range settingValues(last, "", first, func(name string) []settings.Setting {
		if name == "" {
			return nil
		}
		name, _, _ = strings.Cut(name, "=")
		return append(slices.Clone(own[name]), shared...)
	}) {
		out = append(out, before+v)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
