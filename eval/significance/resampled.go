package significance

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// Draws describes the overlap of an experiment's draws from one data set.
type Draws struct {
	Classes []int // numbers of classes of the draws; with several numbers a score is the mean over them
	Of      int   // number of classes of the data set
	// Learned and Scored are the numbers of training and test samples of a classification, 0 if not drawn.
	Learned, Scored int
}

// Ratio returns the correction of the variance of a mean difference over draws: ρ/(1−ρ), where ρ is the correlation
// between the differences of two draws due to shared classes or samples.
//
// Two draws of k of C classes share k²/C classes on average. In the worst case a difference depends only on the classes,
// so that ρ = k/C and the ratio is k/(C−k). For the mean over K numbers of classes, ρ = K²/(K²−K+Σ C/k) and the ratio is
// K²/Σ(C/k−1). If a classification draws all classes, ρ is the fraction of test samples and the ratio is scored/learned
// (Nadeau and Bengio 2003). A clustering of all classes has the same samples each time, and independent labels, links and
// starts, so the ratio is 0.
func (d Draws) Ratio() float64 {
	var sum float64
	for _, k := range d.Classes {
		sum += max(0, float64(d.Of)/float64(k)-1)
	}
	switch n := float64(len(d.Classes)); {
	case sum > 0:
		return n * n / sum
	case d.Learned > 0:
		return float64(d.Scored) / float64(d.Learned)
	}
	return 0
}

// Beyond returns the name of the population that a test over the draws generalises to.
func (d Draws) Beyond() string {
	switch {
	case slices.ContainsFunc(d.Classes, func(k int) bool { return k < d.Of }):
		return "classes like these"
	case d.Ratio() > 0:
		return "samples like these"
	}
	return "these samples"
}

// Resampled is the corrected resampled t-test: the t distribution, with n − 1 degrees of freedom, of the mean of n paired
// differences over overlapping draws (Nadeau and Bengio 2003), which is also the mean's posterior (Corani and Benavoli
// 2015).
type Resampled struct {
	N        int     // the number n of differences
	Mean, SD float64 // mean and standard deviation of the differences
	Ratio    float64 // the correction for overlap; see NewResampled

	differences []float64
	constant    bool
	freedom     float64 // degrees of freedom
	share       float64 // variance of the mean without overlap, relative to SD²
}

// NewResampled returns the test of the differences a[i] − b[i] of n draws. The variance of their mean is
// SD²·(1/n + ratio). The ratio is ρ/(1−ρ) for a correlation ρ between draws: 0 for independent draws, else
// [Draws.Ratio]. It panics if the lengths differ or the ratio is not ≥ 0.
func NewResampled(a, b []float64, ratio float64) Resampled {
	if !(ratio >= 0) {
		panic(fmt.Sprintf("significance: the ratio is %v; expected 0 or more", ratio))
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

// Stratified returns the test of the mean over K kinds of differences whose draws are independent between kinds. The
// variance for one draw of each kind is Σ SD²/K², with Satterthwaite's degrees of freedom. N is the smallest number of
// differences of a kind; ratio is the correction for draws of all kinds together. It panics if kinds is empty.
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

func (r Resampled) scale() float64 { return r.SD * math.Sqrt(r.share+r.Ratio) }

// P returns the two-sided p-value of the hypothesis that the mean difference is 0. It is 1 for fewer than two
// differences, a mean of 0 or an infinite ratio. If all n differences are equal, it is the sign test's 2/2ⁿ.
func (r Resampled) P() float64 {
	switch {
	case r.N < 2 || r.Mean == 0 || math.IsInf(r.Ratio, 1):
		return 1
	case r.constant:
		return math.Exp2(float64(1 - r.N))
	}
	return min(1, 2*studentCDF(-math.Abs(r.Mean)/r.scale(), r.freedom))
}

// Interval returns the confidence interval of the mean at a level such as 0.95. ok is false if the variance is unknown.
func (r Resampled) Interval(level float64) (low, high float64, ok bool) {
	if r.N < 2 || r.constant || math.IsInf(r.Ratio, 1) {
		return 0, 0, false
	}
	reach := r.scale() * studentQuantile((1+level)/2, r.freedom)
	return r.Mean - reach, r.Mean + reach, true
}

// Probabilities are the probabilities of a difference below −rope, within ±rope, the region of practical equivalence,
// and above rope. They sum to 1.
type Probabilities struct{ Below, Within, Above float64 }

// Beyond returns the posterior probabilities of the mean difference, by the Bayesian correlated t-test (Corani and
// Benavoli 2015). If the variance is unknown, it returns the result of [BayesSignedRank]; for an infinite ratio it
// returns ½, 0 and ½.
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

// Standardised returns the effect size d_z: the mean difference divided by the standard deviation of the differences. It
// is 0 if all differences are 0. ok is false if they are equal and not 0, or fewer than two.
func (r Resampled) Standardised() (d float64, ok bool) {
	switch {
	case r.N >= 2 && !r.constant:
		return r.Mean / r.SD, true
	case r.N >= 2 && r.Mean == 0:
		return 0, true
	}
	return 0, false
}

// studentCDF returns the cumulative distribution function of Student's t distribution.
func studentCDF(t, freedom float64) float64 {
	tail := elementary.Beta(freedom/2, 0.5, freedom/(freedom+float64(t*t))) / 2
	if t > 0 {
		return 1 - tail
	}
	return tail
}

// studentQuantile returns the quantile of p > ½, by bisection of studentCDF.
func studentQuantile(p, freedom float64) float64 {
	low, high := 0.0, 1.0
	for studentCDF(high, freedom) < p && high < 1e300 {
		low, high = high, 2*high
	}
	for {
		middle := low + (high-low)/2
		switch {
		case middle <= low || middle >= high:
			return high
		case studentCDF(middle, freedom) < p:
			low = middle
		default:
			high = middle
		}
	}
}

// beyondF returns the probability of a value ≥ f under the F distribution.
func beyondF(f, freedom1, freedom2 float64) float64 {
	return elementary.Beta(freedom2/2, freedom1/2, freedom2/(freedom2+float64(freedom1*f)))
}
