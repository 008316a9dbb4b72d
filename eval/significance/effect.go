package significance

// Standardised is the mean difference in standard deviations of the differences, d_z. It is 0
// where all differences are 0, and not ok where they are all the same otherwise, or fewer
// than two.
func (r Resampled) Standardised() (d float64, ok bool) {
	switch {
	case r.N >= 2 && !r.constant:
		return r.Mean / r.SD, true
	case r.N >= 2 && r.Mean == 0:
		return 0, true
	}
	return 0, false
}

// RankBiserial is the share of the ranks of the differences a[i] − b[i] that speaks for a less
// that which speaks for b (Kerby 2014), from −1 to 1; ranks are those of Wilcoxon. Without any
// difference it is 0.
func RankBiserial(a, b []float64) float64 {
	ranks, positive := signedRanks(a, b)
	var balance, total int
	for i, r := range ranks {
		total += r
		if positive[i] {
			balance += r
		} else {
			balance -= r
		}
	}
	if total == 0 {
		return 0
	}
	return float64(balance) / float64(total)
}
