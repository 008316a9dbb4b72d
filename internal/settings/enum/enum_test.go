package enum

import (
	"slices"
	"testing"
)

type colour int

var colours = Of[colour]("colour", "red", "green")

func TestNames(t *testing.T) {
	for i, name := range colours.Values() {
		v := colour(-1)
		if err := colours.UnmarshalText(&v, []byte(name)); err != nil || int(v) != i || colours.String(v) != name {
			t.Errorf("%s is read as %d, %v", name, v, err)
		}
		if text, err := colours.MarshalText(v); err != nil || string(text) != name {
			t.Errorf("%s is written as %s, %v", name, text, err)
		}
	}
	if got := colours.Values(); !slices.Equal(got, []string{"red", "green"}) {
		t.Errorf("the values are %q", got)
	}
}

func TestNamesRefuse(t *testing.T) {
	v := colour(1)
	err := colours.UnmarshalText(&v, []byte("blue"))
	if want := `unknown colour "blue" (choices: red, green)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if v != 1 {
		t.Errorf("a name that is refused sets %d", v)
	}
	for _, none := range []colour{-1, 2} {
		if text, err := colours.MarshalText(none); err == nil {
			t.Errorf("%d is written as %s", none, text)
		}
	}
	if got := colours.String(2); got != "colour(2)" {
		t.Errorf("got %s", got)
	}
}
