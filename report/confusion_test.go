package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// confused makes a record of a confusion.
func confused(method string, repeat int, drawn []int, counts ...[]int) pipeline.Record {
	return pipeline.Record{
		Classes: len(counts), Repeat: repeat, Method: method, Tested: 10,
		Scores: map[string]float64{"accuracy": 0.5}, Confusion: counts, Drawn: drawn,
	}
}

func TestConfusion(t *testing.T) {
	names := []string{"Coast & sea", "Forest", "a class with a name that is much too long for an axis"}
	f, err := Confusion([][]int{{3, 1, 0}, {0, 0, 5}, {0, 0, 0}}, names)
	if err != nil {
		t.Fatal(err)
	}
	picture, svg := drawn(t, f)
	for word, times := range map[string]int{"75": 1, "25": 1, "100": 1, "0": 0, "Coast &amp; sea": 2, "Forest": 2, "True class": 1, "Class found": 1} {
		if got := strings.Count(string(svg), ">"+word+"</text>"); got != times {
			t.Errorf("%q stands %d times in the drawing, want %d", word, got, times)
		}
	}
	if strings.Contains(string(svg), "much too long") || !strings.Contains(string(svg), "…") {
		t.Error("a long name is not shortened")
	}
	// The full cell is in the full colour.
	if found := colours(t, picture); found[rgba(0)] < 1500 {
		t.Errorf("%d pixels in the colour of 100 %%", found[rgba(0)])
	}
}

func TestConfusionSizes(t *testing.T) {
	for classes, most := range map[int]float64{2: 200, 13: 400, 40: 620, 101: 640, 400: 900} {
		counts, names := make([][]int, classes), make([]string, classes)
		for i := range counts {
			counts[i] = make([]int, classes)
			counts[i][i], counts[i][(i+1)%classes] = 3, 1
			names[i] = fmt.Sprintf("class %d", i)
		}
		f, err := Confusion(counts, names)
		if err != nil {
			t.Fatal(err)
		}
		w, h := f.size()
		if w.Points() > most || w != h {
			t.Errorf("%d classes: %v×%v points", classes, w, h)
		}
		var svg strings.Builder
		if err := f.SVG(&svg); err != nil {
			t.Fatal(err)
		}
		if numbers := strings.Count(svg.String(), ">75</text>"); numbers != classes && classes <= 40 {
			t.Errorf("%d classes: %d numbers", classes, numbers)
		}
	}
}

func TestConfusionErrors(t *testing.T) {
	if _, err := Confusion(nil, nil); !errors.Is(err, ErrNoData) {
		t.Errorf("error %v, want %v", err, ErrNoData)
	}
	if _, err := Confusion([][]int{{1}}, []string{"a", "b"}); err == nil {
		t.Error("one class of two: no error")
	}
	if _, err := Confusion([][]int{{1, 2}, {1}}, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "b has counts of 1") {
		t.Errorf("a short row: %v", err)
	}
}

// damagedConfusions cannot be drawn: they are of no classes that there are.
func damagedConfusions() []pipeline.Record {
	return []pipeline.Record{
		confused("a", 5, nil, []int{1, 0}, []int{0, 1}),
		confused("a", 6, []int{0, 1}, []int{1, 0, 0}, []int{0, 1, 0}, []int{0, 0, 1}),
		confused("a", 7, []int{0, 3}, []int{1, 0}, []int{0, 1}),
		confused("a", 8, []int{-1, 0}, []int{1, 0}, []int{0, 1}),
		confused("a", 9, nil, []int{1, 0, 0}, []int{0}, []int{0, 0, 1}),
		{Method: "a"},
	}
}

// TestTotalConfusion: counts are added up by class, also where not all are drawn.
func TestTotalConfusion(t *testing.T) {
	records := append([]pipeline.Record{
		confused("a", 0, []int{2, 0}, []int{3, 1}, []int{2, 4}),
		confused("a", 1, nil, []int{1, 0, 0}, []int{0, 1, 0}, []int{5, 0, 1}),
	}, damagedConfusions()...)
	want := [][]int{{5, 0, 2}, {0, 1, 0}, {6, 0, 4}}
	if diff := cmp.Diff(want, totalConfusion(records, 3)); diff != "" {
		t.Error(diff)
	}
	if got := totalConfusion(damagedConfusions(), 3); got != nil {
		t.Errorf("of records without confusions: %v", got)
	}
}

func TestPerClass(t *testing.T) {
	records := append([]pipeline.Record{
		confused("a", 0, []int{2, 0}, []int{3, 1}, []int{2, 4}),
		confused("a", 1, nil, []int{1, 3, 0}, []int{0, 0, 0}, []int{5, 0, 5}),
		confused("b", 0, []int{2, 0}, []int{4, 0}, []int{0, 6}),
	}, damagedConfusions()...)
	table := PerClass(records, []string{"a", "b"}, []string{"x", "y_1", "z"})
	if len(table.Rows) != 2 || table.Rows[0].Name != "x" || table.Rows[1].Name != "z" {
		t.Fatalf("%+v", table.Rows)
	}
	for i, want := range [][]float64{{(4.0/6 + 1.0/4) / 2, 1}, {(3.0/4 + 1.0/2) / 2, 1}} {
		for j, mean := range want {
			if c := table.Rows[i].Cells[j]; !near(c.Mean, mean) {
				t.Errorf("%s of %s: %+v, want %v", table.Rows[i].Name, table.Methods[j], c, mean)
			}
		}
	}
	if none := PerClass(nil, []string{"a"}, nil); len(none.Rows) != 0 {
		t.Errorf("without records %+v", none.Rows)
	}
}

// classRecords are confusions of three classes by two methods.
func classRecords(methods []string, repeats int) []pipeline.Record {
	var records []pipeline.Record
	for repeat := range repeats {
		for m, method := range methods {
			wrong := func(class int) int { return int(5+4*noise(method, class, repeat)) - m }
			r := confused(method, repeat, nil,
				[]int{20 - wrong(0), wrong(0), 0}, []int{wrong(1), 20 - wrong(1), 0}, []int{0, wrong(2), 20 - wrong(2)})
			r.Scores["accuracy"] = float64(60-wrong(0)-wrong(1)-wrong(2)) / 60
			records = append(records, r)
		}
	}
	return records
}

func TestPerClassRenderers(t *testing.T) {
	table := PerClass(classRecords([]string{"nmf", "d-snmf"}, 6), []string{"nmf", "d-snmf"}, []string{"Coast", "Open_country", "Tall building"})
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
