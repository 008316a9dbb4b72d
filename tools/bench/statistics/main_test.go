package main

import (
	"math"
	"testing"
)

// TestStudies: of a few tables the marks of ours are hardly ever wrong, those of plain tests are
// where there are many or where classes differ, and a large gap is seen.
func TestStudies(t *testing.T) {
	const n = 60
	tell := func(s study, w way) (any, marked float64) {
		var c count
		for i := range n {
			e, err := s.make(i)
			if err != nil {
				t.Fatal(err)
			}
			c.add(w.judge(e))
		}
		return float64(c.any) / n, c.marked / n
	}
	for _, s := range falseStudies(t.Context()) {
		if any, _ := tell(s, ways[0]); any > 0.05+3*math.Sqrt(0.05*0.95/n) {
			t.Errorf("%s: %v of the tables have a false mark", s.what, any)
		}
	}
	most := falseStudies(t.Context())[1]
	if any, _ := tell(most, ways[3]); any < 0.5 {
		t.Errorf("%s: the plain test is wrong in %v of the tables only", most.what, any)
	}
	power := powerStudies()
	if _, marked := tell(power[2], ways[0]); marked < 0.5 {
		t.Errorf("%s: %v are marked", power[2].what, marked)
	}
}
