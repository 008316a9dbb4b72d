package pipeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestTrialsKeepTheirIdentity: a run goes on from the log of an earlier version, since
// the same settings on the same data have the same identity.
func TestTrialsKeepTheirIdentity(t *testing.T) {
	for text, want := range map[string][]string{
		`{name: a, methods: [kmeans, {name: nmf, iterations: 30, tolerance: 1e-4}, {name: ccf, init: nmf, as: CCF}, {name: gnmf, lambda: [1, 10], edges: cosine, cluster: ncut}, {name: parts, cost: kl, tie: labels}],
		  classes: [2, 3], repeats: 1, labels: {share: 30%, min: 1}, links: 10%, rank: k+1, cluster: {by: kmeans, distance: cosine, start: k-means++, restarts: 3}, seed: 4}`: {
			"c83b8914a637aaf7", "17d968896b255c97", "71bd6648654b012d", "53e96b18345cc138", "59402aab5b45c50e", "06cc27fcf9335448",
			"7a5606cead2425b5", "895d01b567a88fc7", "01db15b28ce88ffb", "c1c3d1c078413975", "6f20de7557510cd3", "66de7a2c6e17c1a6",
		},
		`{name: b, task: classify, methods: [original, lccf, {name: lccf, as: not, recode: false}, {name: d-snmf, must: 2, recode: true}], train: 40%, test: rest, rank: [2, 3], neighbours: {k: 3, distance: cosine}, repeats: 1}`: {
			"7ee31466b337d458", "bc20ca6925bd1bb4", "391e53b1652386e1", "2a1a5955561efce5",
			"52d02ff0ab287e16", "6e37c8f7fad4f6b1", "ad73e3f0b376a5cc", "4e81328ab62e9d6f",
		},
	} {
		var got []string
		p := newPlan(t, text, testkit.CSV(t, 9, 10, 11))
		for _, trial := range p.trials {
			got = append(got, trial.id)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.Experiment.Name, diff)
		}
	}
}
