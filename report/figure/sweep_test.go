package figure

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report/table"
	"gonum.org/v1/plot"
)

func TestSweepCurves(t *testing.T) {
	scores := table.New(sweptRecords(2, 5), "AC", sweptMethods, table.Tests{})
	looks := NewLooks(sweptMethods, lambdaSweep)
	f, err := SweepCurves(scores, lambdaSweep, "lambda", looks)
	if err != nil {
		t.Fatal(err)
	}
	picture, svg := drawn(t, f)
	for _, word := range []string{"lambda", "AC, average, %", "0.5", "1", "50", "ogl_1 beta=1", "ogl_1 beta=2", "gnmf", "nmf"} {
		if strings.Count(string(svg), ">"+word+"</text>") != 1 {
			t.Errorf("%q does not stand once in the drawing", word)
		}
	}
	if n := rings(svg); n != 2 {
		t.Errorf("%d rings, want one for each sweep", n)
	}
	found := colours(t, picture)
	for _, i := range []int{0, 1, 2, 4} { // 4 is the second line of a sweep
		if found[rgba(i)] < 200 {
			t.Errorf("no line %d in its colour", i)
		}
	}
	again, err := SweepCurves(scores, lambdaSweep, "lambda", looks)
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := drawn(t, again); !bytes.Equal(p, picture) {
		t.Error("the same table gives other bytes")
	}

	beta, err := SweepCurves(table.New(sweptRecords(4), "AC", sweptMethods, table.Tests{}), lambdaSweep, "beta", looks)
	if err != nil {
		t.Fatal(err)
	}
	_, svg = drawn(t, beta)
	for word, times := range map[string]int{"AC, %": 1, "ogl_1 lambda=50": 1, "gnmf": 0} {
		if strings.Count(string(svg), ">"+word+"</text>") != times {
			t.Errorf("%q does not stand %d times in the drawing", word, times)
		}
	}
	ranks, err := SweepCurves(table.New(ranksAndSweeps(), "AC", sweptMethods, table.Tests{}), lambdaSweep, "beta", looks)
	if err != nil {
		t.Fatal(err)
	}
	if _, svg = drawn(t, ranks); !strings.Contains(string(svg), "AC at the best rank, %") {
		t.Error("the axis does not say that ranks are chosen")
	}
	for _, none := range []*table.Table{scores, table.New(nil, "AC", sweptMethods, table.Tests{})} {
		setting := "lambda"
		if none == scores {
			setting = "other"
		}
		if _, err := SweepCurves(none, lambdaSweep, setting, looks); !errors.Is(err, ErrNoData) {
			t.Errorf("%s: got error %v, want %v", setting, err, ErrNoData)
		}
	}
}

func TestPlaceValues(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []string
		at     []float64 // fractions of the axis
		labels []string
	}{
		{"wide", []string{"100", "0.1", "1e1", "1"}, []float64{1, 0, 2.0 / 3, 1.0 / 3}, []string{"0.1", "1", "1e1", "100"}},
		{"narrow", []string{"5", "10", "20"}, []float64{0, 1.0 / 3, 1}, []string{"5", "10", "20"}},
		{"with zero", []string{"1", "0", "1000"}, []float64{0.5, 0, 1}, []string{"0", "1", "1000"}},
		{"narrow with zero", []string{"0", "1", "4"}, []float64{0, 0.25, 1}, []string{"0", "1", "4"}},
		{"words", []string{"heat", "binary"}, []float64{0, 1}, []string{"heat", "binary"}},
		{"mixed", []string{"1", "nmf", "0.5"}, []float64{0, 0.5, 1}, []string{"1", "nmf", "0.5"}},
		{"close", []string{"1", "1.05", "2"}, []float64{0, 0.05, 1}, []string{"1", "", "2"}},
		{"one", []string{"3"}, nil, []string{"3"}},
	} {
		f := newChart("", "")
		place := f.placeValues(test.values)
		axis := f.plot.X
		for i, want := range test.at {
			if got := axis.Scale.Normalize(axis.Min, axis.Max, place[test.values[i]]); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: %s is at %v, want %v", test.name, test.values[i], got, want)
			}
		}
		if _, logarithmic := axis.Scale.(plot.LogScale); logarithmic != (test.name == "wide") {
			t.Errorf("%s: logarithmic: %v", test.name, logarithmic)
		}
		var labels []string
		for _, tick := range axis.Tick.Marker.Ticks(axis.Min, axis.Max) {
			labels = append(labels, tick.Label)
		}
		if !slices.Equal(labels, test.labels) {
			t.Errorf("%s: labels %q, want %q", test.name, labels, test.labels)
		}
	}
}

// TestSweepOfOne: a sweep of one value, and an unfinished one, can be drawn.
func TestSweepOfOne(t *testing.T) {
	sweeps := []spec.Sweep{{Name: "gnmf", Settings: []string{"lambda"}, Methods: []string{"g", "h"}, Values: [][]string{{"1"}, {"100"}}}}
	f, err := SweepCurves(table.New(scored("g", 3, 0.5), "AC", []string{"g", "h", "nmf"}, table.Tests{}), sweeps, "lambda", looks)
	if err != nil {
		t.Fatal(err)
	}
	if _, svg := drawn(t, f); strings.Contains(string(svg), "NaN") {
		t.Error("NaN in the drawing")
	}
}
