package factor

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// selfGram returns a·aᵀ, k×k.
func selfGram(a *mat.Dense) *mat.Dense {
	k, _ := a.Dims()
	out := mat.NewDense(k, k, nil)
	gemm(out, a, noTrans, a, trans)
	return out
}

// inner returns Σ a∘b.
func inner(a, b *mat.Dense) float64 {
	r, _ := a.Dims()
	var sum float64
	for i := range r {
		sum += dot(a.RawRowView(i), b.RawRowView(i))
	}
	return sum
}

// rowSums writes the sums of a's rows.
func rowSums(dst []float64, a *mat.Dense) {
	for r := range dst {
		var sum float64
		for _, x := range a.RawRowView(r) {
			sum += x
		}
		dst[r] = sum
	}
}

// like returns a matrix of zeros of a's shape.
func like(a *mat.Dense) *mat.Dense {
	r, c := a.Dims()
	return mat.NewDense(r, c, nil)
}

// scaleRow multiplies row r of a by s.
func scaleRow(a *mat.Dense, r int, s float64) {
	row := a.RawRowView(r)
	for i := range row {
		row[i] *= s
	}
}

const (
	noTrans = blas.NoTrans
	trans   = blas.Trans
)
