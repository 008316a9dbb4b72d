package cluster

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// Stability is the agreement of several clusterings of the same samples, such as restarts of a factorisation. The
// consensus of two samples is the fraction of the clusterings in which they share a cluster.
type Stability struct {
	// Cophenetic is the correlation of 1 − consensus with the heights at which average linkage joins the samples
	// (Brunet, Tamayo, Golub and Mesirov 2004). It is 1 if all pairs have the same consensus.
	Cophenetic float64
	// Dispersion is the mean of 4(consensus − ½)² over all pairs, including each sample with itself (Kim and Park 2007).
	Dispersion float64
	Runs       int // the number of clusterings
}

// Consensus returns k consensus clusters of n samples, by average linkage of 1 − consensus, and the stability of the
// clusterings. runs[r][i] is the cluster of sample i in clustering r; a negative one belongs to no cluster.
func Consensus(runs [][]int, k int) ([]int, *Stability) {
	n := len(runs[0])
	// Distances count clusterings, so that equal means are equal numbers.
	apart, squares := make([]float64, n*n), make([]float64, n)
	parallel.DoWork(n*n*len(runs), n, func(i int) {
		row := apart[i*n : (i+1)*n]
		for _, of := range runs {
			for j, c := range of {
				if j != i && (c != of[i] || c < 0) {
					row[j]++
				}
			}
		}
		for _, d := range row {
			squares[i] += d * d
		}
	})
	merges := averageLinkage(apart, n)
	var sum, square, heights float64 // over pairs
	for i := range n {
		square += squares[i] / 2
	}
	for _, m := range merges {
		sum, heights = sum+m.sum, heights+m.sum*m.height
	}
	all, size, pairs := float64(len(runs)), float64(n), float64(n)*float64(n-1)/2
	s := &Stability{Cophenetic: 1, Dispersion: (8*(square-all*sum)/(all*all) + size*size) / (size * size), Runs: len(runs)}
	// Heights and distances have the same mean, and their covariance is the variance of the heights.
	if total := square - sum*sum/pairs; total > 0 {
		s.Cophenetic = math.Sqrt(min(max(heights-sum*sum/pairs, 0)/total, 1))
	}
	slices.SortStableFunc(merges, func(a, b merge) int { return cmp.Compare(a.height, b.height) })
	first := matrix.Range(n) // the smallest sample of each sample's cluster
	for _, m := range merges[:n-min(k, n)] {
		from, to := max(first[m.a], first[m.b]), min(first[m.a], first[m.b])
		for i, f := range first {
			if f == from {
				first[i] = to
			}
		}
	}
	labels, found := make([]int, n), 0
	for i, f := range first {
		if labels[i] = labels[f]; f == i {
			labels[i], found = found, found+1
		}
	}
	return labels, s
}

// MeanConsensus returns the mean consensus of the pairs in each cluster of labels, or 1 for a single sample (Monti,
// Tamayo, Mesirov and Golub 2003).
func MeanConsensus(runs [][]int, labels []int) []float64 {
	k := slices.Max(labels) + 1
	sizes, together := make([]float64, k), make([]float64, k)
	for _, g := range labels {
		if g >= 0 {
			sizes[g]++
		}
	}
	for _, of := range runs {
		shared := map[[2]int]float64{} // samples so far of a cluster in both clusterings
		for i, g := range labels {
			if g >= 0 && of[i] >= 0 {
				both := [2]int{g, of[i]}
				together[g] += shared[both]
				shared[both]++
			}
		}
	}
	for g, n := range sizes {
		if together[g] /= float64(len(runs)) * n * (n - 1) / 2; n < 2 {
			together[g] = 1
		}
	}
	return together
}

// ConsensusMemory estimates the bytes that Consensus allocates for n samples.
func ConsensusMemory(n int) int64 { return 8*int64(n)*int64(n) + 200*int64(n) }

// merge joins the clusters of the samples a and b. sum is the sum of the distances between them, and height the mean.
type merge struct {
	a, b        int
	sum, height float64
}

// averageLinkage returns the n−1 merges of average linkage by chains of nearest neighbours (Murtagh 1983). It
// overwrites the distances, n×n.
func averageLinkage(d []float64, n int) (merges []merge) {
	size := slices.Repeat([]float64{1}, n) // 0 for a merged cluster
	var chain []int
	for len(merges) < n-1 {
		if len(chain) == 0 {
			chain = append(chain, slices.IndexFunc(size, func(s float64) bool { return s > 0 }))
		}
		a := chain[len(chain)-1]
		b, height := -1, math.Inf(1)
		if len(chain) > 1 { // among equal neighbours, the previous one ends the chain
			b = chain[len(chain)-2]
			height = d[a*n+b] / (size[a] * size[b])
		}
		previous := b
		for j, s := range size {
			if h := d[a*n+j] / (size[a] * s); s > 0 && j != a && h < height {
				b, height = j, h
			}
		}
		if b != previous {
			chain = append(chain, b)
			continue
		}
		chain = chain[:len(chain)-2]
		a, b = min(a, b), max(a, b)
		merges = append(merges, merge{a, b, d[a*n+b], height})
		for j := range n {
			d[b*n+j] += d[a*n+j]
			d[j*n+b] = d[b*n+j]
		}
		size[b], size[a] = size[a]+size[b], 0
	}
	return merges
}
