package phrase

import "testing"

func TestGuess(t *testing.T) {
	names := []string{"cf", "ccf", "nmf", "gnmf", "cnmf", "nmf-kl", "clusters", "Yale"}
	for name, want := range map[string]string{
		"nfm":      "; did you mean nmf?",
		"NMF-KI":   "; did you mean nmf-kl?",
		"nnmf":     "; did you mean cnmf, gnmf or nmf?",
		"cluster":  "; did you mean clusters?",
		"clu":      "; did you mean clusters?",
		"clsutres": "; did you mean clusters?",
		"yalle":    "; did you mean Yale?",
		"c":        "; did you mean cf?",
		"pca":      "",
		"":         "",
		"x":        "",
	} {
		if got := Guess(name, names); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"yale", "yale", 0}, {"yalle", "yale", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1}} {
		for range 2 {
			if got := distance(test.a, test.b); got != test.want {
				t.Errorf("%q and %q: got %d, want %d", test.a, test.b, got, test.want)
			}
			test.a, test.b = test.b, test.a
		}
	}
}
