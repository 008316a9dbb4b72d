package table

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/pipeline/record"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestTableCells(t *testing.T) {
	records := slices.Concat(
		scored("a", 2, 0.5, 0.6, 0.7, 0.8, 0.9, 0.6, 0.7),
		scored("b", 2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.5, 0.6),
		scored("a", 10, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3),
		scored("b", 10, 0.2, 0.4, 0.2, 0.4, 0.2, 0.4, 0.2),
		scored("unasked", 2, 1),
	)
	table := New(records, "AC", []string{"b", "a"}, Tests{})
	if table.Repeats != 7 || len(table.Rows) != 2 || table.Rows[0].Number != 2 || table.Rows[1].Number != 10 {
		t.Fatalf("rows %+v", table.Rows)
	}
	a := table.Rows[0].Cells[1]
	mean, sd := eval.MeanSD([]float64{0.5, 0.6, 0.7, 0.8, 0.9, 0.6, 0.7})
	if a.N != 7 || !near(a.Mean, mean) || !near(a.SD, sd) || !a.HasSD || !a.Best || a.Pairs != 0 {
		t.Errorf("best cell %+v, want mean %v and deviation %v", a, mean, sd)
	}
	b := table.Rows[0].Cells[0]
	// All seven differences are equal: p = 2/2⁷, and at least twice that for the two rows, which have half of the
	// correction.
	if b.Best || b.Pairs != 7 || !near(b.Raw, 2.0/128) || b.P < 4.0/128 || !near(b.Difference, -0.1) || b.HasInterval || b.HasEffect || b.Biserial != -1 || table.Comparisons != 3 {
		t.Errorf("worse cell %+v of %d, want p %v", b, table.Comparisons, 2.0/128)
	}
	if c := table.Rows[1].Cells[0]; !c.Tied() {
		t.Errorf("cell %+v differs by chance only and should be tied", c)
	}
	average := table.Average.Cells[0]
	if !table.Average.Average || average.N != 14 || average.Pairs != 7 ||
		!near(average.Mean, (table.Rows[0].Cells[0].Mean+table.Rows[1].Cells[0].Mean)/2) ||
		!near(average.SD, (table.Rows[0].Cells[0].SD+table.Rows[1].Cells[0].SD)/2) {
		t.Errorf("average %+v", average)
	}
}

func TestTableMissing(t *testing.T) {
	records := slices.Concat(
		scored("a", 2, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9),
		scored("b", 2, 0.8, 0.8, 0.8),
		scored("a", 3, 0.5, math.NaN(), math.Inf(1)),
	)
	records[0].Scores["NMI"] = 0.4
	table := New(records, "AC", []string{"a", "b", "never"}, Tests{})
	short := table.Rows[0].Cells[1]
	if short.N != 3 || short.Pairs != 0 || short.Tied() {
		t.Errorf("three pairs are too few for a test: %+v", short)
	}
	want := Cell{N: 1, Mean: 0.5}
	if got := table.Rows[1].Cells[0]; got != want {
		t.Errorf("got %+v, want %+v: scores that are not finite do not count, and alone is not best", got, want)
	}
	for _, i := range []int{1, 2} {
		if c := table.Rows[1].Cells[i]; c != (Cell{}) {
			t.Errorf("cell without trials %+v", c)
		}
		if c := table.Average.Cells[i]; c != (Cell{}) {
			t.Errorf("%s lacks a row, and its average is %+v", table.Methods[i], c)
		}
	}
	if c := table.Average.Cells[0]; c.N != 7 || !near(c.Mean, 0.7) || c.SD != 0 || !c.HasSD {
		t.Errorf("average %+v", c)
	}
	if nmi := New(records, "NMI", table.Methods, Tests{}); len(nmi.Rows) != 1 || nmi.Average != nil {
		t.Errorf("one record has the score, rows %+v", nmi.Rows)
	}
	if none := New(nil, "AC", table.Methods, Tests{}); len(none.Rows) != 0 || none.Average != nil {
		t.Errorf("rows without records: %+v", none.Rows)
	}
}

