package cluster

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/memory"
)

// SSKK is semi-supervised kernel k-means (Kulis, Basu, Dhillon and Mooney
// 2009): kernel k-means on a kernel that rewards must-links and punishes
// cannot-links. Links pull, they need not hold in the answer. The fields of
// KernelKMeans mean what they mean there.
type SSKK struct {
	KernelKMeans
	// Weight is what a link adds to the kernel or takes from it; 0 means
	// n/(K·links).
	Weight float64
}

// Cluster implements [Clusterer]: the similarity is the inner products of the rows.
func (s SSKK) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	products, err := innerProducts(ctx, x, 3)
	if err != nil {
		return nil, err
	}
	s.K, s.Seed = clusters, seed
	return s.Fit(ctx, products, known)
}

// Memory returns about how many bytes Cluster takes.
func (SSKK) Memory(s Size) float64 { return memoryOfSquares(s, 5, 24) }

// Kernel returns the n×n kernel K + W + σI: W is Weight for every must-link
// and −Weight for every cannot-link, and σ is the least that makes the sum
// positive semi-definite. Each two labelled samples are a link. A link that is given
// twice counts once. A pair that both must and cannot link is an error. The
// eigenvalue that gives σ takes O(n³) time and 8n² bytes beside the kernel; it returns
// when ctx ends.
func (s SSKK) Kernel(ctx context.Context, similarity mat.Matrix, known Known) (*mat.SymDense, error) {
	sym, err := readSymmetric(similarity)
	if err != nil {
		return nil, fmt.Errorf("ss-kk: %w", err)
	}
	n := sym.SymmetricDim()
	must, cannot, err := known.BeyondLabels(n)
	if err != nil {
		return nil, fmt.Errorf("ss-kk: %w", err)
	}
	if err := s.check(n); err != nil {
		return nil, fmt.Errorf("ss-kk: %w", err)
	}
	if !(s.Weight >= 0) || math.IsInf(s.Weight, 0) {
		return nil, fmt.Errorf("ss-kk: links of weight %v", s.Weight)
	}
	if err := memory.FromContext(ctx).Check(8*int64(n)*int64(n)+int64(eigen.Memory(n, 1)), fmt.Sprintf("ss-kk: the least eigenvalue of the kernel of %d samples", n)); err != nil {
		return nil, err
	}
	kernel := mat.NewSymDense(n, nil)
	kernel.CopySym(sym)
	labelled := 0
	for _, c := range known.Labels {
		if c >= 0 {
			labelled++
		}
	}
	if links := len(must) + len(cannot) + labelled*(labelled-1)/2; links > 0 {
		weight := s.Weight
		if weight == 0 {
			weight = float64(n) / float64(s.K*links)
		}
		eachLink(known, must, cannot, func(i, j int, must bool) {
			if must {
				kernel.SetSym(i, j, kernel.At(i, j)+weight)
			} else {
				kernel.SetSym(i, j, kernel.At(i, j)-weight)
			}
		})
	}
	least, err := eigen.Least(ctx, kernel)
	if err != nil {
		return nil, fmt.Errorf("ss-kk: the least eigenvalue of the kernel: %w", err)
	}
	if least < 0 {
		for i := range n {
			kernel.SetSym(i, i, kernel.At(i, i)-least)
		}
	}
	return kernel, nil
}

// Fit clusters n samples by their n×n similarity, such as XXᵀ for rows of
// length 1, with links and labels.
func (s SSKK) Fit(ctx context.Context, similarity mat.Matrix, known Known) (*Result, error) {
	kernel, err := s.Kernel(ctx, similarity, known)
	if err != nil {
		return nil, err
	}
	return s.KernelKMeans.Fit(ctx, kernel)
}
