package eval

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/testdir"
)

// metricsFixture holds exact scores of several clusterings of one set.
type metricsFixture struct {
	Tolerance float64
	Inputs    struct {
		Truth       []int
		Predictions [][]int
	}
	Result struct {
		AC, NMI []float64
	}
}

// methodField finds a fixture's method. Those of other packages need not be
// JSON to the letter: they can hold infinities.
var methodField = regexp.MustCompile(`"method"\s*:\s*"([^"]+)"`)

// TestFixtures checks the fixtures of this package in testdata, or in the
// folder that PARTWISE_FIXTURES names.
func TestFixtures(t *testing.T) {
	folder := testdir.Get(t, testdir.Fixtures)
	if folder == "" {
		folder = filepath.Join("testdata", "fixtures")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in %s: %v", folder, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		method := methodField.FindSubmatch(data)
		if method == nil {
			t.Errorf("%s names no method", file)
			continue
		}
		if m := string(method[1]); m != "metrics" && !strings.HasPrefix(m, "metrics_") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			f := metricsFixture{Tolerance: 1e-9}
			if err := json.Unmarshal(data, &f); err != nil {
				t.Fatal(err)
			}
			if n := len(f.Inputs.Predictions); n == 0 || len(f.Result.AC) != n || len(f.Result.NMI) != n {
				t.Fatalf("%d clusterings, %d AC and %d NMI", n, len(f.Result.AC), len(f.Result.NMI))
			}
			for p, assigned := range f.Inputs.Predictions {
				got := quartetOf(f.Inputs.Truth, assigned)
				if !near(got.AC, f.Result.AC[p], f.Tolerance) || !near(got.NMI, f.Result.NMI[p], f.Tolerance) {
					t.Errorf("clustering %d: AC %v, NMI %v, want %v, %v", p, got.AC, got.NMI, f.Result.AC[p], f.Result.NMI[p])
				}
			}
		})
	}
}

// near reports whether a and b differ by no more than the tolerance.
func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }
