package table

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAddingAFormat checks that the code in docs/how-to/add-a-table-format.md compiles, and that an entry of the list
// makes it a format of every kind of table.
func TestAddingAFormat(t *testing.T) {
	code, err := os.ReadFile("added_test.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "how-to", "add-a-table-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), string(code)) {
		t.Error("docs/how-to/add-a-table-format.md shows another file than added_test.go")
	}
	before := Formats
	defer func() { Formats = before }()
	Formats = append(slices.Clip(Formats), Format{"TSV", "tsv", writeMyTSV})
	for want, table := range map[string]interface{ Document() *Document }{
		"Classes\ta\tb\n2\t60.0 *\t50.0\n": New(slices.Concat(scored("a", 2, 0.6), scored("b", 2, 0.5)), "AC", []string{"a", "b"}, Tests{}),
		"nmf\t–\t–\t50.1 ± 2.8":            NewBest(ranksAndSweeps(), "AC", sweptMethods, lambdaSweep, Tests{}),
	} {
		var b strings.Builder
		if err := renderers(table)["tsv"](&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}
