package simd

import "math"

// The divergence takes a logarithm of every value of the data in every
// iteration. logarithm is math.Log for normal x > 0 but for some 3e-16 plus an
// ulp, at a third of its cost: the logarithm of the power of 2, that of a
// number near the mantissa, from a table, and a short series for the rest. From
// 0 to the normal numbers it is about −709; the value that this is times is then
// 0 or of no account.
func logarithm(x float64) float64 {
	bits := math.Float64bits(x)
	t := &logTable[bits>>(52-logBits)&(1<<logBits-1)]
	mantissa := math.Float64frombits(bits&(1<<52-1) | 1023<<52) // in [1, 2)
	r := mantissa*t.inverse - 1                                 // |r| < 2⁻⁸
	series := r * (1 - r*(1.0/2-r*(1.0/3-r*(1.0/4-r*(1.0/5-r*(1.0/6))))))
	return float64(int(bits>>52)-1023)*math.Ln2 + (t.log + series)
}

const logBits = 7

// logTable holds, for the mantissas that begin with the same bits, the inverse
// of the one in their middle and minus the logarithm of that inverse.
var logTable = func() (table [1 << logBits]struct{ inverse, log float64 }) {
	for i := range table {
		middle := 1 + (float64(i)+0.5)/(1<<logBits)
		table[i].inverse = 1 / middle
		table[i].log = -math.Log(table[i].inverse)
	}
	return table
}()
