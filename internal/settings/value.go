// Package settings decodes settings into plain structs of other packages. Tags of a field define the name, default, range
// and help of its setting:
//
//	Step int `setting:"step" default:"8" range:"[1,4096]" help:"distance of patches, in pixels"`
//
// [Decode] decodes a document, a tree of [Value], and [List] lists the settings of a struct. The package does not
// depend on a file format.
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

// Kinds of values. A text is a scalar of any type.
const (
	KindNull Kind = iota
	KindText
	KindList
	KindMapping
)

// Value is a part of a document.
type Value struct {
	Kind Kind
	// Text is the text of a scalar without quotes, and Data its value as a bool, an integer, a float64 or a string.
	Text         string
	Data         any
	Items        []*Value // values of a list
	Fields       []Field  // fields of a mapping, in document order
	Line, Column int      // position, counted from 1; 0 without a document
}

// Field is a key of a mapping with its value.
type Field struct{ Key, Value *Value }

// Of returns the Value of a scalar, a slice or a map with string keys.
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

// Get returns the field with the given key, or the zero Field if there is none.
func (v *Value) Get(key string) Field {
	for _, f := range v.Fields {
		if f.Key.Text == key {
			return f
		}
	}
	return Field{}
}

// describe returns the value for a message.
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

// Error is an invalid setting.
type Error struct {
	Line, Column int    // position of the value or key, 0 without a document
	Key          string // key of the setting in the outermost mapping, or "" if unknown
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

// maxMessage is the largest length of a message, in characters.
const maxMessage = 1000

// Errorf returns an *Error at the position of the value.
func (v *Value) Errorf(format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if runes := []rune(message); len(runes) > maxMessage {
		message = string(runes[:maxMessage]) + "…" // the message quotes a long value
	}
	return &Error{Line: v.Line, Column: v.Column, Message: message}
}

// Want returns an error with the expected and the actual value.
func (v *Value) Want(format string, args ...any) error {
	return v.Errorf("expected %s, got %s", fmt.Sprintf(format, args...), v.describe())
}

// Split returns two mappings: the fields with keys in names, and the others.
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
	Default, Help string       // descriptions of the default and of the setting
	Values        []string     // possible values of an enumeration, or nil
	Range         string       // description of the range, or "" if it has no range tag
	Type          reflect.Type // type of the field

	field reflect.StructField
	text  bool // a scalar instead of the mapping sets this setting
}

// List returns the settings of a struct and its embedded structs in the order of fields. The default of a field without a
// default tag is its value in of.
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

// settingsCache caches the settings of struct types.
var settingsCache sync.Map

// settingsOf returns the settings of a struct type, with defaults from tags.
func settingsOf(t reflect.Type) []Setting {
	if out, ok := settingsCache.Load(t); ok {
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
	settingsCache.Store(t, slices.Clip(out))
	return out
}
