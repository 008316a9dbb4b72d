package phrase

import "testing"

func TestPhrases(t *testing.T) {
	for got, want := range map[string]string{
		Count(1, "class", "classes"):  "1 class",
		Count(0, "class", "classes"):  "0 classes",
		List(nil):                     "",
		List([]string{"a"}):           "a",
		List([]string{"a", "b"}):      "a and b",
		List([]string{"a", "b", "c"}): "a, b and c",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
