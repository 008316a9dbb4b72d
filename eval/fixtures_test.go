package eval

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/testkit"
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

// TestFixtures checks the fixtures of clusterings' scores.
func TestFixtures(t *testing.T) {
	testkit.Fixtures(t, map[string]func(*testing.T, *metricsFixture){"metrics": checkMetrics}, func(t *testing.T, check func(*testing.T, *metricsFixture), text []byte) {
		f := metricsFixture{Tolerance: 1e-9}
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatal(err)
		}
		check(t, &f)
	})
}

func checkMetrics(t *testing.T, f *metricsFixture) {
	if n := len(f.Inputs.Predictions); n == 0 || len(f.Result.AC) != n || len(f.Result.NMI) != n {
		t.Fatalf("%d clusterings, %d AC and %d NMI", n, len(f.Result.AC), len(f.Result.NMI))
	}
	for p, assigned := range f.Inputs.Predictions {
		got := quartetOf(f.Inputs.Truth, assigned)
		if !near(got.AC, f.Result.AC[p], f.Tolerance) || !near(got.NMI, f.Result.NMI[p], f.Tolerance) {
			t.Errorf("clustering %d: AC %v, NMI %v, want %v, %v", p, got.AC, got.NMI, f.Result.AC[p], f.Result.NMI[p])
		}
	}
}

// near reports whether a and b differ by at most the tolerance.
func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }
