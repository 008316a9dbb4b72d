package figure

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestConfusion(t *testing.T) {
	names := []string{"Coast & sea", "Forest", "a class with a name that is much too long for an axis"}
	f, err := Confusion([][]int{{3, 1, 0}, {0, 0, 5}, {0, 0, 0}}, names)
	if err != nil {
		t.Fatal(err)
	}
	picture, svg := drawn(t, f)
	for word, times := range map[string]int{"75": 1, "25": 1, "100": 1, "0": 0, "Coast &amp; sea": 2, "Forest": 2, "True class": 1, "Predicted class": 1} {
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
		w, h := f.w, f.h
		if w.Points() > most || w != h {
			t.Errorf("%d classes: %v×%v points", classes, w, h)
		}
		var svg strings.Builder
		if err := f.Write(t.Context(), &svg, "svg"); err != nil {
			t.Fatal(err)
		}
		if numbers := strings.Count(svg.String(), ">75</text>"); numbers != classes && classes <= 40 {
			t.Errorf("%d classes: %d numbers", classes, numbers)
		}
	}
}

func TestConfusionErrors(t *testing.T) {
	if _, err := Confusion(nil, nil); !errors.Is(err, ErrNoData) {
		t.Errorf("got error %v, want %v", err, ErrNoData)
	}
}
