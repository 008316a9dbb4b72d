package row

import "testing"

// TestMarkdown: a row holds medians, and the median of what share ours is of each pair.
func TestMarkdown(t *testing.T) {
	for want, r := range map[string]Row{
		"| p | other 1 | 9 | 1 | 1/9 |  | |  | n |\n":           {Problem: "p", Beside: "other 1", Theirs: []float64{9, 3, 120}, Ours: []float64{1, 1, 1}, Note: "n"},
		"| p | o | 120 | 0.012 | 1/1e+04 | 2 | 3 | 1.50 |  |\n": {Problem: "p", Beside: "o", Theirs: []float64{120}, Ours: []float64{0.012}, TheirsProcessor: []float64{2}, OursProcessor: []float64{3}},
	} {
		if got := r.Markdown(); got != want {
			t.Errorf("got  %swant %s", got, want)
		}
	}
}
