package choices

import (
	"reflect"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Complete returns the short forms of a setting that continue what was begun, and whether more can follow
// them. The setting is a field of a type.
func Complete(setting settings.Setting, field reflect.Type, begun string) (values []string, more bool) {
	switch setting.Name {
	case "methods":
		return settingValues(begun, "", Names("methods"), methodSettings), true
	case "features":
		return featureValues(begun), true
	case "scores":
		before := begun[:strings.LastIndexByte(begun, ',')+1]
		for _, s := range eval.Scores() {
			if s.Optional {
				values = append(values, before+s.Name)
			}
		}
		return among(begun, values), false
	}
	if field.Kind() == reflect.Slice {
		field = field.Elem()
	}
	if field.Kind() != reflect.Struct || setting.Values != nil {
		return among(begun, setting.Values), false
	}
	list, by := settings.List(reflect.Zero(field).Interface()), spec.FirstKey(setting.Name)
	var first []string
	if setting.Name == "data" {
		for _, s := range catalogue.Known() {
			first = append(first, s.Name)
		}
	} else if i := slices.IndexFunc(list, func(s settings.Setting) bool { return s.Name == by }); i >= 0 {
		first = valuesOf(list[i])
	}
	return settingValues(begun, by, first, func(string) []settings.Setting { return list }), true
}

// among returns the words that begin as what was typed.
func among(begun string, words []string) (out []string) {
	for _, w := range words {
		if strings.HasPrefix(w, begun) {
			out = append(out, w)
		}
	}
	return out
}

// methodSettings returns the settings of a method.
func methodSettings(name string) []settings.Setting {
	for _, e := range methodEntries() {
		if e.Name == name {
			return append(slices.Clone(e.Settings), e.Shared...)
		}
	}
	return nil
}

// settingValues completes a value such as ccf,init=nmf: what stands first, whose key is by, the keys
// behind commas, and their values. of returns the settings that go with what stands first.
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
	return among(begun, out)
}

// valuesOf returns the values that a setting can have, nil where they are not a few.
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

// featureValues completes features, with + between several of them, and their settings.
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
