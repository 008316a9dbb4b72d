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
		Numbers([]int{5}):             "5",
		Numbers([]int{5, 6}):          "5 and 6",
		Numbers([]int{2, 3, 4}):       "2 to 4",
		Numbers([]int{2, 5, 10}):      "2, 5 and 10",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
