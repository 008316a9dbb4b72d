package figure

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// penalised makes a record whose curve has a penalty.
func penalised(method string, classes int, penalties ...float64) pipeline.Record {
	r := pipeline.Record{Method: method, Classes: classes, Scores: map[string]float64{"AC": 1}}
	for i, p := range penalties {
		r.Curve = append(r.Curve, pipeline.Point{Iteration: i, Objective: 100/float64(i+1) + p, Penalty: p})
	}
	return r
}

func TestTerms(t *testing.T) {
	records := []pipeline.Record{
		penalised("gnmf", 2, 9, 9, 9, 9),
		penalised("gnmf", 5, 0, 10, 20, 30),
		penalised("gnmf", 5, 0, 10, 20, math.NaN()),
		penalised("nmf", 5, 0, 0, 0, 0),
		{Method: "kmeans"},
	}
	records[2].Repeat = 1
	f, err := Terms(t.Context(), records, "gnmf", nil)
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
	if found := colours(t, picture); found[rgba(0)] < 500 {
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
		for j, p := range must(meanTerm(t.Context(), curves, terms[i].of)) {
			if p.X != want[j].X || !near(p.Y, want[j].Y) {
				t.Errorf("%s: %v, want %v", terms[i].name, p, want[j])
			}
		}
	}
	for _, method := range []string{"nmf", "kmeans", "none"} {
		if _, err := Terms(t.Context(), records, method, nil); !errors.Is(err, ErrNoData) {
			t.Errorf("%s: error %v, want %v", method, err, ErrNoData)
		}
	}
	if _, err := Terms(t.Context(), []pipeline.Record{penalised("gnmf", 2, 1)}, "gnmf", nil); !errors.Is(err, ErrNoData) {
		t.Errorf("the initial factors alone: error %v, want %v", err, ErrNoData)
	}
	huge := penalised("gnmf", 2, 0, 1e308, -1e308, 3, 3)
	constant := penalised("gnmf", 2, 5, 5, 5)
	for _, r := range []pipeline.Record{huge, constant} {
		f, err := Terms(t.Context(), []pipeline.Record{r}, "gnmf", nil)
		if err != nil {
			t.Fatal(err)
		}
		drawn(t, f)
	}
}
