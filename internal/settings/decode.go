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

	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

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
		items := []*Value{v}
		if v.Kind == KindList {
			items = v.Items
		}
		to.SetZero()
		for _, item := range items {
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
			return v.Want("%s", cmp.Or(f.field.Tag.Get("want"), "a name"))
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
	var placed *Error
	if err == nil || errors.As(err, &placed) {
		return err
	}
	return v.Errorf("%v", err)
}

func decodeStruct(v *Value, to reflect.Value) error {
	fields := settingsOf(to.Type())
	if i := slices.IndexFunc(fields, func(f Setting) bool { return f.text }); i >= 0 && v.Kind == KindText {
		return decode(v, to.FieldByIndex(fields[i].field.Index), fields[i])
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
		member := to.FieldByIndex(fields[i].field.Index)
		if _, own := member.Addr().Interface().(Decoder); !own && member.Kind() == reflect.Struct {
			for _, inner := range settingsOf(member.Type()) {
				member.FieldByIndex(inner.field.Index).SetZero()
			}
		}
		if err := decode(one.Value, member, fields[i]); err != nil {
			return keyed(key, err)
		}
	}
	return nil
}

func keyed(key string, err error) error {
	var e *Error
	if errors.As(err, &e) {
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
	r := rangeOf(f.field.Tag.Get("range"), whole)
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

// numberRange is the range of a setting.
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
		if held := v.FieldByIndex(f.field.Index); !held.IsZero() {
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
