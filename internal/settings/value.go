// Package settings reads settings into plain structs of other packages. The tags of a field give the
// name, the default and the help of its setting:
//
//	Step int `setting:"step" default:"8" range:"[1,4096]" help:"distance of patches, in pixels"`
//
// From these [Decode] reads a document and [List] lists the settings. A document is a
// tree of [Value]; the package knows no file format.
package settings

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Kind is the kind of a [Value].
type Kind int

// The kinds. A text is a scalar of any type.
const (
	KindNull Kind = iota
	KindText
	KindList
	KindMapping
)

// Value is a part of a document.
type Value struct {
	Kind Kind
	// Text is a scalar as it is written, without quotes, and Data the same as a bool,
	// an integer, a float64 or a string.
	Text         string
	Data         any
	Items        []*Value // the values of a list
	Fields       []Field  // the keys and values of a mapping, in the order of the document
	Line, Column int      // Line and Column count from 1; both are 0 if there is no document
}

// Field is a key of a mapping with its value.
type Field struct{ Key, Value *Value }

// Of returns the value of a scalar, a slice or a map from strings.
func Of(x any) *Value {
	v := reflect.ValueOf(x)
	switch {
	case !v.IsValid():
		return &Value{}
	case v.Kind() == reflect.Slice:
		out := &Value{Kind: KindList}
		for i := range v.Len() {
			out.Items = append(out.Items, Of(v.Index(i).Interface()))
		}
		return out
	case v.Kind() == reflect.Map:
		out := &Value{Kind: KindMapping}
		for _, key := range v.MapKeys() {
			out.Fields = append(out.Fields, Field{Of(key.Interface()), Of(v.MapIndex(key).Interface())})
		}
		slices.SortFunc(out.Fields, func(a, b Field) int { return strings.Compare(a.Key.Text, b.Key.Text) })
		return out
	}
	return &Value{Kind: KindText, Text: fmt.Sprint(x), Data: x}
}

// Get returns the field of a mapping, or nil values if there is none.
func (v *Value) Get(key string) Field {
	for _, f := range v.Fields {
		if f.Key.Text == key {
			return f
		}
	}
	return Field{}
}

// describe is the value in a message.
func (v *Value) describe() string {
	switch v.Kind {
	case KindText:
		if _, ok := v.Data.(string); ok {
			return fmt.Sprintf("%q", v.Text)
		}
		return v.Text
	case KindList:
		return "a list"
	case KindMapping:
		return "keys and values"
	}
	return "an empty value"
}

// Error is a setting that cannot be read.
type Error struct {
	Line, Column int    // Line and Column are the place of the value or key, 0 if there is no document
	Key          string // the key of the setting in the outermost mapping, "" if it is not known
	Message      string
}

// Error returns the message with its line and column.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
}

// InFile returns an error of the text of a file with its path: path:line:column: message.
func InFile(path string, err error) error {
	var placed *Error
	if errors.As(err, &placed) && placed.Line > 0 {
		return fmt.Errorf("%s:%w", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// maxMessage is the length of the longest message, in characters.
const maxMessage = 1000

// Errorf returns an *Error at the place of the value.
func (v *Value) Errorf(format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if runes := []rune(message); len(runes) > maxMessage {
		message = string(runes[:maxMessage]) + "…" // it quotes a long value
	}
	return &Error{Line: v.Line, Column: v.Column, Message: message}
}

// Want returns an error with the expected and the actual value.
func (v *Value) Want(format string, args ...any) error {
	return v.Errorf("expected %s, got %s", fmt.Sprintf(format, args...), v.describe())
}

// Split returns two mappings: the fields whose keys are among names, and the others.
func (v *Value) Split(names []string) (among, others *Value) {
	a, b := *v, *v
	a.Fields, b.Fields = nil, nil
	for _, f := range v.Fields {
		if slices.Contains(names, f.Key.Text) {
			a.Fields = append(a.Fields, f)
		} else {
			b.Fields = append(b.Fields, f)
		}
	}
	return &a, &b
}

// Setting describes a setting.
type Setting struct {
	Name          string
	Default, Help string       // Default and Help are in words
	Values        []string     // the values that it can have, nil if they are no enumeration
	Range         string       // the range of a number in words, "" for the usual one
	Type          reflect.Type // that of the field

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
