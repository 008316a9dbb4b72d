package pipeline

import (
	"errors"
	"math"

	"github.com/seed4492f2cd/partwise/internal/settings"
)

// text returns the text of a scalar.
func text(v *settings.Value) (string, bool) { return v.Text, v.Kind == settings.KindText }

// keyOf returns the key of the name in a mapping, or the value itself.
func keyOf(v *settings.Value, name string) *settings.Value {
	if f := v.Get(name); f.Key != nil {
		return f.Key
	}
	return v
}

// fields calls set for each key of a mapping.
func fields(v *settings.Value, set func(key string, value *settings.Value) error) error {
	if v.Kind != settings.KindMapping {
		return v.Want("keys with values")
	}
	for _, f := range v.Fields {
		err := set(f.Key.Text, f.Value)
		var unknown unknownKey
		if errors.As(err, &unknown) {
			return settings.UnknownKey(f.Key, []string{string(unknown)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unknownKey is the error of the function that fields calls, for a key that there
// is not: a list of those that there are.
type unknownKey string

func (k unknownKey) Error() string { return "the keys are " + string(k) }

// positive reads a whole number of 1 or more.
func positive(v *settings.Value) (x int, err error) {
	err = settings.Decode(v, &x)
	return x, err
}

// above0 reads a number above 0.
func above0(v *settings.Value) (x float64, err error) {
	if settings.Decode(v, &x) != nil || !(x > 0 && x <= math.MaxFloat32) {
		return 0, v.Want("a number above 0")
	}
	return x, nil
}
