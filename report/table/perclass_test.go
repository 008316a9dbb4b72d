package table

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/report/internal/reporttest"
)

// damagedConfusions have impossible classes and cannot be drawn.
func damagedConfusions() []record.Record {
	return []record.Record{
		confused("a", 5, nil, []int{1, 0}, []int{0, 1}),
		confused("a", 6, []int{0, 1}, []int{1, 0, 0}, []int{0, 1, 0}, []int{0, 0, 1}),
		confused("a", 7, []int{0, 3}, []int{1, 0}, []int{0, 1}),
		confused("a", 8, []int{-1, 0}, []int{1, 0}, []int{0, 1}),
		confused("a", 9, nil, []int{1, 0, 0}, []int{0}, []int{0, 0, 1}),
		{Method: "a"},
	}
}

// TestTotalConfusion: counts are added by class, also if not all classes are drawn.
func TestTotalConfusion(t *testing.T) {
	records := append([]record.Record{
		confused("a", 0, []int{2, 0}, []int{3, 1}, []int{2, 4}),
		confused("a", 1, nil, []int{1, 0, 0}, []int{0, 1, 0}, []int{5, 0, 1}),
	}, damagedConfusions()...)
	want := [][]int{{5, 0, 2}, {0, 1, 0}, {6, 0, 4}}
	if diff := cmp.Diff(want, TotalConfusion(records, 3)); diff != "" {
		t.Error(diff)
	}
	if got := TotalConfusion(damagedConfusions(), 3); got != nil {
		t.Errorf("of records without confusions: %v", got)
	}
}

func TestPerClass(t *testing.T) {
	records := append([]record.Record{
		confused("a", 0, []int{2, 0}, []int{3, 1}, []int{2, 4}),
		confused("a", 1, nil, []int{1, 3, 0}, []int{0, 0, 0}, []int{5, 0, 5}),
		confused("b", 0, []int{2, 0}, []int{4, 0}, []int{0, 6}),
	}, damagedConfusions()...)
	table := PerClass(records, []string{"a", "b"}, []string{"x", "y_1", "z"}, Tests{})
	if len(table.Rows) != 2 || table.Rows[0].Name != "x" || table.Rows[1].Name != "z" {
		t.Fatalf("%+v", table.Rows)
	}
	for i, want := range [][]float64{{(4.0/6 + 1.0/4) / 2, 1}, {(3.0/4 + 1.0/2) / 2, 1}} {
		for j, mean := range want {
			if c := table.Rows[i].Cells[j]; !near(c.Mean, mean) {
				t.Errorf("%s of %s: got %+v, want %v", table.Rows[i].Name, table.Methods[j], c, mean)
			}
		}
	}
	if none := PerClass(nil, []string{"a"}, nil, Tests{}); len(none.Rows) != 0 {
		t.Errorf("without records %+v", none.Rows)
	}
}

func TestPerClassRenderers(t *testing.T) {
	table := PerClass(classRecords([]string{"nmf", "d-snmf"}, 6), []string{"nmf", "d-snmf"}, []string{"Coast", "Open_country", "Tall building"}, Tests{})
	table.Name = "scenes"
	if c := table.Average.Cells; c[0].Pairs+c[1].Pairs > 0 {
		t.Errorf("the average is tested: %+v", c)
	}
	for extension, write := range renderers(table) {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, "classes."+extension, b.String())
	}
}

// classRecords are confusions of three classes by two methods.
func classRecords(methods []string, repeats int) []record.Record {
	var records []record.Record
	for repeat := range repeats {
		for m, method := range methods {
			wrong := func(class int) int { return int(5+4*reporttest.Noise(method, class, repeat)) - m }
			r := confused(method, repeat, nil,
				[]int{20 - wrong(0), wrong(0), 0}, []int{wrong(1), 20 - wrong(1), 0}, []int{0, wrong(2), 20 - wrong(2)})
			r.Scores["accuracy"] = float64(60-wrong(0)-wrong(1)-wrong(2)) / 60
			records = append(records, r)
		}
	}
	return records
}
