package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

type shape int

var shapes = enum.Of[shape]("shape", "round", "flat")

func (s shape) String() string                { return shapes.String(s) }
func (s *shape) UnmarshalText(b []byte) error { return shapes.UnmarshalText(s, b) }
func (shape) Values() []string                { return shapes.Values() }

// side has its own text form: two letters.
type side struct{ from, to byte }

func (s *side) DecodeSetting(v *Value) error {
	if len(v.Text) != 2 {
		return errors.New("expected two letters")
	}
	s.from, s.to = v.Text[0], v.Text[1]
	return nil
}

type inner struct {
	Count  int      `setting:"count,text" default:"5" help:"how many"`
	Weight *float64 `setting:"weight" range:"(0,1]"`
	Kept   int
}

type base struct {
	Shape shape `setting:"shape" help:"outline of the thing"`
}

type outer struct {
	base
	Lambda float64   `setting:"lambda" default:"100" help:"weight λ"`
	Mu     float64   `setting:"mu" range:"[0,1)"`
	From   string    `setting:"from" values:"raw,mat"`
	Flat   bool      `setting:"flat"`
	Bins   []int     `setting:"bins" default:"4" range:"[1,64]"`
	Zero   int       `setting:"zero" range:"[0,9]"`
	Side   side      `setting:"side"`
	Inner  inner     `setting:"inner"`
	Scale  []float64 `setting:"scale" range:"(0,]"`
	File   string    `setting:"file" want:"the name of a file"`
	Other  string
}

func TestDecode(t *testing.T) {
	half := 0.5
	got := outer{Mu: 0.25, Other: "kept", Inner: inner{Count: 7, Kept: 3}}
	if err := Decode(Of(map[string]any{
		"shape": "flat", "lambda": 0, "from": "mat", "flat": true, "bins": []any{2, "4"}, "zero": 0, "side": "ab",
		"inner": map[string]any{"weight": half}, "scale": "1e-3", "mu": nil,
	}), &got); err != nil {
		t.Fatal(err)
	}
	want := outer{base: base{Shape: 1}, Lambda: None, Mu: 0.25, From: "mat", Flat: true, Bins: []int{2, 4}, Side: side{'a', 'b'},
		Inner: inner{Weight: &half, Kept: 3}, Scale: []float64{1e-3}, Other: "kept"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outer{}, side{})); diff != "" {
		t.Error(diff)
	}
	if err := Decode(Of(map[string]any{"inner": 9}), &got); err != nil || got.Inner != (inner{Count: 9, Kept: 3}) {
		t.Errorf("a text instead of a mapping gives %+v, %v", got.Inner, err)
	}
}

// TestDecodeRefuses checks that each error gives the position of its value or key.
func TestDecodeRefuses(t *testing.T) {
	for _, test := range []struct {
		key  string
		x    any
		want string
	}{
		{"lamda", 1, `3:1: unknown key "lamda"; did you mean lambda?`},
		{"shape", "thin", `3:9: unknown shape "thin" (choices: round, flat)`},
		{"shape", []any{"flat"}, `3:9: expected a name, got a list`},
		{"lambda", -3, `3:9: expected a number from 0 to 1e+100, got -3`},
		{"lambda", "x", `3:9: expected a number from 0 to 1e+100, got "x"`},
		{"lambda", "NaN", `3:9: expected a number from 0 to 1e+100, got "NaN"`},
		{"lambda", true, `3:9: expected a number from 0 to 1e+100, got true`},
		{"mu", 1, `3:9: expected a number from 0 to less than 1, got 1`},
		{"scale", []any{1, 0}, `3:9: expected a number above 0, got 0`},
		{"from", "web", `3:9: expected raw or mat, got "web"`},
		{"file", "", `3:9: expected the name of a file, got ""`},
		{"flat", "yes", `3:9: expected true or false, got "yes"`},
		{"bins", 65, `3:9: expected a whole number from 1 to 64, got 65`},
		{"zero", 1.5, `3:9: expected a whole number from 0 to 9, got 1.5`},
		{"side", "abc", `3:9: expected two letters`},
		{"inner", []any{}, `3:9: expected keys with values, got a list`},
		{"inner", 0, `3:9: expected a whole number from 1 to 1000000, got 0`},
		{"inner", map[string]any{"weight": 0}, `3:9: expected a number above 0 up to 1, got 0`},
		{"from", strings.Repeat("ä", 2000), `3:9: expected raw or mat, got "` + strings.Repeat("ä", maxMessage-len(`expected raw or mat, got "`)) + "…"},
	} {
		v := Of(map[string]any{test.key: test.x})
		v.Fields[0].Key.Line, v.Fields[0].Key.Column = 3, 1
		place(v.Fields[0].Value, 3, 9)
		err := Decode(v, &outer{})
		var placed *Error
		if !errors.As(err, &placed) || err.Error() != test.want || placed.Key != test.key {
			t.Errorf("%s: %v gives\n%v\nwant\n%s", test.key, test.x, err, test.want)
		}
	}
	twice := Of(map[string]any{"mu": 0})
	twice.Fields = append(twice.Fields, twice.Fields...)
	if err := Decode(twice, &outer{}); err == nil || err.Error() != `duplicate key "mu"` {
		t.Errorf("a key that stands twice gives %v", err)
	}
}

