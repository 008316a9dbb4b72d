// Package cluster puts samples into groups: k-means and its constrained,
// kernel and spectral forms.
//
// Samples are rows, so that x is n×m where the papers write the m×n matrix X
// with a sample per column. A cluster is a number from 0 to k−1, and what is
// known beforehand comes as links, pairs of rows that belong together (must)
// or apart (cannot).
//
//	papers            here
//	X (m×n)           x, n×m
//	k                 K
//	μ_j               row j of Result.Centres
//	K, A (n×n)        the kernel or similarity
//	M, Con_=          must, pairs of rows
//	C, Con_≠          cannot, pairs of rows
//	w_ij              SSKK.Weight
//
// The same seed gives the same answer: every restart has a random stream of
// its own. k-means on features moreover gives the same answer whichever BLAS is
// behind gonum, which only finds out what is near enough to be the nearest.
package cluster