// Pairs are matched by repeat, not by position.
func TestTablePairsRepeats(t *testing.T) {
	a := scored("a", 2, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2)
	b := scored("b", 2, 0.89, 0.78, 0.67, 0.56, 0.45, 0.34, 0.23, 0.12)
	records := slices.Concat(a[1:], b[:7])
	c := New(records, "AC", []string{"a", "b"}, Tests{}).Rows[0].Cells
	best, other := c[1], c[0] // b lacks its worst repeat, and a its best
	if !best.Best || other.Pairs != 6 || !near(other.P, significance.NewResampled([]float64{0.8, 0.7, 0.6, 0.5, 0.4, 0.3}, []float64{0.78, 0.67, 0.56, 0.45, 0.34, 0.23}, 0).P()) {
		t.Errorf("cells %+v, want a test over the six repeats that both have", c)
	}
}

func TestTableTies(t *testing.T) {
	same := []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}
	reversed := slices.Clone(same)
	slices.Reverse(reversed)
	records := slices.Concat(scored("a", 2, same...), scored("b", 2, reversed...), scored("c", 2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1))
	cells := New(records, "AC", []string{"a", "b", "c"}, Tests{}).Rows[0].Cells
	if !cells[0].Best || !cells[1].Best || cells[2].Best {
		t.Errorf("the two equal means are both best: %+v", cells)
	}
}

func TestTableOneRepeat(t *testing.T) {
	records := fakeRecords(sevenMethods, []int{2, 3}, 1)
	table := New(records, "AC", sevenMethods, Tests{})
	for _, row := range table.allRows() {
		for i, c := range row.Cells {
			if c.SD != 0 || c.HasSD || c.Pairs != 0 || c.Tied() {
				t.Errorf("%s of %s claims too much: %+v", table.Methods[i], row.label(), c)
			}
		}
	}
}

func TestTableOneMethod(t *testing.T) {
	for _, row := range New(fakeRecords([]string{"nmf"}, []int{2, 3}, 8), "AC", []string{"nmf"}, Tests{}).allRows() {
		if c := row.Cells[0]; c.Best || c.Pairs != 0 {
			t.Errorf("a method alone is not the best: %+v", c)
		}
	}
}

// Neither the order of the records nor earlier records of a trial matter.
func TestTableOrder(t *testing.T) {
	records := fakeRecords(sevenMethods, []int{2, 3, 10}, 8)
	want := New(records, "NMI", sevenMethods, Tests{})
	shuffled := slices.Clone(records)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	earlier := shuffled[0]
	earlier.Scores = map[string]float64{"NMI": 0}
	if diff := cmp.Diff(want, New(slices.Insert(shuffled, 0, earlier), "NMI", sevenMethods, Tests{}), cmpopts.IgnoreUnexported(Row{}, Tests{}), cmpopts.IgnoreFields(eval.Score{}, "Value")); diff != "" {
		t.Error(diff)
	}
}

// TestTableOfRanks: rows are ranks if the records have rows.
func TestTableOfRanks(t *testing.T) {
	var records []record.Record
	for _, rank := range []int{10, 5} {
		for repeat := range 2 {
			records = append(records, record.Record{
				Row: rank, Rank: rank, Classes: 4, Repeat: repeat, Method: "pca", Tested: 3,
				Scores: map[string]float64{"accuracy": float64(rank) / 20},
			})
		}
	}
	table := New(records, "accuracy", []string{"pca"}, Tests{})
	if !table.Ranks || len(table.Rows) != 2 || table.Rows[0].Number != 5 || table.Rows[1].Cells[0].Mean != 0.5 {
		t.Errorf("got %+v", table)
	}
	var text strings.Builder
	if err := Text(&text, table.Document(), Options{}); err != nil || !strings.Contains(text.String(), "Rank") || strings.Contains(text.String(), "Classes") {
		t.Errorf("%v\n%s", err, text.String())
	}
}
