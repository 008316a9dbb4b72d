package factor

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// setParam sets a field of a method from a value as settings hold it. Where the
// field's zero value stands for a default, a 0 that somebody wrote becomes None.
func setParam(field reflect.Value, hasDefault bool, value any) error {
	if text, ok := field.Addr().Interface().(encoding.TextUnmarshaler); ok {
		s, ok := value.(string)
		if !ok {
			return fmt.Errorf("%v is not a name", value)
		}
		return text.UnmarshalText([]byte(s))
	}
	switch field.Kind() {
	case reflect.Bool:
		b, ok := value.(bool)
		if !ok {
			return fmt.Errorf("%v is neither true nor false", value)
		}
		field.SetBool(b)
	case reflect.Int:
		x, err := number(value)
		if err != nil {
			return err
		}
		if x != math.Trunc(x) || x < 1 || x > math.MaxInt32 {
			return fmt.Errorf("%v is not a whole number from 1 to %d", value, math.MaxInt32)
		}
		field.SetInt(int64(x))
	case reflect.Float64:
		x, err := number(value)
		if err != nil {
			return err
		}
		if !(x >= 0 && x <= largestNumber) {
			return fmt.Errorf("%v is not a number from 0 to %g", value, largestNumber)
		}
		if x == 0 && hasDefault {
			x = None
		}
		field.SetFloat(x)
	default:
		return fmt.Errorf("a %s cannot be set", field.Kind())
	}
	return nil
}

func number(value any) (float64, error) {
	v := reflect.ValueOf(value)
	switch {
	case v.IsValid() && v.Kind() == reflect.String: // YAML takes 1e6 for one
		if x, err := strconv.ParseFloat(v.String(), 64); err == nil {
			return x, nil
		}
	case v.IsValid() && v.CanInt():
		return float64(v.Int()), nil
	case v.IsValid() && v.CanUint():
		return float64(v.Uint()), nil
	case v.IsValid() && v.CanFloat():
		return v.Float(), nil
	}
	return 0, fmt.Errorf("%v is not a number", value)
}
