// Package jsontext writes Go values as JSON for other programs: names in snake_case, and null for NaN and infinite
// numbers.
package jsontext

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Of returns the JSON text of a value. Fields and tags are as in encoding/json, but names are in snake_case, a nil slice or
// map is empty, a number that is not finite is null, and an integer with a String method is a string.
func Of(v any) []byte { return appendValue(nil, reflect.ValueOf(v)) }

func appendValue(out []byte, v reflect.Value) []byte {
	isPointer := v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface
	if !v.IsValid() || isPointer && v.IsNil() || v.CanFloat() && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)) {
		return append(out, "null"...)
	}
	switch own := v.Interface().(type) {
	case json.Marshaler, encoding.TextMarshaler:
		return appendJSON(out, own)
	case fmt.Stringer:
		if v.CanInt() || v.CanUint() {
			return appendJSON(out, own.String())
		}
	}
	switch {
	case isPointer:
		return appendValue(out, v.Elem())
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		out = append(out, '[')
		for i := range v.Len() {
			out = append(appendValue(out, v.Index(i)), ',')
		}
		return closed(out, ']')
	case v.Kind() == reflect.Map:
		out = append(out, '{')
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			out = append(appendValue(append(appendJSON(out, key.String()), ':'), v.MapIndex(key)), ',')
		}
		return closed(out, '}')
	case v.Kind() == reflect.Struct:
		return closed(appendFields(append(out, '{'), v), '}')
	}
	return appendJSON(out, v.Interface())
}

// closed replaces a comma at the end by a bracket.
func closed(out []byte, bracket byte) []byte {
	if n := len(out) - 1; out[n] == ',' {
		out = out[:n]
	}
	return append(out, bracket)
}

func appendJSON(out []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return append(out, "null"...) // not a value of JSON, such as a function
	}
	return append(out, text...)
}

func appendFields(out []byte, v reflect.Value) []byte {
	for i := range v.NumField() {
		f, value := v.Type().Field(i), v.Field(i)
		name, omits := NameOf(f)
		switch {
		case name == "" || omits && (value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0):
		case name == inline:
			if value = reflect.Indirect(value); value.IsValid() {
				out = appendFields(out, value)
			}
		default:
			out = append(appendValue(append(appendJSON(out, name), ':'), value), ',')
		}
	}
	return out
}

const inline = "." // the name of an embedded struct, whose fields belong to the outer object

// NameOf returns the name of a field in JSON, "" for none, and whether a zero value is left out.
func NameOf(f reflect.StructField) (name string, omits bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	kind := f.Type.Kind()
	if kind == reflect.Pointer {
		kind = f.Type.Elem().Kind()
	}
	switch {
	case f.Anonymous && name == "" && kind == reflect.Struct:
		return inline, false
	case !f.IsExported() || name == "-" || kind == reflect.Func:
		return "", false
	case name == "":
		name = f.Name
	}
	return snake(name), strings.HasPrefix(options, "omit")
}

// SchemaOf returns the JSON Schema of values of type t in the form of Of. The help tag of a field describes it.
func SchemaOf(t reflect.Type) map[string]any {
	marshals, textual := t.Implements(reflect.TypeFor[json.Marshaler]()), t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
	named := t.Implements(reflect.TypeFor[fmt.Stringer]()) && t.Kind() < reflect.Float32
	switch kind := t.Kind(); {
	case kind == reflect.Pointer:
		return SchemaOf(t.Elem())
	case kind == reflect.String || !marshals && (textual || named):
		return map[string]any{"type": "string"}
	case marshals || kind == reflect.Interface:
		return map[string]any{}
	case kind == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case kind < reflect.Float32:
		return map[string]any{"type": "integer"}
	case kind == reflect.Float32 || kind == reflect.Float64:
		return map[string]any{"type": []string{"number", "null"}}
	case kind == reflect.Slice || kind == reflect.Array:
		return map[string]any{"type": "array", "items": SchemaOf(t.Elem())}
	case kind == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": SchemaOf(t.Elem())}
	}
	properties, required := map[string]any{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, omits := NameOf(f)
		if name == "" || name == inline {
			continue
		}
		of := SchemaOf(f.Type)
		if help := f.Tag.Get("help"); help != "" {
			of["description"] = help
		}
		if properties[name] = of; !omits && f.Type.Kind() != reflect.Pointer {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

// snake returns a name such as PaperDraws or SHA256 as paper_draws or sha256.
func snake(name string) string {
	var out []rune
	all := []rune(name)
	for i, r := range all {
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(all[i-1]) || i+2 < len(all) && unicode.IsLower(all[i+1]) && unicode.IsLower(all[i+2])) {
			out = append(out, '_')
		}
		out = append(out, unicode.ToLower(r))
	}
	return string(out)
}
