package significance

import (
	"fmt"
	"math"

	"github.com/seed4492f2cd/partwise/eval"
)

// Resampled is what n paired differences over draws that overlap tell of the mean difference:
// a t distribution with n − 1 degrees of freedom (Nadeau and Bengio 2003). It is the
// posterior of the mean as well (Corani and Benavoli 2015).
type Resampled struct {
	// N is the number of differences, and Mean and SD are theirs.
	N        int
	Mean, SD float64
	// Ratio is by how much draws overlap, as NewResampled takes it.
	Ratio float64

	differences []float64
	constant    bool
	freedom     float64 // degrees of freedom
	share       float64 // of SD² in the variance of the mean, without the overlap
}

// NewResampled takes the differences a[i] − b[i] of the scores of n draws. The variance of
// their mean is taken for SD²·(1/n + ratio), where a ratio of ρ/(1−ρ) makes up for a
// correlation ρ between draws: 0 where these are independent, [Draws.Ratio] where they overlap. It
// panics if the lengths differ and if the ratio is not 0 or more.
func NewResampled(a, b []float64, ratio float64) Resampled {
	if !(ratio >= 0) {
		panic(fmt.Sprintf("significance: the ratio %v is not 0 or more", ratio))
	}
	d := differences(a, b)
	r := Resampled{N: len(d), Ratio: ratio, differences: d, freedom: float64(len(d) - 1), share: 1 / float64(max(len(d), 1))}
	r.Mean, r.SD = eval.MeanSD(d)
	size := 0.0
	for i := range a {
		size = max(size, math.Abs(a[i]), math.Abs(b[i]))
	}
	if r.constant = r.SD <= rounding*size; r.constant {
		r.SD = 0
	}
	return r
}

// Stratified is what differences of several kinds, each over draws of its own that are
// independent of the others', tell of the mean of their means: that of one draw of each kind has
// a variance of Σ SD²/K² for K kinds, and the degrees of freedom are Satterthwaite's. N is the
// least number of differences of a kind, and the ratio is that of draws of all kinds together. It
// panics without any kinds.
func Stratified(kinds []Resampled, ratio float64) Resampled {
	out := Resampled{N: kinds[0].N, Ratio: ratio, constant: true}
	k := float64(len(kinds))
	var all, sum, squares float64
	for _, r := range kinds {
		out.N, out.constant = min(out.N, r.N), out.constant && r.constant
		out.Mean += r.Mean / k
		v := r.SD * r.SD / (k * k)
		all += v
		sum += v * r.share
		if r.N > 1 {
			squares += v * (r.share + ratio) * v * (r.share + ratio) / float64(r.N-1)
		}
	}
	if out.SD = math.Sqrt(all); all > 0 {
		whole := sum + ratio*all
		out.share, out.freedom = sum/all, whole*whole/squares
	}
	for i := range out.N {
		d := 0.0
		for _, r := range kinds {
			d += r.differences[i] / k
		}
		out.differences = append(out.differences, d)
	}
	return out
}

// scale is the standard error of the mean.
func (r Resampled) scale() float64 { return r.SD * math.Sqrt(r.share+r.Ratio) }

// P is the two-sided p-value of a mean difference of 0. It is 1 with fewer than two
// differences, with a mean of 0, and with a ratio beyond all bounds. Where all n differences
// are the same they say nothing of their spread, and p is that of the signs, 2/2ⁿ.
func (r Resampled) P() float64 {
	switch {
	case r.N < 2 || r.Mean == 0 || math.IsInf(r.Ratio, 1):
		return 1
	case r.constant:
		return math.Exp2(float64(1 - r.N))
	}
	return min(1, 2*studentCDF(-math.Abs(r.Mean)/r.scale(), r.freedom))
}

// Interval is the confidence interval of the mean difference at a level such as 0.95. It is
// not ok where the differences do not tell their spread.
func (r Resampled) Interval(level float64) (low, high float64, ok bool) {
	if r.N < 2 || r.constant || math.IsInf(r.Ratio, 1) {
		return 0, 0, false
	}
	reach := r.scale() * studentQuantile((1+level)/2, r.freedom)
	return r.Mean - reach, r.Mean + reach, true
}

// Probabilities are those of a difference below −rope, within ±rope and above rope, where the
// region of practical equivalence, rope, holds what does not matter. They add up to 1.
type Probabilities struct{ Below, Within, Above float64 }

// Beyond returns the posterior probabilities of the mean difference (the correlated t-test of
// Corani and Benavoli 2015). Where the differences do not tell their spread they are those of
// BayesSignedRank, which needs none; where the ratio is beyond all bounds nothing is known, and
// each half of the line has the same, with nothing within.
func (r Resampled) Beyond(rope float64) Probabilities {
	switch {
	case math.IsInf(r.Ratio, 1):
		return Probabilities{0.5, 0, 0.5}
	case r.N < 2 || r.constant:
		return BayesSignedRank(r.differences, make([]float64, r.N), rope, 0)
	}
	scale := r.scale()
	below, above := studentCDF((-rope-r.Mean)/scale, r.freedom), studentCDF((r.Mean-rope)/scale, r.freedom)
	return Probabilities{below, max(0, 1-below-above), above}
}
