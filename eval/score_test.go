package eval

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestScoresList checks that each entry of the list is complete and is found by its name.
func TestScoresList(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Scores() {
		if s.Name == "" || s.Title == "" || s.Help == "" || !(s.Min < s.Max) || s.Value == nil || seen[s.Name] {
			t.Errorf("%q is incomplete or a duplicate: %+v", s.Name, s)
		}
		seen[s.Name] = true
		found, known := FindScore(s.Name)
		if !known || found.Title != s.Title || found.Unlabelled {
			t.Errorf("%s finds %q, %v", s.Name, found.Title, known)
		}
		rest, known := FindScore(s.Name + " free")
		if known != s.OfSamples || !rest.Unlabelled || !strings.HasSuffix(rest.Title, "of the unlabelled samples") {
			t.Errorf("%s free: %+v, %v", s.Name, rest, known)
		}
	}
	if got := MainScore(Clustering).Name + MainScore(Classification).Name; got != "ACaccuracy" {
		t.Errorf("the tasks are judged by %s", got)
	}
}

// TestVI checks that VI is H + H' − 2·MI, may exceed 1, and that lower is better.
func TestVI(t *testing.T) {
	for _, c := range []struct {
		truth, found []int
		want         float64
	}{
		{[]int{0, 0, 1, 1}, []int{7, 7, 2, 2}, 0},
		{[]int{0, 0, 1, 1}, []int{0, 1, 0, 1}, 2 * math.Ln2},
		{[]int{0, 0, 1, 1}, []int{0, 0, 1, 2}, math.Ln2 / 2},
		{[]int{0, 1, 2, 3, 4, 5, 6, 7}, make([]int, 8), math.Log(8)},
		{[]int{-1}, []int{0}, 0},
	} {
		if got := VI(c.truth, c.found); !near(got, c.want, 1e-12) || math.Signbit(got) {
			t.Errorf("VI of %v and %v is %v, want %v", c.truth, c.found, got, c.want)
		}
	}
	s, known := FindScore("VI free")
	if !known || !s.Better(0.5, 1.5) || s.Better(1.5, 0.5) || s.Better(1.5, 1.5*(1-1e-14)) {
		t.Error("less variation is not better")
	}
	for v, want := range map[float64]bool{0: true, 7: true, -1e-9: false, math.Inf(1): false, math.NaN(): false} {
		if s.Holds(v) != want {
			t.Errorf("VI can be %v: %v", v, !want)
		}
	}
}

// TestUnknownScore checks that an unregistered score keeps its name and may have any finite value.
func TestUnknownScore(t *testing.T) {
	s, known := FindScore("zeal free")
	if known || s.Name != "zeal free" || !s.Holds(-1e300) || s.Holds(math.NaN()) || s.Holds(math.Inf(-1)) {
		t.Errorf("%+v, %v", s, known)
	}
}

func TestCompute(t *testing.T) {
	o := Outcome{Truth: []int{0, 0, 1, 1}, Found: []int{0, 0, 0, 1}, Labels: []int{0, -1, -1, -1}}
	got, err := Compute(Clustering, o, "VI")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 10 || got["AC"] != 0.75 || got["AC free"] != 2./3 || got["VI free"] != VI([]int{0, 1, 1}, []int{0, 0, 1}) {
		t.Errorf("scores %v", got)
	}
	if got, _ = Compute(Clustering, o); len(got) != 8 {
		t.Errorf("an optional score is computed that nobody asked for: %v", got)
	}
	o = Outcome{Truth: []int{0, 1}, Found: []int{0, 0}, Classes: []int{0, 1}, Coefficients: mat.NewDense(2, 1, []float64{1, 3}), Basis: mat.NewDense(2, 1, []float64{0, 1})}
	got, err = Compute(Classification, o)
	if err != nil || len(got) != 4 || got["accuracy"] != 0.5 || got["basis purity"] != 0.75 || got["basis sparsity"] != 1 {
		t.Errorf("scores %v, %v", got, err)
	}
	o.Basis.Set(0, 0, -1) // then it has no parts
	if got, err = Compute(Classification, o); err != nil || len(got) != 1 {
		t.Errorf("scores %v, %v of a signed basis", got, err)
	}
}

func TestCheckScores(t *testing.T) {
	names := []string{"vi", "AC"}
	if err := CheckScores(Clustering, names); err != nil || names[0] != "VI" {
		t.Errorf("%v, error %v", names, err)
	}
	for _, names := range [][]string{{"accuracy"}, {"VJ"}, {"VI", "vi"}} {
		if err := CheckScores(Clustering, names); err == nil || !strings.Contains(err.Error(), names[0]) {
			t.Errorf("%v: error %v", names, err)
		}
	}
}

func TestCompareScores(t *testing.T) {
	want := []string{"accuracy", "AC", "AC free", "VI", "VI free", "basis purity", "alpha", "zeal", "zeal free"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, CompareScores)
	if !slices.Equal(got, want) {
		t.Errorf("order %q", got)
	}
}
