package table

import (
	"bytes"
	"strings"
	"testing"
)

// TestChosenDocument: what was chosen is in every format.
func TestChosenDocument(t *testing.T) {
	d := ChosenDocument("mine", "numbers of groups", []Chosen{{3, []int{3, 6}}, {10, []int{10}}}, true)
	for _, format := range Formats {
		var text bytes.Buffer
		if err := format.Write(&text, d, Options{}); err != nil {
			t.Fatal(err)
		}
		wants := []string{"4.5", "0.35", "3, 6", "0.00"}
		if format.Name != "CSV" {
			wants = append(wants, "Numbers of groups chosen")
		}
		for _, want := range wants {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s has no %q:\n%s", format.Name, want, text.String())
			}
		}
	}
	var text bytes.Buffer
	if err := HTML(&text, ChosenDocument("mine", "ranks", []Chosen{{3, []int{8}}}, false), Options{}); err != nil || strings.Contains(text.String(), "Off") {
		t.Errorf("%v: %s", err, text.String())
	}
}
