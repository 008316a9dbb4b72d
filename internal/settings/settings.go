// Package settings decodes settings into plain structs of other packages. Tags of a field define the name, default, range
// and help of its setting:
//
//	Step int `setting:"step" default:"8" range:"[1,4096]" help:"distance of patches, in pixels"`
//
// [Decode] decodes a document, a tree of [Value], and [List] lists the settings of a struct. The package does not
// depend on a file format.
package settings

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
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
	f, _ := lists.Find(v.Fields, func(f Field) bool { return f.Key.Text == key })
	return f
}

// List returns the items of a list, or the value itself.
func (v *Value) List() []*Value {
	if v.Kind == KindList {
		return v.Items
	}
	return []*Value{v}
}

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
	if placed, ok := errors.AsType[*Error](err); ok && placed.Line > 0 {
		return fmt.Errorf("%s:%w", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

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

// Setting describes a setting. Its JSON form is for other programs.
type Setting struct {
	Name    string       `json:"name"`
	Kind    string       `json:"type"` // choice, bool, integer, number or text
	Type    reflect.Type `json:"-"`    // type of the field
	Default string       `json:"default,omitempty"`
	Range   string       `json:"range,omitempty"`   // description of the range, or "" if it has no range tag
	Values  []string     `json:"choices,omitempty"` // possible values of an enumeration, or nil
	Help    string       `json:"help"`

	tag   reflect.StructTag
	index []int // of the field
	text  bool  // a scalar instead of the mapping sets this setting
}

var kinds = map[reflect.Kind]string{reflect.Bool: "bool", reflect.Int: "integer", reflect.Float64: "number"}

// List returns the settings of a struct and its embedded structs in the order of fields. The default of a field without a
// default tag is its value in of.
func List(of any) []Setting {
	v := reflect.Indirect(reflect.ValueOf(of))
	out := slices.Clone(settingsOf(v.Type()))
	for i := range out {
		s, held := &out[i], v.FieldByIndex(out[i].index)
		if s.Default == "" && (!held.IsZero() || held.CanInt() || held.CanFloat() || held.Kind() == reflect.Bool) {
			s.Default = fmt.Sprint(held.Interface())
		}
	}
	return out
}

// Names returns the names of the settings of a struct.
func Names(of any) []string {
	return lists.Map(settingsOf(reflect.Indirect(reflect.ValueOf(of)).Type()), func(s Setting) string { return s.Name })
}

var byType sync.Map // results of settingsOf

// settingsOf returns the settings of a struct type, with defaults from tags.
func settingsOf(t reflect.Type) (out []Setting) {
	if known, ok := byType.Load(t); ok {
		return known.([]Setting)
	}
	for _, f := range reflect.VisibleFields(t) {
		name, option, _ := strings.Cut(f.Tag.Get("setting"), ",")
		if name == "" {
			continue
		}
		s := Setting{Name: name, Default: f.Tag.Get("default"), Help: f.Tag.Get("help"), Type: f.Type, tag: f.Tag, index: f.Index, text: option == "text"}
		s.Kind = cmp.Or(kinds[f.Type.Kind()], "text")
		if tag := f.Tag.Get("range"); tag != "" {
			s.Range = rangeOf(tag, f.Type.Kind() == reflect.Int || f.Type == reflect.TypeFor[[]int]()).String()
		}
		if enum, ok := reflect.New(f.Type).Interface().(interface{ Values() []string }); ok {
			s.Values = enum.Values()
		}
		if list := f.Tag.Get("values"); list != "" {
			s.Values = strings.Split(list, ",")
		}
		if s.Values != nil {
			s.Kind = "choice"
		}
		out = append(out, s)
	}
	byType.Store(t, out)
	return out
}

// None means 0 in a field whose zero value means its default.
const None = -1

// Decoder decodes a setting with its own syntax.
type Decoder interface{ DecodeSetting(*Value) error }

// Decode decodes a value into the variable that to points to, which is one of:
//
//   - a [Decoder] or an [encoding.TextUnmarshaler],
//   - a bool, a string, a number, or a pointer to one of these,
//   - a slice, from a list or a single value,
//   - a struct with tags, from a mapping, or from a scalar if a field has the tag
//     `setting:"name,text"`, which then gets the scalar.
//
// A number must be in the range of its range tag, such as "[0,1)" or "(0,]". A missing bound is 0 or the largest
// number, 1e6 for an int and 1e100 for a float64. Without a tag the range is "[1,]" for an int and "[0,]" for a
// float64. An explicit 0 is decoded to [None] if the field has a default tag. A string must not be empty, and must be
// one of the values tag if there is one; a want tag describes it in messages.
//
// Decode changes only the settings of a struct that are in the mapping, but all settings of a nested struct. A null value
// counts as missing. Errors are of type *[Error].
func Decode(v *Value, to any) error {
	return decode(v, reflect.ValueOf(to).Elem(), Setting{})
}

// DecodeFields is Decode by the tags of a struct, which may itself be a [Decoder].
func DecodeFields(v *Value, to any) error { return decodeStruct(v, reflect.ValueOf(to).Elem()) }

// New decodes into a copy of the struct in the interface value defaults.
func New[T any](v *Value, defaults T) (T, error) {
	to := reflect.New(reflect.TypeOf(defaults))
	to.Elem().Set(reflect.ValueOf(defaults))
	err := Decode(v, to.Interface())
	return to.Elem().Interface().(T), err
}

func decode(v *Value, to reflect.Value, f Setting) error {
	switch own := to.Addr().Interface().(type) {
	case Decoder:
		return withPosition(v, own.DecodeSetting(v))
	case encoding.TextUnmarshaler:
		if v.Kind != KindText {
			return v.Want("a name")
		}
		return withPosition(v, own.UnmarshalText([]byte(v.Text)))
	}
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return decode(v, to.Elem(), f)
	case reflect.Struct:
		return decodeStruct(v, to)
	case reflect.Slice:
		to.SetZero()
		for _, item := range v.List() {
			one := reflect.New(to.Type().Elem()).Elem()
			if err := decode(item, one, f); err != nil {
				return err
			}
			to.Set(reflect.Append(to, one))
		}
	case reflect.Bool:
		b, ok := v.Data.(bool)
		if !ok {
			return v.Want("true or false")
		}
		to.SetBool(b)
	case reflect.String:
		text := enum.Fold(v.Text, f.Values)
		if len(f.Values) > 0 && !slices.Contains(f.Values, text) {
			return v.Want("%s", strings.Join(f.Values, " or "))
		}
		if v.Kind != KindText || v.Text == "" {
			return v.Want("%s", cmp.Or(f.tag.Get("want"), "a name"))
		}
		to.SetString(text)
	case reflect.Uint64:
		x, err := strconv.ParseUint(v.Text, 10, 64)
		if err != nil {
			return v.Want("a whole number of 0 or more")
		}
		to.SetUint(x)
	case reflect.Int, reflect.Float64:
		return decodeNumber(v, to, f)
	default:
		panic(fmt.Sprintf("settings: a %s has no form in a document", to.Type()))
	}
	return nil
}

// withPosition adds the position of v to an error that has none.
func withPosition(v *Value, err error) error {
	if _, placed := errors.AsType[*Error](err); placed || err == nil {
		return err
	}
	return v.Errorf("%v", err)
}

func decodeStruct(v *Value, to reflect.Value) error {
	fields := settingsOf(to.Type())
	if i := slices.IndexFunc(fields, func(f Setting) bool { return f.text }); i >= 0 && v.Kind == KindText {
		return decode(v, to.FieldByIndex(fields[i].index), fields[i])
	}
	if v.Kind != KindMapping {
		return v.Want("keys with values")
	}
	seen := map[string]bool{}
	for _, one := range v.Fields {
		key := one.Key.Text
		i := slices.IndexFunc(fields, func(f Setting) bool { return f.Name == key })
		if i < 0 {
			return UnknownKey(one.Key, Names(to.Interface()))
		}
		if seen[key] {
			return keyed(key, one.Key.Errorf("duplicate key %q", key))
		}
		seen[key] = true
		if one.Value.Kind == KindNull {
			continue
		}
		member := to.FieldByIndex(fields[i].index)
		if _, own := member.Addr().Interface().(Decoder); !own && member.Kind() == reflect.Struct {
			for _, inner := range settingsOf(member.Type()) {
				member.FieldByIndex(inner.index).SetZero()
			}
		}
		if err := decode(one.Value, member, fields[i]); err != nil {
			return keyed(key, err)
		}
	}
	return nil
}

func keyed(key string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Key = key
	}
	return err
}

