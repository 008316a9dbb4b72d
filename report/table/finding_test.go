package table

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/pipeline/record"
)

func TestFinding(t *testing.T) {
	same := slices.Concat(scored("a", 2, 0.5), scored("b", 2, 0.5))
	for want, table := range map[string]*Table{
		"Clustering accuracy (AC): a and b are best with 2 classes (50.0\u00a0%).": New(same, "AC", []string{"a", "b"}, Tests{}),
		"": New(same, "AC", []string{"a"}, Tests{}),
	} {
		if got := table.Finding(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := awkward().Finding(); !strings.Contains(got, "λ = 100 is best on average") {
		t.Errorf("finding %q", got)
	}
}

func TestScoresOf(t *testing.T) {
	records := []record.Record{
		{Scores: map[string]float64{"zeal": 1, "purity": 1, "NMI free": 1, "AC": 1}},
		{Scores: map[string]float64{"ARI": 1, "NMI": 1, "AC free": 1, "AC": 1}},
	}
	want := []string{"AC", "AC free", "NMI", "NMI free", "ARI", "purity", "zeal"}
	if got := ScoresOf(records); !slices.Equal(got, want) {
		t.Errorf("scores %q, want %q", got, want)
	}
}
