package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAddingAScore checks that the code in docs/how-to/add-a-score.md compiles, that an entry of the list makes it a
// score, and that its values are right.
func TestAddingAScore(t *testing.T) {
	code, err := os.ReadFile("added_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "how-to", "add-a-score.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), string(code)) {
		t.Error("docs/how-to/add-a-score.md shows another file than added_test.go")
	}
	before := scores
	defer func() { scores = before }()
	scores = append(Scores(), myScore)
	if err := CheckScores(Clustering, []string{"my-completeness"}); err != nil {
		t.Error(err)
	}
	o := Outcome{Truth: []int{0, 0, 1, 1, 1}, Found: []int{4, 4, 4, 4, 4}, Labels: []int{-1, -1, -1, -1, 1}}
	whole, err := Compute(Clustering, o, "my-completeness")
	if err != nil || whole["my-completeness"] != 1 || whole["my-completeness free"] != 1 {
		t.Errorf("one group: %v, %v", whole, err)
	}
	o.Found = []int{4, 5, 4, 5, 4}
	if torn, err := Compute(Clustering, o, "my-completeness"); err != nil || torn["my-completeness"] > 0.1 {
		t.Errorf("classes torn apart: %v, %v", torn, err)
	}
}
