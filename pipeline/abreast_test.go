package pipeline

import (
	"fmt"
	"testing"
)

// TestAbreast: repeats go side by side, each in its own order, and no trial is lost.
func TestAbreast(t *testing.T) {
	trials := func(of ...int) (out []trial) { // repeat and number of each
		for _, n := range of {
			out = append(out, trial{repeat: n / 10, rank: n % 10})
		}
		return out
	}
	for _, c := range []struct {
		todo    []trial
		repeats int
		want    []trial
	}{
		{nil, 2, nil},
		{trials(1, 2, 11, 12, 21, 22), 1, trials(1, 2, 11, 12, 21, 22)},
		{trials(1, 2, 11, 12, 21, 22), 2, trials(1, 11, 2, 12, 21, 22)},
		{trials(1, 11, 12, 13, 31), 2, trials(1, 11, 12, 13, 31)},
		{trials(1, 2, 11, 21, 22, 23), 8, trials(1, 11, 21, 2, 22, 23)},
	} {
		if got := abreast(c.todo, c.repeats); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v, %d repeats: %v, want %v", c.todo, c.repeats, got, c.want)
		}
	}
}