// UnknownKey returns an error for an unknown key that lists the known keys.
func UnknownKey(key *Value, known []string) error {
	return keyed(key.Text, key.Errorf("unknown key %q%s", key.Text, phrase.Choices(key.Text, known)))
}

// The largest values of numbers without a bound.
const (
	maxInt   = 1e6
	maxFloat = 1e100
)

func decodeNumber(v *Value, to reflect.Value, f Setting) error {
	whole := to.Kind() == reflect.Int
	r := rangeOf(f.tag.Get("range"), whole)
	x, err := strconv.ParseFloat(v.Text, 64)
	within := x >= r.least && x <= r.most && !(r.noLeast && x == r.least) && !(r.noMost && x == r.most)
	if err != nil || v.Kind != KindText || !within || whole && x != math.Trunc(x) {
		return v.Want("%s", r)
	}
	if x == 0 && f.Default != "" {
		x = None
	}
	if whole {
		to.SetInt(int64(x))
	} else {
		to.SetFloat(x)
	}
	return nil
}

type numberRange struct {
	whole           bool
	least, most     float64
	noLeast, noMost bool // the bound is exclusive
	unbounded       bool // the upper bound is maxInt or maxFloat
}

func rangeOf(tag string, whole bool) numberRange {
	r := numberRange{whole: whole, most: maxFloat, unbounded: true}
	if whole {
		r.least, r.most = 1, maxInt
	}
	if tag == "" {
		return r
	}
	least, most, ok := strings.Cut(tag[1:len(tag)-1], ",")
	r.least, r.noLeast, r.noMost = 0, tag[0] == '(', tag[len(tag)-1] == ')'
	var err1, err2 error
	if least != "" {
		r.least, err1 = strconv.ParseFloat(least, 64)
	}
	if most != "" {
		r.most, err2 = strconv.ParseFloat(most, 64)
		r.unbounded = false
	}
	if !ok || err1 != nil || err2 != nil {
		panic("settings: " + tag + " is not a range")
	}
	return r
}

