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
}

// List returns the settings of a struct in the order of its fields, those of embedded
// structs among them. A field without a default tag has the default that it holds in of.
func List(of any) []Setting {
	v := reflect.Indirect(reflect.ValueOf(of))
	var out []Setting
	for _, f := range settingsOf(v.Type()) {
		held := v.FieldByIndex(f.Index)
		s := Setting{Name: f.name, Default: f.Tag.Get("default"), Help: f.Tag.Get("help"), Values: f.values, Type: f.Type}
		if tag := f.Tag.Get("range"); tag != "" {
			s.Range = rangeOf(tag, f.Type.Kind() == reflect.Int || f.Type == reflect.TypeFor[[]int]()).String()
		}
		if s.Default == "" && (!held.IsZero() || held.CanInt() || held.CanFloat() || held.Kind() == reflect.Bool) {
			s.Default = fmt.Sprint(held.Interface())
		}
		out = append(out, s)
	}
	return out
}

// Names returns the names of the settings of a struct.
func Names(of any) []string {
	var names []string
	for _, f := range settingsOf(reflect.Indirect(reflect.ValueOf(of)).Type()) {
		names = append(names, f.name)
	}
	return names
}

// field is a field of a struct that is a setting.
type field struct {
	reflect.StructField
	name string
	// text tells whether a text in place of the mapping is this setting.
	text   bool
	values []string
}

// known holds the settings of struct types.
var known sync.Map

// settingsOf returns the fields of a struct type that are settings.
func settingsOf(t reflect.Type) []field {
	if out, ok := known.Load(t); ok {
		return out.([]field)
	}
	var out []field
	for _, f := range reflect.VisibleFields(t) {
		name, option, _ := strings.Cut(f.Tag.Get("setting"), ",")
		if name == "" {
			continue
		}
		s := field{StructField: f, name: name, text: option == "text"}
		if enum, ok := reflect.New(f.Type).Interface().(interface{ Values() []string }); ok {
			s.values = enum.Values()
		}
		if list := f.Tag.Get("values"); list != "" {
			s.values = strings.Split(list, ",")
		}
		out = append(out, s)
	}
	known.Store(t, slices.Clip(out))
	return out
}
