package jsontext

import (
	"encoding/json"
	"math"
	"testing"
)

type colour int

func (c colour) String() string { return []string{"red", "blue"}[c] }

type inner struct{ OnlyA, URLs []string }

type outer struct {
	*inner
	HasInterval bool
	SHA256      string           `json:",omitempty"`
	Low         float64          `json:"lowest"`
	Means       map[string]any   `json:"meansOf"`
	Colour      colour           `json:"colour"`
	Call        func()           `json:"call"`
	Left        string           `json:"-"`
	Nested      []map[string]int `json:"nested,omitempty"`
	hidden      int
}

func TestOf(t *testing.T) {
	got := string(Of(&outer{inner: &inner{OnlyA: []string{"é<"}}, Low: math.NaN(), Colour: 1, Means: map[string]any{"b": math.Inf(1), "a": 0.5}, hidden: 1}))
	want := `{"only_a":["é\u003c"],"urls":[],"has_interval":false,"lowest":null,"means_of":{"a":0.5,"b":null},"colour":"blue"}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, empty := range []any{nil, outer{}, []int(nil), map[string]int{}, struct{}{}} {
		if text := Of(empty); !json.Valid(text) {
			t.Errorf("%#v gives %s", empty, text)
		}
	}
}
