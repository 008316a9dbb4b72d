package eigen

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// Orthonormalise orthonormalises the rows of a by Gram-Schmidt; a must not have more rows than columns. A row that
// depends on earlier rows is replaced by a new direction.
func Orthonormalise(a *mat.Dense) {
	n, m := a.Dims()
	next := 0 // the next coordinate vector to try for a dependent row
	for i := range n {
		row := a.RawRowView(i)
		for before := elementary.Norm(row); ; before = 1 {
			for range 2 { // twice is enough for orthogonality to working precision
				for j := range i {
					floats.AddScaled(row, -elementary.Dot(row, a.RawRowView(j)), a.RawRowView(j))
				}
			}
			if length := elementary.Norm(row); length > float64(m)*4*eps*before {
				floats.Scale(1/length, row)
				break
			}
			clear(row)
			row[next%m] = 1
			next++
		}
	}
}
