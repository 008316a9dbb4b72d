package columns

import (
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
)

// TestTable checks that tables fit terminals of any width without losing a word.
func TestTable(t *testing.T) {
	l := Table{Header: []string{"set", "samples", "what", "needs", "where"}, Limits: []int{0, 0, 40}}
	l.Row("On the features as they are")
	l.Row(" yale", 165, "grey faces of 15 people under 11 lights and expressions: 32×32 (mat) or 320×243 (raw)", "", "/somewhere/in/the/depths/of/a/disk/Yale_32x32.mat")
	l.Row(" orl", 4000, "猫 and more", "", "not here")
	want := func(room int) string {
		seen := l.Text(room)
		for line := range strings.Lines(seen) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimRight(line, "\n")); room > 0 && n > room {
				t.Errorf("room for %d: %d letters: %s", room, n, line)
			}
		}
		letters := strings.Join(strings.Fields(seen), "")
		if room >= 70 { // in narrower rooms, the words of different columns are mixed
			letters = ""
			for line := range strings.Lines(seen) {
				letters += strings.TrimSpace(line)
			}
		}
		for _, word := range []string{"yale", "165", "4000", "猫"} {
			if !strings.Contains(letters, word) {
				t.Errorf("room for %d: no %s in\n%s", room, word, seen)
			}
		}
		if strings.Contains(seen, "needs") {
			t.Errorf("room for %d: an empty column is shown:\n%s", room, seen)
		}
		return seen
	}
	for _, room := range []int{24, 30, 40, 60, 80, 120, 0} {
		want(room)
	}
	const wide = ` set    samples  what                                      where

 On the features as they are
  yale      165  grey faces of 15 people under 11 lights   /somewhere/in/the/depths/of/a/disk/Yale_32x32.mat
                 and expressions: 32×32 (mat) or 320×243
                 (raw)
  orl      4000  猫 and more                               not here
`
	if got := want(0); got != wide {
		t.Errorf("got\n%s\nwant\n%s", got, wide)
	}
	const narrow = `
On the features as they are

yale
  samples: 165
  what: grey faces of 15 people under 11
        lights and expressions: 32×32
        (mat) or 320×243 (raw)
  where: /somewhere/in/the/depths/of/a/d
         isk/Yale_32x32.mat

orl
  samples: 4000
  what: 猫 and more
  where: not here
`
	if got := want(40); got != narrow {
		t.Errorf("got\n%s\nwant\n%s", got, narrow)
	}
}
