package table

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// ranked returns records of one score at several ranks, one repeat for each value.
func ranked(method string, rank int, values ...float64) []record.Record {
	records := scored(method, 4, values...)
	for i := range records {
		records[i].Row, records[i].Rank = rank, rank
	}
	return records
}

func TestBestRank(t *testing.T) {
	records := slices.Concat(
		ranked("pca", 5, 0.5, 0.6, 0.5, 0.6, 0.5, 0.6),
		ranked("pca", 10, 0.7, 0.8, 0.7, 0.8, 0.7, 0.8),
		ranked("pca", 20, 0.8, 0.7, 0.8, 0.7, 0.8, 0.7), // as good: the smaller rank
		ranked("nmf", 5, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9),
		ranked("nmf", 10, 0.1),
		ranked("original", 5, 0.6), ranked("original", 10, 0.6), ranked("never", 5),
	)
	for i := range records {
		if records[i].Method == "original" {
			records[i].Rank = 0
		}
	}
	best := NewBest(records, "AC", []string{"original", "pca", "never", "nmf"}, nil, Tests{})
	if !best.Ranks || best.Swept || len(best.Rows) != 3 {
		t.Fatalf("%+v", best)
	}
	for i, want := range []struct {
		method string
		rank   int
		mean   float64
		n      int
	}{{"original", 0, 0.6, 1}, {"pca", 10, 0.75, 6}, {"nmf", 5, 0.9, 6}} {
		r := best.Rows[i]
		if r.Method != want.method || r.Rank != want.rank || !near(r.Cell.Mean, want.mean) || r.Cell.N != want.n {
			t.Errorf("got %+v, want %+v", r, want)
		}
	}
	// Tested over the common repeats, at any ranks.
	if c := best.Rows[1].Cell; c.Pairs != 6 || !near(c.P, 0.0011144375415074255) { // of t = 0.15/(0.0548/√6)
		t.Errorf("pca at rank 10 against nmf at 5: %+v", c)
	}
	if one := NewBest(ranked("pca", 5, 0.5), "AC", []string{"pca"}, nil, Tests{}); one != nil {
		t.Errorf("got %+v, want no choice for one rank", one)
	}
	if none := NewBest(nil, "AC", sweptMethods, lambdaSweep, Tests{}); none != nil {
		t.Errorf("no records: %+v", none)
	}
}

func TestBestSetting(t *testing.T) {
	records := sweptRecords(2, 5)
	best := NewBest(records, "AC", sweptMethods, lambdaSweep, Tests{})
	all := New(records, "AC", sweptMethods, Tests{})
	if best.Ranks || !best.Swept || len(best.Rows) != 3 {
		t.Fatalf("%+v", best)
	}
	for i, of := range [][]string{{"nmf"}, lambdaSweep[0].Methods, lambdaSweep[1].Methods} {
		var top float64
		setting := ""
		for j, label := range of {
			if c := all.Average.Cells[slices.Index(sweptMethods, label)]; c.Mean > top {
				top = c.Mean
				setting = [][]string{{""}, {"beta=1 lambda=1", "beta=1 lambda=50", "beta=2 lambda=1", "beta=2 lambda=50"}, {"lambda=0.5", "lambda=50"}}[i][j]
			}
		}
		if r := best.Rows[i]; !near(r.Cell.Mean, top) || r.Setting != setting || r.Method != []string{"nmf", "ogl_1", "gnmf"}[i] {
			t.Errorf("got %+v, want %v with %q", r, top, setting)
		}
	}
	// Ties go to the first.
	tied := slices.Concat(scored("g 0.5", 2, 0.5), scored("g 50", 2, 0.5))
	if r := NewBest(tied, "AC", sweptMethods, lambdaSweep, Tests{}).Rows[0]; r.Setting != "lambda=0.5" {
		t.Errorf("%+v", r)
	}
	// A setting without one of the rows has no average, and is not chosen.
	short := slices.DeleteFunc(records, func(r record.Record) bool { return r.Method == "g 0.5" && r.Classes == 5 })
	for i := range short {
		if short[i].Method == "g 0.5" {
			short[i].Scores["AC"] = 1
		}
	}
	if r := NewBest(short, "AC", sweptMethods, lambdaSweep, Tests{}).Rows[2]; r.Setting != "lambda=50" {
		t.Errorf("%+v", r)
	}
}

func TestBestRenderers(t *testing.T) {
	few := slices.DeleteFunc(sweptRecords(3), func(r record.Record) bool { return r.Repeat > 3 || r.Method == "nmf" && r.Repeat > 2 })
	for name, best := range map[string]*Best{
		"best-sweep": NewBest(sweptRecords(2, 5), "AC free", sweptMethods, lambdaSweep, Tests{}),
		"best-rank":  NewBest(ranksAndSweeps(), "AC", sweptMethods, nil, Tests{}),
		"best-both":  NewBest(ranksAndSweeps(), "AC", sweptMethods, lambdaSweep, Tests{}),
		"best-few":   NewBest(few, "NMI", sweptMethods, lambdaSweep, Tests{}),
	} {
		best.Table.Name = "Yale_32x32, 30 % labels"
		for extension, write := range renderers(best) {
			t.Run(name+"."+extension, func(t *testing.T) {
				var b strings.Builder
				if err := write(&b); err != nil {
					t.Fatal(err)
				}
				golden(t, name+"."+extension, b.String())
				if err := write(failing{}); !errors.Is(err, errFailing) {
					t.Errorf("got error %v, want the writer's", err)
				}
			})
		}
	}
}

func TestBestFinding(t *testing.T) {
	best := NewBest(ranksAndSweeps(), "AC", sweptMethods, lambdaSweep, Tests{})
	if got, want := best.Finding(), "gnmf (rank 5, lambda=50) is best with each method at its best (71.7"; !strings.Contains(got, want) {
		t.Errorf("%q does not say %q", got, want)
	}
}

// TestPeaks: a sweep is at the place of its first method.
func TestPeaks(t *testing.T) {
	methods := []string{"g 50", "nmf", "g 0.5"}
	peaks := Peaks(New(scored("g 0.5", 3, 0.5), "AC", methods, Tests{}), lambdaSweep)
	want := []Peak{{Method: "gnmf", Setting: "lambda=0.5", Label: "g 0.5", Row: 3, Cell: Cell{N: 1, Mean: 0.5}}, {Method: "nmf", Label: "nmf"}}
	if diff := cmp.Diff(want, peaks); diff != "" {
		t.Error(diff)
	}
}

// TestChosenDocument: chosen numbers are in every format.
func TestChosenDocument(t *testing.T) {
	d := ChosenDocument("mine", "numbers of groups", []Chosen{{3, []int{3, 6}}, {10, []int{10}}}, true)
	for _, format := range Formats {
		var text bytes.Buffer
		if err := format.Write(&text, d, Options{}); err != nil {
			t.Fatal(err)
		}
		wants := []string{"4.5", "0.35", "3, 6", "0.00"}
		if slices.Contains([]string{"text", "Markdown", "LaTeX", "HTML"}, format.Name) {
			wants = append(wants, "Numbers of groups chosen")
		}
		for _, want := range wants {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s has no %q:\n%s", format.Name, want, text.String())
			}
		}
	}
	var text bytes.Buffer
	if err := HTML(&text, ChosenDocument("mine", "ranks", []Chosen{{3, []int{8}}}, false), Options{}); err != nil || strings.Contains(text.String(), "Off") {
		t.Errorf("%v: %s", err, text.String())
	}
}
