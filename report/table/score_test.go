package table

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// amounts are records of a score in nats for which less is better: method k has about 2·k, at two numbers of classes or
// ranks.
func amounts(methods []string, row int) []record.Record {
	var records []record.Record
	for _, k := range []int{2, 3} {
		for repeat := range 6 {
			for m, method := range methods {
				v := 2*float64(m+1) + 0.1*float64(k) + 0.01*float64(repeat*(m+1))
				records = append(records, record.Record{Classes: k, Row: row * k, Repeat: repeat, Method: method, Scores: map[string]float64{"VI": v}})
			}
		}
	}
	return records
}

// TestLowerIsBetter: tables, findings and choices prefer low values of such a score, in its own unit.
func TestLowerIsBetter(t *testing.T) {
	methods := []string{"a", "b"}
	table := New(amounts(methods, 0), "VI", methods, Tests{})
	for _, row := range append(table.Rows, *table.Average) {
		if !row.Cells[0].Best || row.Cells[1].Best || row.Cells[1].Pairs == 0 {
			t.Errorf("row %d: %+v", row.Number, row.Cells)
		}
	}
	var text bytes.Buffer
	if err := Text(&text, table.Document(), Options{}); err != nil {
		t.Fatal(err)
	}
	if s := text.String(); !strings.Contains(s, "in nats, mean ±") || !strings.Contains(s, "2.225 ± 0.019 *") || strings.Contains(s, "percent") {
		t.Errorf("table\n%s", s)
	}
	if got := table.Finding(); !strings.HasSuffix(got, "a is best on average (2.275\u00a0nats).") {
		t.Errorf("finding %q", got)
	}
	best := NewBest(amounts(methods, 1), "VI", methods, nil, Tests{})
	if r := best.Rows[0]; r.Method != "a" || !r.Cell.Best || math.Abs(r.Cell.Mean-2.225) > 1e-9 {
		t.Errorf("at the best rank: %+v", best.Rows)
	}
}

// TestValue: formatted values, also of unknown scores.
func TestValue(t *testing.T) {
	for _, c := range []struct {
		score string
		v     float64
		want  string
	}{
		{"AC", 0, "0.0"}, {"AC", 1, "100.0"}, {"AC", 0.74049, "74.0"}, {"ARI", -0.00001, "0.0"}, {"ARI", -0.021, "-2.1"},
		{"VI", 1.23456, "1.235"}, {"VI free", -0.0001, "0.000"}, {"zeal", 1234567, "1.235e+06"}, {"zeal", -2, "-2.000"},
	} {
		s := findScore(c.score)
		if got := formatValue(s, c.v); got != c.want {
			t.Errorf("%s of %v is %q, want %q", c.score, c.v, got, c.want)
		}
	}
	if got := scoreLabel(findScore("zeal free")); got != "Zeal of the unlabelled samples" {
		t.Errorf("label %q", got)
	}
}
