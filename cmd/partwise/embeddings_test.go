package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestEmbeddings: vectors of anyone's, of any sign, are grouped with no method named, and the
// pictures that they are of are shown, explored and named.
func TestEmbeddings(t *testing.T) {
	workplace(t)
	text := "file,a,b,c\n"
	for i, file := range listed(t, "photos") {
		text += fmt.Sprintf("%s,%d,%d,%d\n", file, 3-i%3*3, -1-i%2, i%5)
	}
	write(t, "vectors.csv", text)
	must(t, "cluster", "vectors.csv", "-k", "3", "--out", "groups")
	names := listed(t, "groups")
	if all := strings.Join(names, " "); !strings.Contains(all, "groups/pictures/000.png") {
		t.Errorf("no pictures in %s", all)
	}
	if data := read(t, "groups", "page", "data.js"); !strings.Contains(data, `"thing":"picture"`) || !strings.Contains(data, `../photos`) {
		t.Errorf("the page has no links: %.300s", data)
	}
	address, finish := exploring(t, "groups")
	if state := getState(t, address); len(state.Groups) != strings.Count(text, "\n")-1 {
		t.Errorf("explored: %d", len(state.Groups))
	}
	finish()
}
