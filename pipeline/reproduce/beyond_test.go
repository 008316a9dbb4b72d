package reproduce

import (
	"os"
	"testing"
)

// TestComparison checks the experiments of the comparison, and that sets that are not there are left out.
func TestComparison(t *testing.T) {
	for _, root := range []string{os.Getenv("PARTWISE_DATA"), t.TempDir()} {
		t.Setenv("PARTWISE_DATA", root)
		absent := 0
		e, names, cells, err := Comparison(root, true, func(error) { absent++ })
		if err != nil {
			t.Fatal(err)
		}
		if all := absent == 0; all && len(cells) != 27 || absent == len(e.Sets) && len(cells) > 0 || len(names) != len(cells) {
			t.Errorf("%d sets are absent, and %d experiments of %d sets are there", absent, len(cells), len(e.Sets))
		}
		for _, cell := range cells {
			if err := cell.Check(); err != nil {
				t.Errorf("%s: %v", cell.Name, err)
			}
		}
	}
}
