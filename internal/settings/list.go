package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Setting describes a setting.
type Setting struct {
	Name string
	// Default and Help are in words.
	Default, Help string
	// Values are the values that it can have, nil if they are no enumeration.
	Values []string
	// Range is the range of a number in words, "" for the usual one.
	Range string
	// Type is that of the field.
	Type reflect.Type

	field reflect.StructField
	text  bool // whether a text in place of the mapping is this setting
}

// List returns the settings of a struct in the order of its fields, those of embedded
// structs among them. A field without a default tag has the default that it holds in of.
func List(of any) []Setting {
	v := reflect.Indirect(reflect.ValueOf(of))
	out := slices.Clone(settingsOf(v.Type()))
	for i := range out {
		s, held := &out[i], v.FieldByIndex(out[i].field.Index)
		if s.Default == "" && (!held.IsZero() || held.CanInt() || held.CanFloat() || held.Kind() == reflect.Bool) {
			s.Default = fmt.Sprint(held.Interface())
		}
	}
	return out
}

// Names returns the names of the settings of a struct.
func Names(of any) []string {
	var names []string
	for _, s := range settingsOf(reflect.Indirect(reflect.ValueOf(of)).Type()) {
		names = append(names, s.Name)
	}
	return names
}

// known holds the settings of struct types.
var known sync.Map

// settingsOf returns the settings of a struct type, whose defaults are those of tags.
func settingsOf(t reflect.Type) []Setting {
	if out, ok := known.Load(t); ok {
		return out.([]Setting)
	}
	var out []Setting
	for _, f := range reflect.VisibleFields(t) {
		name, option, _ := strings.Cut(f.Tag.Get("setting"), ",")
		if name == "" {
			continue
		}
		s := Setting{Name: name, Default: f.Tag.Get("default"), Help: f.Tag.Get("help"), Type: f.Type, field: f, text: option == "text"}
		if tag := f.Tag.Get("range"); tag != "" {
			s.Range = rangeOf(tag, f.Type.Kind() == reflect.Int || f.Type == reflect.TypeFor[[]int]()).String()
		}
		if enum, ok := reflect.New(f.Type).Interface().(interface{ Values() []string }); ok {
			s.Values = enum.Values()
		}
		if list := f.Tag.Get("values"); list != "" {
			s.Values = strings.Split(list, ",")
		}
		out = append(out, s)
	}
	known.Store(t, slices.Clip(out))
	return out
}
