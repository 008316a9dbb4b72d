package pipeline

import (
	"context"
	"testing"

	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// BenchmarkTrial times one trial of each method: ten generated classes of 36
// samples with 1024 features, 200 iterations, k-means from 20 starts.
func BenchmarkTrial(b *testing.B) {
	e, err := spec.Parse([]byte(`{name: bench, data: generated, classes: 10, repeats: 1, labels: 20%, rank: k+1,
  methods: [kmeans, nmf, nmf-kl, gnmf, cnmf, cnmf-kl, cf, ccf], cluster: {distance: cosine}}`))
	if err != nil {
		b.Fatal(err)
	}
	in, err := input.Prepare(context.Background(), e, input.PrepareOptions{})
	if err != nil {
		b.Fatal(err)
	}
	p, err := NewPlan(b.Context(), e, in)
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range p.trials {
		b.Run(e.Methods[t.method].Label(), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.runTrial(context.Background(), t, p.drawsOf([]trial{t})[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
