package simd

// Width returns the padded length, a multiple of 4, of rows of k numbers for [Dots] and [AddRows].
func Width(k int) int { return (k + 3) &^ 3 }

// Dots writes the inner products of a with the rows at[0], at[1], … of rows to dst. Their length is a [Width].
func Dots(dst, a, rows []float64, at []int) {
	dst = dst[:len(at)]
	if len(a) == 0 {
		clear(dst)
		return
	}
	if dots(dst, a, rows, at) {
		return
	}
	rows = rows[:cap(rows)] // the padding of the last row may exceed the length of rows
	for p, i := range at {
		var s [4]float64
		row := rows[i*len(a):][:len(a)]
		for c := 0; c < len(a); c += 4 {
			for l := range s {
				s[l] = fma(a[c+l], row[c+l], s[l])
			}
		}
		dst[p] = (s[0] + s[1]) + (s[2] + s[3])
	}
}

// AddRows adds the rows at[0], … of rows, which have the length of dst, times their weights to dst, four rows at a time.
// It is slow if that length is not a [Width].
func AddRows(dst, weights, rows []float64, at []int) {
	weights = weights[:len(at)]
	if len(dst) == 0 || addRows(dst, weights, rows, at) {
		return
	}
	rows = rows[:cap(rows)]
	for p := 0; p < len(at); p += 4 {
		four := weightedIndices(at[p:], weights[p:])
		var row [4][]float64
		for i, at := range four.at {
			row[i] = rows[at*len(dst):][:len(dst)] // includes the padding of the last row
		}
		for c := range dst {
			sum := float64(four.x[0] * row[0][c])
			for i := 1; i < 4; i++ {
				sum = fma(four.x[i], row[i][c], sum)
			}
			dst[c] += sum
		}
	}
}

// SymmetricRows adds to y the part of four rows of a symmetric matrix a in the product a·x, and the part of these columns.
// rows holds the four rows from the diagonal on. x and y begin at the same place; their length is a multiple of 4.
func SymmetricRows(y, x, rows []float64, stride int) {
	y, _ = y[:len(x)], rows[3*stride+len(x)-1]
	if symmetricRows(y, x, rows, stride) {
		return
	}
	var sums [4][4]float64
	for c := range y {
		for r := range sums {
			v := rows[r*stride+c]
			if y[c] = fma(v, x[r], y[c]); c >= 4 {
				sums[r][c%4] = fma(v, x[c], sums[r][c%4])
			}
		}
	}
	for r, s := range sums {
		y[r] += (s[0] + s[1]) + (s[2] + s[3])
	}
}

// indexedWeights holds up to four indices with their weights. Missing ones repeat the last index with weight 0.
type indexedWeights struct {
	at [4]int
	x  [4]float64
}

func weightedIndices(at []int, x []float64) (f indexedWeights) {
	for p := range f.at {
		f.at[p] = at[min(p, len(at)-1)]
	}
	copy(f.x[:], x)
	return f
}
