package significance

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// Test is a significance test.
type Test int

const (
	ByT               Test = iota // the paired t-test corrected for the overlap of draws, NewResampled
	BySignedRank                  // Wilcoxon
	ByBayesT                      // Resampled.Beyond
	ByBayesSignedRank             // BayesSignedRank
	ByNone                        // no test
)

var tests = enum.Of[Test]("test", "t", "signed-rank", "bayes-t", "bayes-signed-rank", "none")

// The names that settings use.
func (t Test) String() string                   { return tests.String(t) }
func (t *Test) UnmarshalText(name []byte) error { return tests.UnmarshalText(t, name) }
func (t Test) MarshalText() ([]byte, error)     { return tests.MarshalText(t) }
func (Test) Values() []string                   { return tests.Values() }

// Bayesian reports whether it gives probabilities of differences instead of p-values.
func (t Test) Bayesian() bool { return t == ByBayesT || t == ByBayesSignedRank }

// Correction is a correction of p-values for the number of comparisons in a table.
type Correction int

const (
	ByHolm Correction = iota
	Uncorrected
)

var corrections = enum.Of[Correction]("correction", "holm", "none")

// The names that settings use.
func (c Correction) String() string                   { return corrections.String(c) }
func (c *Correction) UnmarshalText(name []byte) error { return corrections.UnmarshalText(c, name) }
func (c Correction) MarshalText() ([]byte, error)     { return corrections.MarshalText(c) }
func (Correction) Values() []string                   { return corrections.Values() }

// Overlap is the treatment of draws that overlap.
type Overlap int

const (
	// OverlapCorrected corrects for shared classes and samples, so that results hold for others too.
	OverlapCorrected Overlap = iota
	// OverlapIgnored assumes independent draws, as they are from this one set.
	OverlapIgnored
)

var overlaps = enum.Of[Overlap]("overlap", "corrected", "ignored")

// The names that settings use.
func (o Overlap) String() string                   { return overlaps.String(o) }
func (o *Overlap) UnmarshalText(name []byte) error { return overlaps.UnmarshalText(o, name) }
func (o Overlap) MarshalText() ([]byte, error)     { return overlaps.MarshalText(o) }
func (Overlap) Values() []string                   { return overlaps.Values() }

// Rule is how a table tests differences. The zero value is the default.
type Rule struct {
	By         Test       `json:"by,omitempty" setting:"by,text" help:"significance test: t and signed-rank give p-values, bayes-t and bayes-signed-rank probabilities"`
	Correction Correction `json:"correction,omitempty" setting:"correction" help:"correction of p-values for multiple comparisons within a table"`
	Overlap    Overlap    `json:"overlap,omitempty" setting:"overlap" help:"overlap of draws: corrected generalises to new classes and samples, ignored only to new draws from this set"`
	// Rope is half the width of the region of practical equivalence: in points of a score in percent, and
	// in hundredths of another's unit. 0 means 1, and settings.None is 0.
	Rope float64 `json:"rope,omitempty" setting:"rope" default:"1" range:"[0,100]" help:"region of practical equivalence of the Bayesian tests, in points"`
}

// Width is the region of practical equivalence in the unit of scores.
func (r Rule) Width() float64 {
	switch r.Rope {
	case 0:
		return 0.01
	case settings.None:
		return 0
	}
	return r.Rope / 100
}

// String returns the rule in words.
func (r Rule) String() string {
	words := r.By.String()
	switch {
	case r.By == ByNone:
		return "not tested"
	case r.By.Bayesian():
		words += fmt.Sprintf(", practically equivalent within ±%g points", 100*r.Width())
	case r.Correction == Uncorrected:
		words += ", uncorrected for multiple comparisons"
	default:
		words += ", corrected by Holm"
	}
	if r.Overlap == OverlapIgnored {
		words += ", for draws from this set only"
	}
	return words
}

const (
	Level = 0.05 // p-values below it are significant
	Sure  = 0.95 // the least probability of a Bayesian verdict
)

// Holm returns p-values corrected for their number: at any level, the probability of a false difference among
// those below it is at most that level, however they depend on each other (Holm 1979). Larger weights are
// corrected less; nil stands for equal weights. It panics if the lengths differ.
func Holm(p, weights []float64) []float64 {
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(p))
	}
	if len(weights) != len(p) {
		panic(fmt.Sprintf("significance: %d weights for %d p-values", len(weights), len(p)))
	}
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a]/weights[a], p[b]/weights[b]) })
	left := make([]float64, len(p)+1) // the weights from one on, added up from the end
	for at, i := range slices.Backward(order) {
		left[at] = left[at+1] + weights[i]
	}
	out := make([]float64, len(p))
	least := 0.0
	for at, i := range order {
		least = max(least, min(1, p[i]/weights[i]*left[at]))
		out[i] = max(least, p[i])
	}
	return out
}
