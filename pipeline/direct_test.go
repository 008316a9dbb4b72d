package pipeline

import (
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestLeadingDirections: what is fitted once for several ranks is what is fitted
// for each.
func TestLeadingDirections(t *testing.T) {
	const text = `{name: x, task: classify, methods: [pca, lda, mfa, sda], train: 6, test: rest, repeats: 2, rank: RANK}`
	set := testkit.CSV(t, 12, 10, 11)
	all, err := newPlan(t, strings.Replace(text, "RANK", "[1, 2, 5]", 1), set).Run(t.Context(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, rank := range []string{"1", "2", "5"} {
		one, err := newPlan(t, strings.Replace(text, "RANK", rank, 1), set).Run(t.Context(), nil, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range one {
			for _, a := range all {
				if a.Trial == r.Trial {
					compared++
					if a.Scores["accuracy"] != r.Scores["accuracy"] {
						t.Errorf("%s, rank %s: accuracy %v among other ranks, %v alone", r.Method, rank, a.Scores["accuracy"], r.Scores["accuracy"])
					}
				}
			}
		}
	}
	if compared != 3*2*4 {
		t.Errorf("%d trials compared, want 24", compared)
	}
}
