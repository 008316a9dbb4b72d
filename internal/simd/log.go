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
	i := bits >> (52 - logBits) & (1<<logBits - 1)
	mantissa := math.Float64frombits(bits&(1<<52-1) | 1023<<52) // in [1, 2)
	r := mantissa*logTable.inverse[i] - 1                       // |r| < 1/32
	series := 1 - r*(1.0/2-r*(1.0/3-r*(1.0/4-r*(1.0/5-r*(1.0/6-r*(1.0/7-r*(1.0/8-r*(1.0/9-r*(1.0/10)))))))))
	return float64(int(bits>>52)-1023)*math.Ln2 + (logTable.log[i] + r*series)
}

// logBits is such that two registers of AVX-512 hold either half of the table, which are quicker to
// pick from than memory.
const logBits = 4

// logTable holds, for the mantissas that begin with the same bits, the inverse
// of the one in their middle and minus the logarithm of that inverse.
var logTable = func() (table struct{ inverse, log [1 << logBits]float64 }) {
	for i := range table.inverse {
		middle := 1 + (float64(i)+0.5)/(1<<logBits)
		table.inverse[i] = 1 / middle
		table.log[i] = -math.Log(table.inverse[i])
	}
	return table
}()
