package table

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// compared returns records of the methods over 7 repeats at 2 classes and 7 at 3, with the given scores.
func compared(name string, score func(method string, trial int) float64, methods ...string) Compared {
	c := Compared{Name: name, Methods: methods}
	for trial := range 14 {
		for _, m := range methods {
			c.Records = append(c.Records, record.Record{
				Classes: 2 + trial/7, Repeat: trial % 7, Method: m, Samples: 10,
				Scores: map[string]float64{"AC": score(m, trial)},
			})
		}
	}
	return c
}

func rising(_ string, trial int) float64 { return 0.5 + float64(trial)/100 }

// TestComparison: means, differences and tests use the common trials.
func TestComparison(t *testing.T) {
	a := compared("one", rising, "up", "same", "few", "gone", "nan")
	b := compared("two", func(m string, trial int) float64 {
		switch {
		case m == "up":
			return rising(m, trial) + 0.1 + float64(trial)/1000
		case m == "nan" && trial == 3:
			return math.NaN()
		}
		return rising(m, trial)
	}, "new", "nan", "up", "few", "same")
	// For few, each experiment has trials that the other lacks.
	b.Records = slices.DeleteFunc(b.Records, func(r record.Record) bool { return r.Method == "few" && r.Classes == 3 })
	a.Records = slices.DeleteFunc(a.Records, func(r record.Record) bool { return r.Method == "few" && r.Classes == 2 && r.Repeat == 0 })
	// A score of one experiment alone is not compared.
	a.Records[0].Scores["NMI"] = 0.5
	slices.Reverse(b.Records) // the order of the log does not matter

	c, err := NewComparison(a, b, Tests{})
	if err != nil {
		t.Fatal(err)
	}
	// Differences are between each repeat's means over 2 and 3 classes.
	var x, y, first, second []float64
	for trial := range 14 {
		v := rising("", trial)
		x, y = append(x, v), append(y, v+0.1+float64(trial)/1000)
	}
	for repeat := range 7 {
		first, second = append(first, (x[repeat]+x[repeat+7])/2), append(second, (y[repeat]+y[repeat+7])/2)
	}
	if len(c.Scores) != 1 || c.A != "one" || c.B != "two" || !slices.Equal(c.OnlyA, []string{"gone"}) || !slices.Equal(c.OnlyB, []string{"new"}) {
		t.Fatalf("%+v", c)
	}
	// With up and three others, Holm's correction multiplies the smallest p by four.
	kinds := []significance.Resampled{significance.NewResampled(y[:7], x[:7], 0), significance.NewResampled(y[7:], x[7:], 0)}
	p := 4 * significance.Stratified(kinds, 0).P()
	mean := func(x []float64) float64 { m, _ := eval.MeanSD(x); return m }
	if !(p < 0.05) {
		t.Fatalf("p = %v", p)
	}
	for i, want := range []ComparisonRow{
		{Method: "up", Trials: 14, A: mean(x), B: mean(y), Contrast: Contrast{Verdict: Different, Pairs: 7, Difference: mean(second) - mean(first), P: p}},
		{Method: "same", Trials: 14, A: mean(x), B: mean(x), Contrast: Contrast{Verdict: Open, Pairs: 7, P: 1}},
		{Method: "few", Trials: 6, A: mean(x[1:7]), B: mean(x[1:7]), Contrast: Contrast{Verdict: Open, Pairs: 6, P: 1}},
		{Method: "nan", Trials: 13, A: mean(slices.Delete(slices.Clone(x), 3, 4)), B: mean(slices.Delete(slices.Clone(x), 3, 4)), Contrast: Contrast{Verdict: Open, Pairs: 6, P: 1}},
	} {
		got := c.Scores[0].Rows[i]
		if got.Method != want.Method || got.Trials != want.Trials || !near(got.A, want.A) || !near(got.B, want.B) ||
			got.Verdict != want.Verdict || got.Pairs != want.Pairs || !near(got.Difference, want.Difference) || !near(got.P, want.P) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	for i, significant := range []bool{true, false, false, false} {
		if (c.Scores[0].Rows[i].Verdict == Different) != significant {
			t.Errorf("%s is significantly different: %v", c.Scores[0].Rows[i].Method, !significant)
		}
	}
}

func TestComparisonRefuses(t *testing.T) {
	a := compared("one", rising, "nmf", "cf")
	for name, b := range map[string]Compared{
		"other methods": compared("two", rising, "gnmf"),
		"no trials":     {Name: "two", Methods: []string{"nmf"}},
	} {
		if _, err := NewComparison(a, b, Tests{}); err == nil || !strings.Contains(err.Error(), "no trial in common") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	b := compared("two", rising, "nmf")
	for i := range b.Records {
		b.Records[i].Classes += 5
	}
	if _, err := NewComparison(a, b, Tests{}); err == nil || !strings.Contains(err.Error(), "no trial in common") {
		t.Errorf("other numbers of classes: error %v", err)
	}
	b = compared("two", rising, "nmf")
	b.Records[5].Samples = 11
	if _, err := NewComparison(a, b, Tests{}); err == nil || !strings.Contains(err.Error(), "2 classes, repeat 6: one experiment has 10 samples, the other 11") {
		t.Errorf("other samples: error %v", err)
	}
}

// TestComparisonPrinted: each format, with names that contain code.
func TestComparisonPrinted(t *testing.T) {
	const evil = "=a|b\x1b[31m"
	a := compared("one\x1b[2J", rising, "nmf", evil)
	b := compared("two", func(m string, trial int) float64 {
		if m == evil {
			return rising(m, trial) - 0.2 - float64(trial)/1000
		}
		return rising(m, trial)
	}, "nmf", evil, "new_one")
	b.Records = slices.DeleteFunc(b.Records, func(r record.Record) bool { return r.Method == "nmf" && r.Classes == 3 })
	c, err := NewComparison(a, b, Tests{})
	if err != nil {
		t.Fatal(err)
	}
	c.Differences = []pipeline.Difference{{Setting: "features", A: "8×8 pixels", B: "hog"}}
	var text, bold, markdown, csv strings.Builder
	for _, err := range []error{Text(&text, c.Document(), Options{Width: 60}), Text(&bold, c.Document(), Options{Colour: true}), writeMarkdown(&markdown, c.Document(), Options{}), writeCSV(&csv, c.Document(), Options{})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, got := range map[string]string{"text": text.String(), "Markdown": markdown.String(), "CSV": csv.String()} {
		if strings.Contains(got, "\x1b") {
			t.Errorf("%s has escapes:\n%q", name, got)
		}
	}
	if !strings.Contains(bold.String(), "\x1b[1m−20.7\x1b[0m") || strings.Count(bold.String(), "\x1b") != 2 {
		t.Errorf("the significant difference alone is not bold:\n%q", bold.String())
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if utf8.RuneCountInString(line) > 60 {
			t.Errorf("wider than 60 columns: %q", line)
		}
	}
	golden(t, "comparison.txt", text.String())
	golden(t, "comparison.md", markdown.String())
	golden(t, "comparison.csv", csv.String())
}
