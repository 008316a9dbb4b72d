package eigen

// The loops over vectors round every product before it is added, so that no compiler fuses both.

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}

// add adds y to x.
func add(x, y []float64) {
	for i, v := range y[:len(x)] {
		x[i] += v
	}
}

// addScaled adds by·y to x.
func addScaled(x []float64, by float64, y []float64) {
	for i, v := range y[:len(x)] {
		x[i] += float64(by * v)
	}
}

// rotate replaces x and y by c·x + s·y and c·y − s·x.
func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for i, v := range x {
		w := y[i]
		x[i], y[i] = float64(c*v)+float64(s*w), float64(c*w)-float64(s*v)
	}
}
