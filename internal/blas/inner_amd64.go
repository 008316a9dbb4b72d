//go:build !native

package blas

import (
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Rows of so many numbers are worth the sums of what registers hold at their ends, and four of them stay in the
// nearest cache.
const leastInnerDepth, mostInnerDepth = 256, 1024

// innerProducts computes c = a·bᵀ for a few rows of a, number by number, as inner products of rows of both
// where they lie. All of a is multiplied by a few rows of b, tile by tile, each of which asks for its share
// of the next ones.
func innerProducts(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	var sums [simd.InnerRows * simd.InnerRows]float32
	share := k * simd.InnerRows / parallel.Count(m, simd.InnerRows)
	for j := 0; j < n; j += simd.InnerRows {
		columns := min(simd.InnerRows, n-j)
		next, from := j+simd.InnerRows, 0
		for i := 0; i < m; i += simd.InnerRows {
			rows := min(simd.InnerRows, m-i)
			var ahead []float32
			if next < n {
				ahead = b[next*ldb+from:]
			}
			simd.InnerProducts(&sums, a[i*lda:], rows, lda, b[j*ldb:], columns, ldb, k, ahead)
			for r := range rows {
				copy(c[(i+r)*ldc+j:][:columns], sums[r*simd.InnerRows:])
			}
			for from += share; from >= k; from -= k {
				next++
			}
		}
	}
}
