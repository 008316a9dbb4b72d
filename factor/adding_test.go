package factor

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
)

// TestAddingPages: what docs/adding-a-*.md show is what is compiled here.
func TestAddingPages(t *testing.T) {
	for _, part := range []string{"method", "penalty", "solver", "cost"} {
		code, err := os.ReadFile("added_" + part + "_test.go")
		if err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join("..", "docs", "adding-a-"+part+".md"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), string(code)) {
			t.Errorf("docs/adding-a-%s.md shows another file than added_%s_test.go", part, part)
		}
	}
}

// TestAddingACost: an entry of the list is enough for every basis, ties and penalties; the
// objective never rises and is the sum of the terms.
func TestAddingACost(t *testing.T) {
	defer func(before []costInfo) { costs = before }(costs)
	costs = append(costs[:len(costs):len(costs)], beta32)
	var c Cost
	if err := c.UnmarshalText([]byte("beta-3/2")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Parts{
		{}, {Tie: TieLabels}, {Basis: BasisConcept}, {Basis: BasisRankOne}, {Tie: TieLabels, Weighting: WeightingNormalisedCut},
		{Penalties: []Penalty{L1{}, Graph{}}},
	} {
		p.Cost = c
		for seed := range uint64(3) {
			q := randomProblem(seed, false)
			q.opt.KeepScale = true
			res, err := ForImages(p, q.image).Fit(context.Background(), q.x, q.known, q.opt)
			if err != nil {
				t.Fatal(err)
			}
			for i, j := range res.Objective[1:] {
				if j > res.Objective[i]*(1+1e-9) {
					t.Errorf("%+v: the objective rises from %v to %v", p, res.Objective[i], j)
				}
			}
			if p.Penalties != nil || p.Weighting != WeightingEqual {
				continue
			}
			var want float64
			n, m := q.x.Dims()
			for i := range n {
				for j := range m {
					want += beta32.term(q.x.At(i, j), algebra.Dot(res.Coefficients.RawRowView(i), res.Basis.RawRowView(j)))
				}
			}
			if got := res.Objective[len(res.Objective)-1]; !(math.Abs(got-want) <= 1e-9*want) {
				t.Errorf("%+v: the objective is %v, the sum of its terms %v", p, got, want)
			}
		}
	}
}
