package significance

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// Test is a significance test.
type Test int

const (
	ByT               Test = iota // corrected resampled t-test, NewResampled
	BySignedRank                  // Wilcoxon signed-rank test, Wilcoxon
	ByBayesT                      // Bayesian correlated t-test, Resampled.Beyond
	ByBayesSignedRank             // Bayesian signed-rank test, BayesSignedRank
	ByNone                        // no test
)

var tests = enum.Of[Test]("test", "t", "signed-rank", "bayes-t", "bayes-signed-rank", "none")

// String returns the name of the test in settings.
func (t Test) String() string                   { return tests.String(t) }
func (t *Test) UnmarshalText(name []byte) error { return tests.UnmarshalText(t, name) }
func (t Test) MarshalText() ([]byte, error)     { return tests.MarshalText(t) }
func (Test) Values() []string                   { return tests.Values() }

// Bayesian reports whether the test gives posterior probabilities instead of p-values.
func (t Test) Bayesian() bool { return t == ByBayesT || t == ByBayesSignedRank }

// Correction is a correction of p-values for the number of comparisons in a table.
type Correction int

const (
	ByHolm      Correction = iota // Holm's step-down correction (1979)
	Uncorrected                   // p-values as the test gives them
)

var corrections = enum.Of[Correction]("correction", "holm", "none")

// String returns the name of the correction in settings.
func (c Correction) String() string                   { return corrections.String(c) }
func (c *Correction) UnmarshalText(name []byte) error { return corrections.UnmarshalText(c, name) }
func (c Correction) MarshalText() ([]byte, error)     { return corrections.MarshalText(c) }
func (Correction) Values() []string                   { return corrections.Values() }

// Overlap is the treatment of draws that overlap.
type Overlap int

const (
	// OverlapCorrected corrects for shared classes and samples, so that results generalise to new ones.
	OverlapCorrected Overlap = iota
	// OverlapIgnored treats draws as independent, so that results hold for this data set only.
	OverlapIgnored
)

var overlaps = enum.Of[Overlap]("overlap", "corrected", "ignored")

// String returns the name of the overlap treatment in settings.
func (o Overlap) String() string                   { return overlaps.String(o) }
func (o *Overlap) UnmarshalText(name []byte) error { return overlaps.UnmarshalText(o, name) }
func (o Overlap) MarshalText() ([]byte, error)     { return overlaps.MarshalText(o) }
func (Overlap) Values() []string                   { return overlaps.Values() }

// Rule holds the settings of the tests of a table. The zero value is the default.
type Rule struct {
	By         Test       `json:"by,omitempty" setting:"by,text" help:"significance test: t and signed-rank give p-values, bayes-t and bayes-signed-rank probabilities"`
	Correction Correction `json:"correction,omitempty" setting:"correction" help:"correction of p-values for multiple comparisons within a table"`
	Overlap    Overlap    `json:"overlap,omitempty" setting:"overlap" help:"treatment of overlapping draws: corrected (valid for new samples and classes) or ignored (for this set only)"`
	// Rope is half the width of the region of practical equivalence, in percentage points for scores in percent, and
	// in hundredths of the unit for others. 0 means 1, and settings.None means 0.
	Rope float64 `json:"rope,omitempty" setting:"rope" default:"1" range:"[0,100]" help:"region of practical equivalence of the Bayesian tests, in points"`
}

// Width returns half the width of the region of practical equivalence, in the unit of the scores.
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

// Holm returns p-values with the Holm correction for multiple comparisons (Holm 1979): it controls the probability of any
// false positive, for any dependence. Comparisons with larger weights are corrected less; nil means equal weights. It
// panics if the lengths differ.
func Holm(p, weights []float64) []float64 {
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(p))
	}
	if len(weights) != len(p) {
		panic(fmt.Sprintf("significance: %d weights for %d p-values", len(weights), len(p)))
	}
	order := elementary.Order(len(p), func(a, b int) int { return cmp.Compare(p[a]/weights[a], p[b]/weights[b]) })
	left := make([]float64, len(p)+1) // suffix sums of the weights
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
