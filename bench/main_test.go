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

// TestReplace: a table takes the place of the one before, and nothing else changes.
func TestReplace(t *testing.T) {
	const doc = "# Title\n<!-- bench a -->\nold\n<!-- end -->\ntext\n<!-- bench b -->\nother\n<!-- end -->\n"
	const want = "# Title\n<!-- bench a -->\nnew\n<!-- end -->\ntext\n<!-- bench b -->\nother\n<!-- end -->\n"
	if got, err := replace([]byte(doc), "a", "new\n"); err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := replace([]byte(doc), "c", "new\n"); err == nil {
		t.Errorf("a table that is not there makes %q", got)
	}
}
