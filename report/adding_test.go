package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAddingASection checks that the code in docs/how-to/add-a-report-section.md compiles, and that an entry of the list
// puts the section into the page and its navigation.
func TestAddingASection(t *testing.T) {
	code, err := os.ReadFile("added_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "how-to", "add-a-report-section.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), string(code)) {
		t.Error("docs/how-to/add-a-report-section.md shows another file than added_test.go")
	}
	before := experimentSections
	defer func() { experimentSections = before }()
	experimentSections = append(experimentSections[:len(before):len(before)],
		section[*experimentPage]{id: "iterations", title: "Iterations", template: myTemplate, make: myIterations})
	e := fakeExperiment()
	for i, iterations := range []int{100, 300} {
		e.Records[i*len(e.Methods)].Iterations = iterations
	}
	for _, want := range []bool{true, false} {
		dir := t.TempDir()
		if err := WriteExperiment(t.Context(), dir, e); err != nil {
			t.Fatal(err)
		}
		files := tree(t, dir)
		sources(t, files)
		for _, words := range []string{`<a href="#iterations">Iterations</a>`, "<li>nmf: mean 200 over 2 trials</li>"} {
			if strings.Contains(files["index.html"], words) != want {
				t.Errorf("the page holds %q: %v", words, !want)
			}
		}
		for i := range e.Records {
			e.Records[i].Iterations = 0
		}
	}
}
