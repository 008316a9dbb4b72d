package settings

import (
	"encoding"
	"fmt"
	"reflect"
)

// Encode returns the settings of a struct that differ from its zero value, as [Decode] reads them from
// [Of]: keys with booleans, numbers, texts and lists. A type with its own form must be an
// [encoding.TextMarshaler] or a [fmt.Stringer] whose text it reads.
func Encode(of any) map[string]any {
	v := reflect.Indirect(reflect.ValueOf(of))
	out := map[string]any{}
	for _, f := range settingsOf(v.Type()) {
		if held := v.FieldByIndex(f.Index); !held.IsZero() {
			out[f.name] = encode(held)
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