// String returns a description of the range.
func (r numberRange) String() string {
	switch {
	case r.whole:
		return fmt.Sprintf("a whole number from %.0f to %.0f", r.least, r.most)
	case r.noLeast && r.unbounded:
		return fmt.Sprintf("a number above %g", r.least)
	}
	from, to := "from", "to"
	if r.noLeast {
		from, to = "above", "up to"
	}
	if r.noMost {
		to = "to less than"
	}
	return fmt.Sprintf("a number %s %g %s %g", from, r.least, to, r.most)
}

// Encode returns the settings of a struct that are not zero as a map of booleans, numbers, strings and lists, which
// [Decode] reads from [Of]. A type with its own syntax must implement [encoding.TextMarshaler] or [fmt.Stringer] with
// the text that it decodes.
func Encode(of any) map[string]any {
	v := reflect.Indirect(reflect.ValueOf(of))
	out := map[string]any{}
	for _, f := range settingsOf(v.Type()) {
		if held := v.FieldByIndex(f.index); !held.IsZero() {
			out[f.Name] = encode(held)
		}
	}
	return out
}

func encode(v reflect.Value) any {
	switch own := v.Interface().(type) {
	case encoding.TextMarshaler:
		if text, err := own.MarshalText(); err == nil {
			return string(text)
		}
	case fmt.Stringer:
		return own.String()
	}
	switch {
	case v.CanInt() && v.Int() == None, v.CanFloat() && v.Float() == None:
		return 0
	case v.Kind() == reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = encode(v.Index(i))
		}
		return list
	case v.Kind() == reflect.Struct:
		return Encode(v.Interface())
	case v.CanInt():
		return int(v.Int())
	}
	return v.Interface()
}
