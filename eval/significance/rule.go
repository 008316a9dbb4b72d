package significance

import (
	"fmt"

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

// String returns the name that settings use.
func (t Test) String() string { return tests.String(t) }

// UnmarshalText reads the name that settings use.
func (t *Test) UnmarshalText(name []byte) error { return tests.UnmarshalText(t, name) }

// MarshalText returns the name that settings use.
func (t Test) MarshalText() ([]byte, error) { return tests.MarshalText(t) }

// Values returns the names of all tests.
func (Test) Values() []string { return tests.Values() }

// Bayesian reports whether it gives probabilities of differences instead of p-values.
func (t Test) Bayesian() bool { return t == ByBayesT || t == ByBayesSignedRank }

// Correction is a correction of p-values for the number of comparisons in a table.
type Correction int

const (
	ByHolm Correction = iota
	Uncorrected
)

var corrections = enum.Of[Correction]("correction", "holm", "none")

// String returns the name that settings use.
func (c Correction) String() string { return corrections.String(c) }

// UnmarshalText reads the name that settings use.
func (c *Correction) UnmarshalText(name []byte) error { return corrections.UnmarshalText(c, name) }

// MarshalText returns the name that settings use.
func (c Correction) MarshalText() ([]byte, error) { return corrections.MarshalText(c) }

// Values returns the names of all corrections.
func (Correction) Values() []string { return corrections.Values() }

// Overlap is the treatment of draws that overlap.
type Overlap int

const (
	// OverlapCorrected corrects for shared classes and samples, so that results hold for others too.
	OverlapCorrected Overlap = iota
	// OverlapIgnored assumes independent draws, as they are from this one set.
	OverlapIgnored
)

var overlaps = enum.Of[Overlap]("overlap", "corrected", "ignored")

// String returns the name that settings use.
func (o Overlap) String() string { return overlaps.String(o) }

// UnmarshalText reads the name that settings use.
func (o *Overlap) UnmarshalText(name []byte) error { return overlaps.UnmarshalText(o, name) }

// MarshalText returns the name that settings use.
func (o Overlap) MarshalText() ([]byte, error) { return overlaps.MarshalText(o) }

// Values returns the names of all.
func (Overlap) Values() []string { return overlaps.Values() }

// Rule is how a table tests differences. The zero value is the default.
type Rule struct {
	By         Test       `json:"by,omitempty" setting:"by,text" help:"the test: t and signed-rank give p-values, the two of Bayes probabilities"`
	Correction Correction `json:"correction,omitempty" setting:"correction" help:"how p-values are corrected for the comparisons of a table"`
	Overlap    Overlap    `json:"overlap,omitempty" setting:"overlap" help:"corrected tests for other classes and samples, ignored for draws from this set alone"`
	// Rope is half the width of the region of practical equivalence: in points of a score in percent, and
	// in hundredths of another's unit. 0 means 1, and settings.None is 0.
	Rope float64 `json:"rope,omitempty" setting:"rope" default:"1" range:"[0,100]" help:"the difference up to which the tests of Bayes take methods for equivalent, in points"`
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
		words += ", not corrected for how many comparisons there are"
	default:
		words += ", corrected by Holm"
	}
	if r.Overlap == OverlapIgnored {
		words += ", for draws from this set alone"
	}
	return words
}

const (
	Level = 0.05 // p-values below it are significant
	Sure  = 0.95 // the least probability of a Bayesian verdict
)
