package settings

import (
	"encoding"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// Schema is a JSON Schema, draft 2020-12.
type Schema = map[string]any

// SchemaOf returns the schema of a mapping with the settings in list. forms are the schemas of types with a syntax of their
// own.
func SchemaOf(list []Setting, forms map[reflect.Type]Schema) Schema {
	properties := Schema{}
	for _, s := range list {
		of := maps.Clone(s.schema(s.Type, forms))
		if of["description"] = s.Help; s.Default != "" {
			of["description"] = s.Help + " (default " + s.Default + ")"
		}
		properties[s.Name] = of
	}
	return Schema{"type": "object", "properties": properties, "additionalProperties": false}
}

// AnyOf returns the schema of values of any of several schemas.
func AnyOf(all ...Schema) Schema { return Schema{"anyOf": all} }

// OneOrList returns the schema of a value or a list of values.
func OneOrList(of Schema) Schema {
	return AnyOf(of, Schema{"type": "array", "items": of, "minItems": 1})
}

// schema returns the schema of a value of type t, which is the type of the setting or of its elements.
func (s Setting) schema(t reflect.Type, forms map[reflect.Type]Schema) Schema {
	scalar := Schema{"type": []string{"string", "number"}} // a text may look like a number
	_, isText := reflect.New(t).Interface().(encoding.TextUnmarshaler)
	form, hasForm := forms[t]
	switch kind := t.Kind(); {
	case hasForm:
		return form
	case s.Values != nil:
		return Schema{"enum": s.Values}
	case isText:
		return scalar
	case kind == reflect.Pointer:
		return s.schema(t.Elem(), forms)
	case kind == reflect.Slice:
		return OneOrList(s.schema(t.Elem(), forms))
	case kind == reflect.Struct:
		list := settingsOf(t)
		whole := SchemaOf(list, forms)
		if i := slices.IndexFunc(list, func(s Setting) bool { return s.text }); i >= 0 {
			return AnyOf(list[i].schema(list[i].Type, forms), whole)
		}
		return whole
	case kind == reflect.Bool:
		return Schema{"type": "boolean"}
	case kind == reflect.Uint64:
		return Schema{"type": "integer", "minimum": 0}
	case kind == reflect.Int || kind == reflect.Float64:
		return rangeOf(s.tag.Get("range"), kind == reflect.Int).schema(s.Default)
	}
	return scalar
}

// schema returns the schema of a number with a default in words.
func (r numberRange) schema(standard string) Schema {
	out := Schema{"type": "number", "minimum": r.least, "maximum": r.most}
	if r.whole {
		out["type"] = "integer"
	}
	for key, excludes := range map[string]bool{"minimum": r.noLeast, "maximum": r.noMost} {
		if excludes {
			out["exclusiveM"+key[1:]] = out[key]
			delete(out, key)
		}
	}
	if x, err := strconv.ParseFloat(standard, 64); err == nil {
		out["default"] = x
	}
	return out
}
