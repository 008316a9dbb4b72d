package spec

import (
	"strings"
	"testing"
)

// TestTuneFeatures: each candidate of a choice must support the features.
func TestTuneFeatures(t *testing.T) {
	e, err := Parse([]byte("methods: [{name: parts, tune: {cost: [frobenius, kl], basis: [concept], by: stability}}]"))
	if err != nil {
		t.Fatal(err)
	}
	m := e.Methods[0]
	const want = "parts cost=kl basis=concept needs values of 0 or more"
	if err := m.CheckFeatures(Features{Whiten: 3}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if got := m.String(); got != "parts, cost frobenius, kl and basis concept chosen in each draw by the stability of restarts" {
		t.Errorf("described as %q", got)
	}
}