func place(v *Value, line, column int) {
	v.Line, v.Column = line, column
	for _, item := range v.Items {
		place(item, line, column)
	}
	for _, f := range v.Fields {
		place(f.Value, line, column)
	}
}

func TestList(t *testing.T) {
	var got []string
	for _, s := range List(outer{Mu: 0.5}) {
		got = append(got, fmt.Sprintf("%s|%s|%s|%s|%s", s.Name, s.Default, s.Help, strings.Join(s.Values, " "), s.Range))
	}
	want := []string{"shape|round|outline of the thing|round flat|", "lambda|100|weight λ||", "mu|0.5|||a number from 0 to less than 1", "from|||raw mat|", "flat|false|||", "bins|4|||a whole number from 1 to 64",
		"zero|0|||a whole number from 0 to 9", "side||||", "inner||||", "scale||||a number above 0", "file||||"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if names := Names(&inner{}); !slices.Equal(names, []string{"count", "weight"}) {
		t.Errorf("the names are %q", names)
	}
}

// FuzzDecode: no document panics, and decoded values are in their ranges.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{"lambda=0", "mu=0.5", "bins=[1 2]", "inner={count=3 weight=0.1}", "inner=3", "shape=flat", "side=ab", "from=raw", "flat=true", "scale=[1e-3 inf]", "zero=~ mu=nan"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest := text
		v := &Value{Kind: KindMapping, Fields: readFields(&rest, 0)}
		var got outer
		if err := Decode(v, &got); err != nil {
			var placed *Error
			if !errors.As(err, &placed) || placed.Message == "" {
				t.Fatalf("the error is %#v", err)
			}
			return
		}
		weight := 1.
		if got.Inner.Weight != nil {
			weight = *got.Inner.Weight
		}
		if !(got.Lambda >= 0 && got.Lambda <= 1e100 || got.Lambda == None) || !(got.Mu >= 0 && got.Mu < 1) || !(weight > 0 && weight <= 1) ||
			got.Zero < 0 || got.Zero > 9 || got.Inner.Count < 0 || got.Inner.Count > 1e6 || got.Shape < 0 || got.Shape > 1 ||
			slices.ContainsFunc(got.Bins, func(b int) bool { return b < 1 || b > 64 }) {
			t.Fatalf("%q is read as %+v", text, got)
		}
	})
}

// readFields reads "key=value key=value", where a value is a scalar, a list in brackets or
// a mapping in braces.
func readFields(text *string, depth int) (out []Field) {
	for {
		*text = strings.TrimLeft(*text, " ")
		if *text == "" || (*text)[0] == '}' {
			*text = strings.TrimPrefix(*text, "}")
			return out
		}
		end := strings.IndexAny(*text, "= }")
		if end < 0 {
			end = len(*text)
		}
		key := (*text)[:end]
		*text = strings.TrimPrefix((*text)[end:], "=")
		out = append(out, Field{Of(key), readValue(text, depth+1)})
	}
}

func readValue(text *string, depth int) *Value {
	s := *text
	switch {
	case strings.HasPrefix(s, "{") && depth < 9:
		*text = s[1:]
		return &Value{Kind: KindMapping, Fields: readFields(text, depth)}
	case strings.HasPrefix(s, "[") && depth < 9:
		out := &Value{Kind: KindList}
		*text = s[1:]
		for *text != "" && (*text)[0] != ']' {
			out.Items = append(out.Items, readValue(text, depth+1))
			*text = strings.TrimLeft(*text, " ")
		}
		*text = strings.TrimPrefix(*text, "]")
		return out
	}
	end := strings.IndexAny(s[min(1, len(s)):], " ]}") + min(1, len(s))
	if end < min(1, len(s)) || end == 0 {
		end = len(s)
	}
	scalar := s[:end]
	*text = s[end:]
	switch scalar {
	case "~":
		return &Value{}
	case "true", "false":
		return &Value{Kind: KindText, Text: scalar, Data: scalar == "true"}
	}
	return Of(scalar)
}
