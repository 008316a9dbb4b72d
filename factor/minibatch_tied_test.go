package factor

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestMiniBatchTied: samples of a class have equal coefficients. With one block, the objective is near the one of the fit
// in memory; with more, it is a little higher. Coefficients in a file are the same.
func TestMiniBatchTied(t *testing.T) {
	x := digits(420, 30, 6)
	labels := make([]int, 420)
	for i := range labels {
		if labels[i] = -1; i%3 > 0 || i < 40 {
			labels[i] = []int{7, 2, 0, 4}[i%4]
		}
	}
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		opt := Options{Rank: 6, Seed: 2, Iterations: 60}
		full, err := Parts{Cost: cost, Tie: TieLabels}.Fit(t.Context(), x, Known{Labels: labels}, Options{Rank: 6, Seed: 2, Iterations: 300, Solver: Fast{}})
		if err != nil {
			t.Fatal(err)
		}
		want := full.Objective[full.Iterations()]
		for _, samples := range []int{420, 64} {
			stored := storedRows{mat.NewDense(420, 6, nil)}
			b := MiniBatch{Cost: cost, Samples: samples, Labels: labels}
			res, err := b.Fit(t.Context(), &testBlocks{x: x}, opt)
			if err != nil {
				t.Fatal(err)
			}
			if got := res.Objective[res.Iterations()]; math.Abs(got-want) > 0.05*want {
				t.Errorf("%v, blocks of %d: objective %v, in memory %v", cost, samples, got, want)
			}
			first := map[int]int{}
			sum := 0.0
			for i, label := range labels {
				v := res.Coefficients.RawRowView(i)
				if j, seen := first[label]; label >= 0 && !seen {
					first[label] = i
				} else if label >= 0 && !mat.Equal(res.Coefficients.RowView(j), res.Coefficients.RowView(i)) {
					t.Fatalf("%v: samples %d and %d of class %d have other coefficients", cost, i, j, label)
				}
				for j := range 30 {
					sum += costs[cost].term(x.At(i, j), mat.Dot(mat.NewVecDense(6, v), res.Basis.RowView(j)))
				}
			}
			nearNumber(t, "objective", res.Objective[res.Iterations()], sum, 1e-9)
			b.Coefficients = stored
			if again, err := b.Fit(t.Context(), &testBlocks{x: x}, opt); err != nil || again.Coefficients != nil || !mat.Equal(stored, res.Coefficients) {
				t.Errorf("%v: other coefficients in a file: %v", cost, err)
			}
		}
	}
}

// TestMiniBatchTiedRefuses: errors name the sample in the data, not the condensed row.
func TestMiniBatchTiedRefuses(t *testing.T) {
	labels := []int{-1, 0, -1, 0, 1, -1}
	for want, change := range map[string]func(b *MiniBatch, x *mat.Dense){
		"3 column 2: value -1":               func(_ *MiniBatch, x *mat.Dense) { x.Set(3, 1, -1) },
		"5 column 1: value -2":               func(_ *MiniBatch, x *mat.Dense) { x.Set(5, 0, -2) },
		"need labelled samples":              func(b *MiniBatch, _ *mat.Dense) { b.Labels = []int{-1, -1, -1, -1, -1, -1} },
		"5 labels":                           func(b *MiniBatch, _ *mat.Dense) { b.Labels = labels[:5] },
		"labels with cost frobenius or kl":   func(b *MiniBatch, _ *mat.Dense) { b.Cost = CostItakuraSaito },
		"without missing values":             func(b *MiniBatch, _ *mat.Dense) { b.Missing = true },
		"coefficients are 5×2; expected 6×2": func(b *MiniBatch, _ *mat.Dense) { b.Coefficients = storedRows{mat.NewDense(5, 2, nil)} },
	} {
		b, x := MiniBatch{Labels: labels}, random(6, 3)
		change(&b, x)
		_, err := b.Fit(t.Context(), &testBlocks{x: x}, Options{Rank: 2, Seed: 1})
		said := ""
		if bad := (*SampleError)(nil); errors.As(err, &bad) {
			said = string(rune('0'+bad.Sample)) + " "
			if said += bad.Problem; !strings.HasPrefix(said, want) {
				t.Errorf("%s, want %s", said, want)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
