package pipeline

import "testing"

// TestIdentities: trials keep the identities by which a run goes on from a log, whatever
// becomes of the types of settings.
func TestIdentities(t *testing.T) {
	for text, want := range map[string]string{
		`{name: x, data: {set: generated, largest: 4}, features: {pixels: 8}, classes: 2, repeats: 1, labels: 30%, links: 3%, seed: 7, rank: k+1,
			methods: [{name: gnmf, lambda: 10, edges: heat, init: nmf, iterations: 20, tolerance: 1e-3, cluster: ncut}],
			cluster: {by: kmeans, distance: cosine, start: k-means++, restarts: 5}}`: "d5d74ec1973ec31a",
		`{name: x, data: {set: generated, largest: 4}, features: {pixels: 8}, classes: 2, repeats: 1, task: classify, train: 50%, test: rest,
			methods: [{name: sda, alpha: [1e1, 0.10], as: y}], neighbours: {k: 3, distance: cosine}}`: "74a59c69520de32e",
		`{name: x, data: {set: generated, largest: 4}, features: {pixels: 8}, classes: 2, repeats: 1, methods: [kmeans]}`: "041212a97e5328f3",
	} {
		e, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		in, err := e.Prepare(t.Context(), PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan(t.Context(), e, in)
		if err != nil {
			t.Fatal(err)
		}
		in.Close()
		if got := p.identify(p.trials[0], "data"); got != want {
			t.Errorf("%s: the identity is %s, want %s", text, got, want)
		}
	}
}
