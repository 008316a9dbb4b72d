package eval

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// partition returns n random labels of at most k names.
func partition(random *rand.Rand, n, k int) []int {
	labels := make([]int, n)
	for i := range labels {
		labels[i] = 3 * random.IntN(k)
	}
	return labels
}

// quartet holds the scores of a clustering.
type quartet struct{ AC, NMI, ARI, Purity float64 }

func quartetOf(truth, assigned []int) quartet {
	s, err := Compute(Clustering, Outcome{Truth: truth, Found: assigned})
	if err != nil {
		panic(err)
	}
	return quartet{s["AC"], s["NMI"], s["ARI"], s["purity"]}
}

func TestScoreValues(t *testing.T) {
	// Computed by hand.
	for _, test := range []struct {
		name            string
		truth, assigned []int
		want            quartet
	}{
		{"same, other names", []int{4, 4, 9, 9, 2}, []int{0, 0, 7, 7, 1}, quartet{1, 1, 1, 1}},
		{"one cluster of two classes", []int{0, 0, 1, 1}, []int{5, 5, 5, 5}, quartet{0.5, 0, 0, 0.5}},
		{"one cluster of one class", []int{3, 3}, []int{0, 0}, quartet{1, 1, 1, 1}},
		{"one sample", []int{3}, []int{8}, quartet{1, 1, 1, 1}},
		{"two clusters of one class", []int{0, 0}, []int{0, 1}, quartet{0.5, 0, 0, 1}},
		{"all samples alone", []int{0, 1, 2}, []int{2, 0, 1}, quartet{1, 1, 1, 1}},
		{"crosswise", []int{0, 0, 1, 1}, []int{0, 1, 0, 1}, quartet{0.5, 0, -0.5, 0.5}},
		// MI = ln 2, H = ln 2 and H' = 1.5 ln 2. Pairs: 1 in both, 2 in classes,
		// 1 in clusters, 6 in all: (1 − 1/3)/(3/2 − 1/3) = 4/7.
		{"a class in two clusters", []int{0, 0, 1, 1}, []int{0, 0, 1, 2}, quartet{0.75, 2. / 3, 4. / 7, 1}},
		{"unknown classes", []int{0, -1, 0, 1, -1, 1}, []int{1, 1, 1, 0, 0, 0}, quartet{1, 1, 1, 1}},
		{"nothing known", []int{-1, -1}, []int{0, 1}, quartet{}},
		{"nothing", nil, nil, quartet{}},
	} {
		got := quartetOf(test.truth, test.assigned)
		if !near(got.AC, test.want.AC, 1e-12) || !near(got.NMI, test.want.NMI, 1e-12) ||
			!near(got.ARI, test.want.ARI, 1e-12) || !near(got.Purity, test.want.Purity, 1e-12) {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
		alone := quartet{AC(test.truth, test.assigned), NMI(test.truth, test.assigned), ARI(test.truth, test.assigned), Purity(test.truth, test.assigned)}
		if alone != got {
			t.Errorf("%s: one by one %+v, together %+v", test.name, alone, got)
		}
	}
}

func TestScoreProperties(t *testing.T) {
	random := rng.New(1, "properties")
	for range 300 {
		n := 1 + random.IntN(40)
		truth, assigned := partition(random, n, 1+random.IntN(6)), partition(random, n, 1+random.IntN(6))
		got := quartetOf(truth, assigned)
		for name, v := range map[string]float64{"AC": got.AC, "NMI": got.NMI, "purity": got.Purity, "ARI + 1": got.ARI/2 + 0.5} {
			if !(v >= 0 && v <= 1) {
				t.Errorf("%s is %v for %v and %v", name, v, truth, assigned)
			}
		}
		if got.Purity < got.AC {
			t.Errorf("purity %v below AC %v", got.Purity, got.AC)
		}
		// Renaming labels does not change the last digit.
		names := random.Perm(20)
		renamed := make([]int, n)
		for i, c := range assigned {
			renamed[i] = names[c]
		}
		if again := quartetOf(truth, renamed); again != got {
			t.Errorf("%+v under other names, %+v before", again, got)
		}
		// The order of the samples matters only by rounding.
		order := random.Perm(n)
		movedTruth, moved := make([]int, n), make([]int, n)
		for to, from := range order {
			movedTruth[to], moved[to] = truth[from], assigned[from]
		}
		again := quartetOf(movedTruth, moved)
		if again.AC != got.AC || again.Purity != got.Purity || !near(again.NMI, got.NMI, 1e-12) || !near(again.ARI, got.ARI, 1e-12) {
			t.Errorf("%+v in another order, %+v before", again, got)
		}
		swapped := quartetOf(assigned, truth)
		if swapped.AC != got.AC || !near(swapped.NMI, got.NMI, 1e-12) || !near(swapped.ARI, got.ARI, 1e-12) {
			t.Errorf("%+v with classes and clusters exchanged, %+v before", swapped, got)
		}
	}
}

// TestARIMatchesPlain counts the pairs one by one.
func TestARIMatchesPlain(t *testing.T) {
	random := rng.New(1, "ari")
	for range 100 {
		n := 2 + random.IntN(20)
		truth, assigned := partition(random, n, 3), partition(random, n, 4)
		var both, one, other, all float64
		for i := range n {
			for j := range i {
				all++
				same, together := truth[i] == truth[j], assigned[i] == assigned[j]
				if same {
					one++
				}
				if together {
					other++
				}
				if same && together {
					both++
				}
			}
		}
		expected := one * other / all
		if most := (one + other) / 2; most != expected {
			if want := (both - expected) / (most - expected); !near(ARI(truth, assigned), want, 1e-12) {
				t.Errorf("got %v, want %v for %v and %v", ARI(truth, assigned), want, truth, assigned)
			}
		}
	}
}

func TestMapping(t *testing.T) {
	random := rng.New(1, "mapping")
	for range 200 {
		n := 1 + random.IntN(30)
		truth, assigned := partition(random, n, 1+random.IntN(5)), partition(random, n, 1+random.IntN(5))
		mapping := Mapping(truth, assigned)
		right := 0
		for i, c := range assigned {
			if class, ok := mapping[c]; ok && class == truth[i] {
				right++
			}
		}
		if got := float64(right) / float64(n); got != AC(truth, assigned) {
			t.Errorf("the mapping is right for %v, AC is %v", got, AC(truth, assigned))
		}
		classes := map[int]bool{}
		for _, class := range mapping {
			if classes[class] || !slices.Contains(truth, class) {
				t.Errorf("mapping %v to classes %v", mapping, truth)
			}
			classes[class] = true
		}
	}
}

func TestScoreLengths(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("lengths that differ do not panic")
		}
	}()
	quartetOf([]int{0, 1}, []int{0})
}

func ExampleCompute() {
	truth := []int{0, 0, 0, 1, 1, 2}
	assigned := []int{5, 5, 7, 7, 7, 9}
	s, err := Compute(Clustering, Outcome{Truth: truth, Found: assigned}, "VI")
	if err != nil {
		fmt.Println(err)
	}
	fmt.Printf("AC %.3f, NMI %.3f, ARI %.3f, purity %.3f, VI %.3f\n", s["AC"], s["NMI"], s["ARI"], s["purity"], s["VI"])
	fmt.Println(Mapping(truth, assigned))
	// Output:
	// AC 0.833, NMI 0.685, ARI 0.318, purity 0.833, VI 0.637
	// map[5:0 7:1 9:2]
}
