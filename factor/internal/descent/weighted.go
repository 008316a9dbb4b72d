package descent

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// WeightedHalf minimises Σ w·d(x, y), with y the entries of thetaᵀ·other, over theta, one entry at a time. The cost d is
// (x − y)² or the divergence. Columns are independent problems.
type WeightedHalf struct {
	Theta, Other *mat.Dense // k×p, k×q
	X, Weights   *mat.Dense // p×q
	KL           bool
	Sweeps       int  // at most, for each column
	Fixed        int  // the number of first rows of Theta that stay as they are
	AnySign      bool // entries of Theta may be negative
}

// Sweep scales each column by the factor that minimises its cost, unless rows are fixed, and sweeps over its entries.
func (h *WeightedHalf) Sweep(ctx context.Context) error {
	k, p := h.Theta.Dims()
	_, q := h.Other.Dims()
	const columns = 16
	return parallel.Blocks(ctx, 0, p, columns, func(_, from, to int) {
		c := weightedColumn{fixed: h.Fixed, anySign: h.AnySign, z: make([]float64, k), at: make([]int, 0, q), scale: make([]float64, 0, q), x: make([]float64, q), rows: make([]float64, k*q)}
		for i := from; i < to; i++ {
			// With o and x scaled by w^(1/β), β the degree of the cost, the cost has no weights.
			c.at, c.scale = c.at[:0], c.scale[:0]
			for j, w := range h.Weights.RawRowView(i) {
				if w > 0 {
					if !h.KL {
						w = math.Sqrt(w)
					}
					c.at, c.scale = append(c.at, j), append(c.scale, w)
				}
			}
			c.x = c.x[:len(c.at)]
			c.read(c.x, h.X.RawRowView(i))
			for r := range c.z {
				c.z[r] = h.Theta.At(r, i)
				c.read(c.row(r), h.Other.RawRowView(r))
			}
			if h.KL {
				c.divergence(h.Sweeps)
			} else {
				c.squares(h.Sweeps)
			}
			for r, x := range c.z[h.Fixed:] {
				h.Theta.Set(h.Fixed+r, i, c.floored(x))
			}
		}
	})
}

// weightedColumn is the problem of one column z of theta: x ≈ Σ z_r·row(r).
type weightedColumn struct {
	z, x, scale, rows []float64
	fixed             int
	anySign           bool
	at                []int // the entries of x with a weight above 0
	x32, y32, u32     []float32
}

// floored returns x, or 0 below the floor unless x may be negative.
func (c *weightedColumn) floored(x float64) float64 {
	if c.anySign {
		return x
	}
	return algebra.FlooredProduct(x, 1)
}

func (c *weightedColumn) row(r int) []float64 { return c.rows[r*len(c.at):][:len(c.at)] }

func (c *weightedColumn) read(dst, from []float64) {
	for a, j := range c.at {
		dst[a] = from[j] * c.scale[a]
	}
}

// squares minimises the sum of squares and overwrites x.
func (c *weightedColumn) squares(sweeps int) {
	y, curvature := make([]float64, len(c.x)), make([]float64, len(c.z))
	for r, z := range c.z {
		algebra.Axpy(z, c.row(r), y)
		curvature[r] = max(algebra.Dot(c.row(r), c.row(r)), algebra.LeastDenominator)
	}
	if by := algebra.Dot(c.x, y) / algebra.Dot(y, y); by > 0 && algebra.FiniteNumber(by) && c.fixed == 0 {
		floats.Scale(by, c.z)
		floats.Scale(by, y)
	}
	floats.Sub(c.x, y)
	Sweeps(sweeps, func() (lowered float64) {
		for r := c.fixed; r < len(c.z); r++ {
			old := c.z[r]
			slope := algebra.Dot(c.row(r), c.x)
			if next := c.floored(old + slope/curvature[r]); next != old {
				c.z[r] = next
				algebra.Axpy(old-next, c.row(r), c.x)
				lowered += (next - old) * slope
			}
		}
		return lowered
	})
}

// divergence minimises the divergence as [KLHalf] does, in single precision.
func (c *weightedColumn) divergence(sweeps int) {
	n, k := len(c.x), len(c.z)
	size := lanes32(n)
	if len(c.x32) < size {
		c.x32, c.y32, c.u32 = make([]float32, size), make([]float32, size), make([]float32, size*k)
	}
	clear(c.u32)
	clear(c.x32)
	total, sums, z := max(algebra.Total(c.x), algebra.LeastDenominator), make([]float64, k), make([]float64, k)
	for a, x := range c.x {
		c.x32[a] = float32(x / total)
	}
	for r := range z {
		sums[r] = max(algebra.Total(c.row(r)), algebra.LeastDenominator)
		z[r] = c.z[r] * sums[r]
		for a, o := range c.row(r) {
			c.u32[r*size+a] = float32(o / sums[r])
		}
	}
	scale := total
	if c.fixed == 0 {
		scale = max(elementary.Sum(z), algebra.LeastDenominator)
	}
	floats.Scale(1/scale, z)
	z32 := make([]float32, k)
	for range sweeps {
		for r, x := range z {
			z32[r] = float32(x)
		}
		blas.Multiply(algebra.NoTrans, algebra.NoTrans, 1, blas.Of[float32]{Rows: 1, Cols: k, Stride: k, Data: z32},
			blas.Of[float32]{Rows: k, Cols: size, Stride: size, Data: c.u32}, 0, blas.Of[float32]{Rows: 1, Cols: size, Stride: size, Data: c.y32})
		if c.fixed < k {
			simd.Descend(z[c.fixed:], c.y32[:size], c.x32[:size], c.u32[c.fixed*size:], size, KLFloor)
		}
	}
	for r, sum := range sums {
		if sum > algebra.LeastDenominator {
			c.z[r] = z[r] * total / sum
		}
	}
}
