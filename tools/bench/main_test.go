package main

import (
	"slices"
	"strings"
	"testing"
)

// TestChoose: rows are handed on by --only, and a comparison named without rows has all.
func TestChoose(t *testing.T) {
	for only, want := range map[string]string{
		"sift":                          "sift",
		"kmeans/coil,fast,kmeans/codes": "kmeans coil,codes; fast",
		"fast/orl,fast":                 "fast",
		"minibatch/kl-10,fastkl/coil":   "minibatch kl-10; fastkl coil",
	} {
		chosen, err := choose(only)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range chosen {
			if at := slices.Index(c.command, "--only"); at >= 0 {
				c.name += " " + c.command[at+1]
			}
			got = append(got, c.name)
		}
		if got := strings.Join(got, "; "); got != want {
			t.Errorf("%s chooses %s, want %s", only, got, want)
		}
	}
	for _, only := range []string{"none", "fast/none", "sift/dense", "fast/"} {
		if _, err := choose(only); err == nil {
			t.Errorf("%q chooses something", only)
		}
	}
}
