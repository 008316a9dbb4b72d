package figure

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/plotter"

	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// points is a curve with a value at every iteration from 0.
func points(values ...float64) []record.Point {
	var curve []record.Point
	for i, v := range values {
		curve = append(curve, record.Point{Iteration: i, Objective: v})
	}
	return curve
}

func TestRemaining(t *testing.T) {
	for _, test := range []struct {
		name  string
		curve []record.Point
		want  []record.Point
	}{
		{"from iteration 1", points(1000, 10, 6, 2), []record.Point{{Iteration: 1, Objective: 1}, {Iteration: 2, Objective: 0.5}, {Iteration: 3, Objective: 0}}},
		{"negative objectives", points(5, -2, -4), []record.Point{{Iteration: 1, Objective: 1}, {Iteration: 2, Objective: 0}}},
		{"not finite", points(5, 3, math.NaN(), math.Inf(1), 1), []record.Point{{Iteration: 1, Objective: 1}, {Iteration: 4, Objective: 0}}},
		{"rising", points(5, 1, 2), nil},
		{"constant", points(5, 1, 1), nil},
		{"too large", points(0, math.MaxFloat64, -math.MaxFloat64), nil},
		{"one point", points(5, 1), nil},
		{"none", nil, nil},
	} {
		before := slices.Clone(test.curve)
		if diff := cmp.Diff(test.want, remainingDecrease(test.curve)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		for i, p := range test.curve {
			if p != before[i] && !math.IsNaN(p.Objective) {
				t.Errorf("%s: the record was changed", test.name)
			}
		}
	}
}

// A stopped trial keeps its last value, and values between points are interpolated.
func TestMeanCurve(t *testing.T) {
	long := []record.Point{{Iteration: 1, Objective: 1}, {Iteration: 5, Objective: 0.2}, {Iteration: 9, Objective: 0.4}}
	short := []record.Point{{Iteration: 1, Objective: 1}, {Iteration: 3, Objective: 0}}
	got := terms[0].mean(t.Context(), [][]record.Point{long, short})
	want := plotter.XYs{{X: 1, Y: 1}, {X: 3, Y: 0.3}, {X: 5, Y: 0.1}, {X: 9, Y: 0.2}}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i].X != want[i].X || !near(got[i].Y, want[i].Y) {
			t.Errorf("got %v, want %v", got[i], want[i])
		}
	}
}

func TestConvergence(t *testing.T) {
	records := fakeRecords(sevenMethods, []int{2, 5}, 2)
	for i := range records {
		if records[i].Method == "cf" {
			records[i].Curve = nil
		}
	}
	f, err := Convergence(t.Context(), records, sevenMethods, looks)
	if err != nil {
		t.Fatal(err)
	}
	picture, svg := drawn(t, f)
	if found := colours(t, picture); found[rgba(0)] < 200 || found[rgba(1)] > 0 {
		t.Error("nmf has curves and should be drawn, cf has none")
	}
	for _, word := range []string{"Iteration", "100", "nmf", "ccf"} {
		if !strings.Contains(string(svg), ">"+word+"</text>") {
			t.Errorf("%q does not stand in the drawing", word)
		}
	}

	slices.Reverse(records)
	few := slices.DeleteFunc(records, func(r record.Record) bool { return r.Classes == 2 })
	again, err := Convergence(t.Context(), few, sevenMethods, looks)
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := drawn(t, again); !bytes.Equal(p, picture) {
		t.Error("only the largest number of classes should count, and the order of the records should not")
	}

	if _, err := Convergence(t.Context(), records, []string{"cf"}, looks); !errors.Is(err, ErrNoData) {
		t.Errorf("got error %v, want %v", err, ErrNoData)
	}
}

// penalised returns a record whose curve has a penalty.
func penalised(method string, classes int, penalties ...float64) record.Record {
	r := record.Record{Method: method, Classes: classes, Scores: map[string]float64{"AC": 1}}
	for i, p := range penalties {
		r.Curve = append(r.Curve, record.Point{Iteration: i, Objective: 100/float64(i+1) + p, Penalty: p})
	}
	return r
}

func TestTerms(t *testing.T) {
	records := []record.Record{
		penalised("gnmf", 2, 9, 9, 9, 9),
		penalised("gnmf", 5, 0, 10, 20, 30),
		penalised("gnmf", 5, 0, 10, 20, math.NaN()),
		penalised("nmf", 5, 0, 0, 0, 0),
		{Method: "kmeans"},
	}
	records[2].Repeat = 1
	f, err := Terms(t.Context(), records, "gnmf", looks)
	if err != nil {
		t.Fatal(err)
	}
	picture, svg := drawn(t, f)
	for word, times := range map[string]int{"Iteration": 3, "Objective": 1, "Fit": 1, "Penalty": 1} {
		if got := strings.Count(string(svg), ">"+word+"</text>"); got < times {
			t.Errorf("%q stands %d times in the drawing, want %d", word, got, times)
		}
	}
	if strings.Contains(string(svg), "NaN") {
		t.Error("NaN in the drawing")
	}
	if found := colours(t, picture); found[rgba(2)] < 500 {
		t.Error("no lines")
	}
	curves := curvesOf(records, []string{"gnmf"}, withPenalty)["gnmf"]
	if len(curves) != 2 || len(curves[0]) != 3 || len(curves[1]) != 2 {
		t.Fatalf("curves %v, want the finite points from iteration 1 on of the two trials with 5 classes", curves)
	}
	for i, want := range []plotter.XYs{
		{{X: 1, Y: 60}, {X: 2, Y: 100.0/3 + 20}, {X: 3, Y: (55 + 100.0/3 + 20) / 2}},
		{{X: 1, Y: 50}, {X: 2, Y: 100.0 / 3}, {X: 3, Y: (25 + 100.0/3) / 2}},
		{{X: 1, Y: 10}, {X: 2, Y: 20}, {X: 3, Y: 25}},
	} {
		for j, p := range terms[i].mean(t.Context(), curves) {
			if p.X != want[j].X || !near(p.Y, want[j].Y) {
				t.Errorf("%s: got %v, want %v", terms[i].name, p, want[j])
			}
		}
	}
	for _, method := range []string{"nmf", "kmeans", "none"} {
		if _, err := Terms(t.Context(), records, method, looks); !errors.Is(err, ErrNoData) {
			t.Errorf("%s: got error %v, want %v", method, err, ErrNoData)
		}
	}
	if _, err := Terms(t.Context(), []record.Record{penalised("gnmf", 2, 1)}, "gnmf", looks); !errors.Is(err, ErrNoData) {
		t.Errorf("the initial factors alone: error %v, want %v", err, ErrNoData)
	}
	huge := penalised("gnmf", 2, 0, 1e308, -1e308, 3, 3)
	constant := penalised("gnmf", 2, 5, 5, 5)
	for _, r := range []record.Record{huge, constant} {
		f, err := Terms(t.Context(), []record.Record{r}, "gnmf", looks)
		if err != nil {
			t.Fatal(err)
		}
		drawn(t, f)
	}
}
